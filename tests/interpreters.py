"""The interpreters of this machine, for tests that run what must hold on each version."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["VERSIONS", "interpreter", "wanted"]

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def interpreter(version: str, home: str = os.path.expanduser("~")) -> str | None:
    """A Python of this version: on the path, or where pyenv and uv keep theirs."""
    kept = [*Path(home).glob(f".pyenv/versions/{version}.*"), *Path(home).glob(f".local/share/uv/python/*-{version}.*")]
    candidates = [shutil.which(f"python{version}"), *(str(folder / "bin" / "python3") for folder in sorted(kept))]
    check = f"import sys; sys.exit(sys.version_info[:2] != {tuple(map(int, version.split('.')))})"
    for candidate in candidates:
        # A name on the path may be a shim with nothing behind it, so only running it tells.
        if candidate and subprocess.run([candidate, "-c", check], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def wanted(version: str) -> str:
    """A Python of this version; where there is none the test is skipped, with that reason."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not on this machine")
    return python
