"""The version, rendered from pyproject.toml: do not edit, run `python3 -m keepmum_installers.manifests`."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.1.0"
