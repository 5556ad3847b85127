"""A copy of the plugin whose guard hook does not hurry.

The guard refuses what it has not judged after two seconds. On a machine that stops a process for longer it is right to
do so, but a test that expects another answer would fail.
"""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["copied"]

_GUARD = "hooks/keepmum_hooks/guard.py"
_HURRIED, _PATIENT = "\n_SECONDS = 2.0 ", "\n_SECONDS = 600.0 "


def copied(root: Path, plugin: Path) -> Path:
    """`plugin`, which holds the hooks and the scanner of the repository, and the manifest of Cursor."""
    for name in (".cursor-plugin", "hooks", "scanner"):
        shutil.copytree(root / name, plugin / name, ignore=shutil.ignore_patterns("__pycache__"))
    source = (plugin / _GUARD).read_text(encoding="utf-8")
    assert _HURRIED in source
    (plugin / _GUARD).write_text(source.replace(_HURRIED, _PATIENT), encoding="utf-8")
    return plugin
