"""Programs from npm, once for a clone, in `.cache/clients`; npm needs to run no script for any of them."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

from clients.claude import Unavailable

__all__ = ["COPILOT_CLI", "GEMINI_CLI", "OPENCODE", "fetched"]

COPILOT_CLI = "1.0.102"
GEMINI_CLI = "0.61.0"
OPENCODE = "1.18.33"


def fetched(cache: Path, package: str, version: str, program: str) -> Path:
    """The program, a pattern below `node_modules`, of the package; fetched when this clone does not have it yet.

    Raises: Unavailable when npm is missing, cannot fetch it, or has none for this platform.
    """
    folder = cache / f"{package.rpartition('/')[2]}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:  # test runs may be started side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(folder.glob(f"node_modules/{program}")):
            _fetch(folder, cache / "npm", f"{package}@{version}")
    programs = sorted(folder.glob(f"node_modules/{program}"))
    if not programs:
        raise Unavailable(f"npm has no {package} {version} for this platform")
    return programs[0]


def _fetch(folder: Path, npm_cache: Path, package: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(f"npm is not on this machine, and {package} comes from there")
    command = [npm, "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(
        [*command, "--prefix", str(folder), "--cache", str(npm_cache), package],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode != 0:
        raise Unavailable(f"npm could not fetch {package}: {done.stderr.strip()[-200:]}")
