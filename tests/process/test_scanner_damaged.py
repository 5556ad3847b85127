"""A scanner that is not whole refuses: it never lets a text pass that it could not judge."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hidden import assert_hidden

ROOT = Path(__file__).parents[2]
GITHUB = "gh" + "p_" + "a1B2" * 9
TABLES = ("prefix_table", "score_table", "surprise_table")
LIMIT = 60  # seconds


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the plugin's sources, free to be damaged."""
    for folder in ("scanner", "plugin", "hooks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    return tmp_path


def damage(copy: Path, table: str, how: str) -> None:
    file = copy / "scanner" / "keepmum_scanner" / f"{table}.py"
    if how == "missing":
        file.unlink()
    elif how == "cut short":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    else:
        file.write_text('"""Nothing."""\n')


def run(copy: Path, *command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        cwd=copy,
        env={"HOME": str(copy), "KEEPMUM_HOME": str(copy / "home"), "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.mark.parametrize("how", ["missing", "cut short", "empty"])
@pytest.mark.parametrize("table", TABLES)
def test_command_of_a_damaged_scanner_fails(copy: Path, table: str, how: str) -> None:
    damage(copy, table, how)
    done = run(copy, "-I", "-S", "scanner", stdin=GITHUB)
    assert done.returncode not in {0, 1}
    assert_hidden(GITHUB[:12], done.stdout + done.stderr)


WRITE = """
import sys
sys.path[:0] = ["plugin", "scanner", "hooks"]
import os
from keepmum.application import open_memory
memory = open_memory(os.environ, "test", ())
memory.remember("a plain note")
print("stored")
"""


@pytest.mark.parametrize("table", TABLES)
def test_write_through_a_damaged_scanner_is_refused(copy: Path, table: str) -> None:
    damage(copy, table, "missing")
    done = run(copy, "-c", WRITE)
    assert done.returncode != 0
    assert "stored" not in done.stdout
