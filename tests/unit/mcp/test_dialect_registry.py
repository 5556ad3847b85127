"""The registry of dialects: names, sizes, and which modules a served dialect imports."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path

import pytest

from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.surface import Context
from keepmum.workspace.settings import SETTINGS
from keepmum_hooks import places


def test_settings_accept_exactly_the_registered_dialects() -> None:
    assert SETTINGS["dialect"].choices == tuple(DIALECTS)


@pytest.mark.parametrize("name", tuple(DIALECTS))
def test_tool_names_and_aliases_are_unique(name: str) -> None:
    surface = DIALECTS[name][0]
    names = [tool.name for tool in surface.tools]
    assert len({*names, *surface.aliases}) == len(names) + len(surface.aliases)
    assert set(surface.aliases.values()) <= set(names)


@pytest.mark.parametrize("name", tuple(DIALECTS))
def test_tool_list_stays_within_its_size_budget(name: str) -> None:
    offered = [tool.to_wire() for tool in DIALECTS[name][0].tools]
    assert len(json.dumps(offered, separators=(",", ":"))) <= 8500  # bytes that the model of every session reads


@pytest.mark.parametrize("name", tuple(DIALECTS))
def test_served_dialect_imports_no_other_dialect_and_no_handlers(root: Path, bare_python: list[str], name: str) -> None:
    folders = [str(root / folder) for folder in ("plugin", "scanner", "hooks")]
    code = f"""
import sys
sys.path[:0] = {folders!r}
from keepmum.mcp import serve
serve.DIALECTS[{name!r}]
print(*sorted({{".".join(name.split(".")[:4]) for name in sys.modules if name.startswith("keepmum.mcp.dialects.")}}))
print(*(name for name in sys.modules if name.startswith("keepmum.mcp.dialects.") and name.endswith("handlers")))
print(*(name for name in ("typing", "dataclasses", "pathlib", "sqlite3") if name in sys.modules))
"""
    output = subprocess.run([*bare_python, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    own, handlers, heavy = output.splitlines()
    assert own == f"keepmum.mcp.dialects.{name.replace('-', '_')}"
    assert handlers == ""
    assert heavy == ""


@pytest.mark.parametrize("name", tuple(DIALECTS))
def test_opening_records_the_client_for_the_doctor(
    name: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(DIALECTS[name][1](Context(agent="codex", agent_version="7", client_name="codex-mcp"))):
        recorded = Path(places.heartbeat_file(str(home / ".keepmum"), "codex", "server")).read_text(encoding="utf-8")
    assert json.loads(recorded) == {"name": "codex-mcp", "version": "7"}
