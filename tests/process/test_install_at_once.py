"""Many installers at once, on one settings file and in one home: no write is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

WRITERS, EACH = 16, 25
LIMIT = 120  # seconds

# Adds its own keys as an installer does: read, plan, replace; plan again when another process was faster.
_ADD_KEYS = f"""
import sys
sys.path[:0] = sys.argv[3:]
from keepmum_installers import files
from keepmum_installers.errors import FileChanged
from keepmum_installers.json_edit import merge
path, writer = sys.argv[1:3]
for number in range({EACH}):
    for _ in range(1000):
        before = files.read(path)
        after, _ = merge((before or b"").decode(), ("on", f"{{writer}}.{{number}}"), value=True)
        try:
            files.replace(path, files.digest(before), after.encode(), 0o644)
        except FileChanged:
            continue
        break
"""


def _finish(children: list[subprocess.Popen[bytes]]) -> list[int]:
    return [child.wait(LIMIT) for child in children]


@pytest.mark.heavy
def test_sixteen_writers_of_one_settings_file_lose_nothing(root: Path, tmp_path: Path, bare_python: list[str]) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{\n  "theirs": 1\n}\n')
    roots = [str(root / name) for name in ("installers", "plugin", "hooks")]
    command = [*bare_python, "-c", _ADD_KEYS, str(path)]
    children = [subprocess.Popen([*command, str(number), *roots]) for number in range(WRITERS)]
    assert _finish(children) == [0] * WRITERS
    settings = json.loads(path.read_text())
    assert (settings["theirs"], len(settings["on"])) == (1, WRITERS * EACH)
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.heavy
def test_installers_of_one_home_and_repository_agree(root: Path, tmp_path: Path, home: Path) -> None:
    (tmp_path / ".git").mkdir()
    command = [sys.executable, str(root / "installers"), "install", "--scope", "project", "--no-runtime"]
    children = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) for _ in range(6)]
    assert _finish(children) == [0] * 6
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text())
    assert settings["enabledPlugins"] == {"keepmum@keepmum": True}
    journal = json.loads((home / ".keepmum" / "state" / "installed.json").read_text())
    paths = [record["path"] for record in journal["records"] if record["did"] in {"edited", "inserted"}]
    assert len(paths) == len(set(paths))
    edits = [record for record in journal["records"] if record["did"] == "edited"]
    assert [len(record["undo"]) for record in edits if record["path"].endswith("settings.json")] == [2]
    again = subprocess.run([*command, "--dry-run"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Nothing to do" in again.stdout
