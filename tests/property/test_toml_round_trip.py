"""For any TOML file, removing a value that was set in a table restores the bytes.

KEEPMUM_TEST_FULL=1 tries five thousand of them.
"""

from __future__ import annotations

import os
import tomllib

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from keepmum_installers.errors import UneditableFile
from keepmum_installers.formats import of

TOML = of("config.toml")

BLANKS = st.sampled_from(["", " ", "\t", "  "])
ENDS = st.sampled_from(["", '  # a [comment] = "here"', "\t#"])
NAMES = st.sampled_from(["memory", '"my server"', "'x.y'", "a-b_1", '"\\u00e9"'])
VALUES = st.sampled_from([
    '"npx"', "'C:\\tools'", '"""two\nlines # no comment"""', "'''it's'''", "[]", '["-y", "memory"]',
    '[\n  "-y", # first\n  "m]",\n]', "{ a = 1, b = '}' }", "1979-05-27", "nan", "+1.5e3", "true", '"\\"#="',
])  # fmt: skip
KEYS = st.sampled_from(["args", "env.A", '"odd key"', "x", "enabled"])
LINES = st.builds("{}{} = {}{}".format, BLANKS, KEYS, VALUES, ENDS)
NOISE = st.sampled_from(["", "# [mcp_servers.memory]", "   ", '# command = "x"'])
TABLES = st.sampled_from(["[tui]", "[[hooks]]", "[ other . 'one' ] # x", "[mcp_servers.other]"])


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """A file with one server, and the server's name."""
    name = draw(NAMES)
    lines = draw(st.lists(LINES | NOISE, max_size=3))
    for _ in range(draw(st.integers(0, 2))):
        lines += [draw(TABLES), *draw(st.lists(LINES | NOISE, max_size=3))]
    command = f'{draw(BLANKS)}command{draw(BLANKS)}={draw(BLANKS)}"npx"{draw(ENDS)}'
    lines += [f"[mcp_servers.{name}]", *draw(st.lists(NOISE, max_size=2)), command]
    lines += draw(st.lists(LINES | NOISE, max_size=3))
    if draw(st.booleans()):
        lines += ["[[hooks]]", *draw(st.lists(LINES, max_size=2))]
    text = draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + text, tomllib.loads(f"[{name}]").popitem()[0]


@settings(max_examples=5_000 if os.environ.get("KEEPMUM_TEST_FULL") else 200, deadline=None)
@given(texts(), st.lists(st.text(max_size=6), max_size=3))
def test_stripping_a_set_value_restores_the_bytes(given_text: tuple[str, str], args: list[str]) -> None:
    text, name = given_text
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        assume(False)  # noqa: FBT003 - hypothesis has it so
    after, first = TOML.merge(text, ("mcp_servers", name, "command"), "guard")
    try:
        after, second = TOML.merge(after, ("mcp_servers", name, "args"), args)
    except UneditableFile:
        assume(False)  # noqa: FBT003 - `args` is no value there but a table
    said = tomllib.loads(after.removeprefix("\ufeff"))["mcp_servers"][name]
    assert (said["command"], said["args"]) == ("guard", args)
    assert TOML.strip(TOML.strip(after, second), first) == text
