"""Fetches programs from npm, once per clone, into `.cache/clients`, without running their install scripts."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

__all__ = [
    "CLAUDE_CODE", "CODEX", "CONFORMANCE", "COPILOT_CLI", "GEMINI_CLI", "GPT_TOKENIZER", "OPENCODE", "SERVER_MEMORY",
    "Unavailable", "fetched",
]  # fmt: skip

CLAUDE_CODE = "2.1.329"
CODEX = "0.169.0"
CONFORMANCE = "0.1.13"  # the last that runs on Node 20
COPILOT_CLI = "1.0.102"
GEMINI_CLI = "0.61.0"
GPT_TOKENIZER = "4.0.0"  # counts the tokens of a text
OPENCODE = "1.18.33"
SERVER_MEMORY = "2026.8.31"

_INSTALL = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
# npm waits 10 s and then 60 s before it retries a registry that it cannot reach, for each program.
_SHORT_RETRIES = ["--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000", "--fetch-timeout=30000"]


class Unavailable(Exception):
    """The program is not available, for this reason."""


def fetched(cache: Path, package: str, version: str, program: str, *, limit: float = 600) -> Path:
    """The path of the program, a glob pattern below `node_modules`; fetches the package when it is missing.

    Raises: Unavailable when npm is missing, cannot fetch it within `limit` seconds, or when the package has no program
        for this platform.
    """
    folder = cache / f"{package.rpartition('/')[2]}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:  # several processes may run tests
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(folder.glob(f"node_modules/{program}")):
            _fetch(folder, cache / "npm", f"{package}@{version}", limit)
    programs = sorted(folder.glob(f"node_modules/{program}"))
    if not programs:
        raise Unavailable(f"npm has no {package} {version} for this platform")
    return programs[0]


def _fetch(folder: Path, npm_cache: Path, package: str, limit: float) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(f"npm is not on this machine, and {package} comes from there")
    command = [npm, *_INSTALL, *_SHORT_RETRIES, "--prefix", str(folder), "--cache", str(npm_cache), package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm did not fetch {package} within {limit:.0f} s") from None
    if done.returncode != 0:
        raise Unavailable(f"npm could not fetch {package}: {done.stderr.strip()[-200:]}")
