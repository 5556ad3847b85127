"""The official memory server from npm, once for a clone, in `.cache/clients`; npm needs to run no script for it."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

from clients.claude import Unavailable

__all__ = ["VERSION", "installed"]

VERSION = "2026.8.31"
_NAME = "@modelcontextprotocol/server-memory"


def installed(cache: Path) -> list[str]:
    """The command that starts the server, fetched from npm when this clone does not have it yet.

    Raises: Unavailable when node or npm is missing, or cannot fetch it.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Unavailable("node and npm are not on this machine, and the memory server comes from there")
    folder = cache / f"server-memory-{VERSION}"
    program = folder / "node_modules" / _NAME / "dist" / "index.js"
    folder.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:  # test runs may be started side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _fetch(npm, folder, cache / "npm")
    return [node, str(program)]


def _fetch(npm: str, folder: Path, npm_cache: Path) -> None:
    command = [npm, "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    command += ["--prefix", str(folder), "--cache", str(npm_cache), f"{_NAME}@{VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise Unavailable(f"npm could not fetch {_NAME} {VERSION}: {done.stderr.strip()[-200:]}")
