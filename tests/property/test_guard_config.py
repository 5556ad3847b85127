"""Removing the guard restores a client's settings file byte for byte."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from json_texts import documents
from keepmum_installers import guarding
from keepmum_installers.console import Console
from keepmum_installers.errors import UneditableFile
from keepmum_installers.guarding import Target
from keepmum_installers.json_edit import merge
from keepmum_installers.machine import Machine

WORDS = st.text(max_size=8)
VARIABLES = st.dictionaries(WORDS, WORDS, max_size=2)
ENTRIES = st.fixed_dictionaries(
    {"command": st.sampled_from(["npx", "/usr/bin/node", "ö"])},
    optional={"type": st.just("stdio"), "args": st.lists(WORDS, max_size=3), "env": VARIABLES, "extra": WORDS},
) | st.fixed_dictionaries(
    {"type": st.just("http"), "url": st.just("https://memory.example/mcp")},
    optional={"headers": VARIABLES, "env": VARIABLES},
)


@settings(deadline=None)
@given(documents(), st.lists(ENTRIES, min_size=1, max_size=3), st.randoms())
def test_removing_the_guard_restores_the_bytes(text: str, entries: list[dict[str, object]], order: Random) -> None:
    names = [f"server {number}" for number in range(len(entries))]
    for name, entry in zip(names, entries, strict=True):
        try:
            text, _ = merge(text, ("mcpServers", name), entry)
        except UneditableFile:
            assume(False)  # noqa: FBT003 - the API of Hypothesis
    with tempfile.TemporaryDirectory() as home:
        machine = Machine(home, str(Path(home) / "keepmum"), home, home, {"PATH": ""})
        path = Path(home) / ".claude.json"
        path.write_bytes(text.encode())
        before = path.read_bytes()
        for action in (guarding.add, guarding.remove):
            order.shuffle(names)
            for name in names:
                assert action(Target("claude-code", name), machine, Console()) == 0
        assert path.read_bytes() == before
