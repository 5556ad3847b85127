"""For any repository, uninstalling restores the tree before installing."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import settings as chosen
from hypothesis import strategies as st

from json_texts import documents
from keepmum_installers import install, uninstall
from keepmum_installers.console import Console
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.product import Product

PRODUCT = Product("keepmum", "1.0.0", "", "MIT", "", "https://github.com/keepmum/keepmum", "", ())
OPTIONS = install.Options(scope="project", source="team/keepmum")


def _tree(folder: Path) -> list[tuple[str, bytes]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted((str(path.relative_to(folder)), path.read_bytes()) for path in files)


@chosen(deadline=None)  # the machine may be busy
@given(st.one_of(st.none(), documents().map(str.encode), st.binary(max_size=40)))
def test_uninstalling_restores_the_repository(settings: bytes | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top, home = Path(folder, "work"), Path(folder, "home")
        (top / ".git").mkdir(parents=True)
        home.mkdir()
        if settings is not None:
            (top / ".claude").mkdir()
            (top / ".claude" / "settings.json").write_bytes(settings)
        before = sorted(top.rglob("*")), _tree(top)
        machine = Machine(
            str(home), str(home / ".keepmum"), str(top), str(home / ".config"), {"PATH": ""}, lambda *_: Outcome(127)
        )
        console = Console(io.StringIO(), io.StringIO())
        refused = install.install(OPTIONS, PRODUCT, None, machine, console) == 1
        if refused:  # that file is as it was; the other clients have theirs
            assert (top / ".claude" / "settings.json").read_bytes() == settings
        assert (top / ".cursor" / "mcp.json").exists()
        assert uninstall.uninstall(uninstall.Options(), machine, console) == 0
        assert (sorted(top.rglob("*")), _tree(top)) == before
        assert list(home.iterdir()) == []
