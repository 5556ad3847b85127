"""The Python interpreters of this machine, for tests that run on each supported version."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["VERSIONS", "interpreter", "wanted"]

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def interpreter(version: str, home: str = os.path.expanduser("~")) -> str | None:
    """The path of a Python of this version: on PATH, or installed by pyenv or uv; None when there is none."""
    kept = [*Path(home).glob(f".pyenv/versions/{version}.*"), *Path(home).glob(f".local/share/uv/python/*-{version}.*")]
    candidates = [shutil.which(f"python{version}"), *(str(folder / "bin" / "python3") for folder in sorted(kept))]
    check = f"import sys; sys.exit(sys.version_info[:2] != {tuple(map(int, version.split('.')))})"
    for candidate in candidates:
        # A program on PATH may be a shim without an interpreter: only running it shows that.
        if candidate and subprocess.run([candidate, "-c", check], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def wanted(version: str) -> str:
    """The path of a Python of this version; skips the test when there is none."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not on this machine")
    return python
