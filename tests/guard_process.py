"""The guard as a process, in front of a small server that the test defines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["LIMIT", "ROOT", "altered", "environment", "guarded", "run", "script"]

LIMIT = 60  # seconds; the machines of CI are slow and shared
ROOT = Path(__file__).resolve().parent.parent


def guarded(*command: str, options: Sequence[str] = ()) -> list[str]:
    """The command that starts the guard in front of a server's command."""
    return [sys.executable, "-I", "-S", str(ROOT / "plugin" / "launch.py"), "guard", *options, "--", *command]


def altered(code: str) -> list[str]:
    """The command of the guard, without its options, after this code has run in its process."""
    folders = [str(ROOT / name) for name in ("plugin", "scanner", "hooks")]
    lines = (
        "import os, sys",
        f"sys.path[:0] = {folders!r}",
        code,
        "from keepmum.guard import main",
        "sys.exit(main.main(sys.argv[1:]))",
    )
    return [sys.executable, "-I", "-S", "-B", "-c", "\n".join(lines)]


def script(code: str) -> list[str]:
    """The command of a server with this Python code."""
    return [sys.executable, "-I", "-S", "-c", f"import os, signal, sys, time\n{code}"]


def environment(home: Path) -> dict[str, str]:
    """An environment in which all state is below `home`."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {**kept, "HOME": str(home), "KEEPMUM_HOME": str(home / ".keepmum")}


def run(
    command: Sequence[str], data: bytes, home: Path, options: Sequence[str] = ()
) -> subprocess.CompletedProcess[bytes]:
    """The outcome of a guarded server that receives `data` and then the end of input."""
    return subprocess.run(
        guarded(*command, options=options),
        input=data,
        capture_output=True,
        env=environment(home),
        timeout=LIMIT,
        check=False,
    )
