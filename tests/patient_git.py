"""Keepmum as a process that waits for git as long as a test does.

It gives git two seconds for a setting and three for the changed files, and then does without them. On a machine that
stops processes for longer it is right to do so, but a test that expects an answer of git would fail.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["launched"]


def launched(root: Path) -> list[str]:
    """The command that starts `plugin/launch.py` of the repository `root`, without its arguments."""
    launcher = str(root / "plugin" / "launch.py")
    folders = [str(root / name) for name in ("plugin", "scanner", "hooks")]
    lines = (
        "import runpy, sys",
        f"sys.path[:0] = {folders!r}",
        "from keepmum.workspace.git import history, process",
        "process._TIMEOUT = process._STATUS_TIMEOUT = history._TIMEOUT = 60.0",
        f"sys.argv[0] = {launcher!r}",
        "runpy.run_path(sys.argv[0], run_name='__main__')",
    )
    return [sys.executable, "-I", "-B", "-c", "\n".join(lines)]
