"""The files of the product: those of a clone, of an unpacked release, or of the wheel that this code runs from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from keepmum_installers.product import PACKAGES, own_folder

__all__ = ["Bundle", "bundle_at", "own_bundle"]

_PARTS = (
    *(".agents", ".claude-plugin", ".codex-plugin", ".cursor-plugin", ".plugin"),
    *(".mcp.codex.json", ".mcp.cursor.json", ".mcp.json"),
    *("CHANGELOG.md", "LICENSE", "NOTICE", "README.md", "pyproject.toml"),
    *("hooks", "plugin", "scanner/__main__.py", "scanner/keepmum_scanner"),
    *(f"installers/{name}" for name in ("__main__.py", "install.sh", "keepmum_installers", "locks")),
)
# Caches, the lock of the tests, the sources of a table that is rendered, and a wheel's copy of the other files.
_EXCLUDED = frozenset({"__pycache__", "bundle", "dev.txt", "providers"})


@dataclass(frozen=True, slots=True)
class Bundle:
    """Where the files are: by name with forward slashes, their path."""

    folder: str
    """The folder with the files that belong to no package."""
    paths: Mapping[str, str]

    @property
    def digest(self) -> str:
        """The SHA-256 of all names and contents, in hexadecimal."""
        whole = hashlib.sha256()
        for name, path in self.paths.items():
            with open(path, "rb") as file:
                content = file.read()
            whole.update(f"{len(name)} {len(content)} {name}".encode() + content)
        return whole.hexdigest()


def bundle_at(folder: str, packages: Mapping[str, str] | None = None) -> Bundle:
    """The bundle in a folder; `packages` has the folders of packages that are elsewhere, by name."""
    found = dict(_below(folder, _PARTS))
    for name, path in (packages or {}).items():
        found.update((f"{name}/{rest}", each) for rest, each in _below(path, _names(path)))
    return Bundle(folder, dict(sorted(found.items())))


def own_bundle() -> Bundle:
    """The bundle that this code runs from."""
    folder, is_wheel = own_folder()
    if not is_wheel:
        return bundle_at(folder)
    packages = os.path.dirname(os.path.dirname(folder))
    places = {f"{part}/{name}": os.path.join(packages, name) for name, part in PACKAGES.items()}
    return bundle_at(folder, places)


def _below(folder: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names and paths of all files below those entries of the folder that exist."""
    for name in names:
        path = os.path.join(folder, name)
        if name in _EXCLUDED or name.endswith(".pyc"):
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            yield from ((f"{name}/{rest}", each) for rest, each in _below(path, _names(path)))
        elif os.path.isfile(path):
            yield name, path


def _names(folder: str) -> list[str]:
    return [name for name in os.listdir(folder) if not name.startswith(".")]
