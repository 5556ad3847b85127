"""Whatever a repository holds: installing and removing leaves its tree as it was."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import settings as chosen
from hypothesis import strategies as st

from json_texts import documents
from keepmum_installers import install, uninstall
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.product import Product
from keepmum_installers.voice import Voice

PRODUCT = Product("keepmum", "1.0.0", "", "MIT", "", "https://github.com/keepmum/keepmum", "", ())
OPTIONS = install.Options(scope="project", source="team/keepmum")


def _tree(folder: Path) -> list[tuple[str, bytes]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted((str(path.relative_to(folder)), path.read_bytes()) for path in files)


@chosen(deadline=None)  # the machine may be busy; the claim is about bytes
@given(st.one_of(st.none(), documents().map(str.encode), st.binary(max_size=40)))
def test_repository_is_as_it_was(settings: bytes | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top, home = Path(folder, "work"), Path(folder, "home")
        (top / ".git").mkdir(parents=True)
        home.mkdir()
        if settings is not None:
            (top / ".claude").mkdir()
            (top / ".claude" / "settings.json").write_bytes(settings)
        before = sorted(top.rglob("*")), _tree(top)
        machine = Machine(str(home), str(home / ".keepmum"), str(top), {"PATH": ""}, run=lambda *_: Outcome(127))
        voice = Voice(io.StringIO(), io.StringIO())
        refused = install.install(OPTIONS, PRODUCT, None, machine, voice) == 1
        assert refused is (before == (sorted(top.rglob("*")), _tree(top)))
        assert uninstall.uninstall(uninstall.Options(), machine, voice) == 0
        assert (sorted(top.rglob("*")), _tree(top)) == before
        assert list(home.iterdir()) == []
