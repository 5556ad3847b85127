"""A plugin that is generated on this machine for one client: a few files that name the bundle's code by full path.

Some clients copy the folder of a plugin whole, environments and caches of a clone included; others withdraw their
trust when any file of it changes, or refuse a symbolic link that leads out of it. So such a client gets a folder with
only the files that it reads, while hooks and server stay in the bundle.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping

from keepmum_installers import files
from keepmum_installers.app import layout
from keepmum_installers.errors import InstallError
from keepmum_installers.plan import Change, own_file
from keepmum_installers.product import SKILL, own_folder

__all__ = ["as_json", "changes", "differs", "interpreter", "path", "server", "skill"]


def interpreter() -> str:
    """The path of the interpreter that runs this installer; `python3` on a later PATH may be another one.

    For a virtual environment it is the base interpreter, since an environment may be removed.
    """
    return getattr(sys, "_base_executable", "") or sys.executable


def skill(root: str) -> str:
    """The skill of the bundle at root; of the code that clients will run, that of this installer.

    Raises: InstallError when it is missing.
    """
    content = files.read(path(own_folder()[0] if layout.is_link(root) else root, SKILL))
    if content is None:
        raise InstallError(f"{root} lacks {SKILL}, so it is not a complete Keepmum", "Install from a complete copy.")
    return content.decode("utf-8")


def as_json(value: object) -> str:
    """A manifest as text."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def changes(texts: Mapping[str, str], folder: str, why: str) -> Iterator[Change]:
    """The changes that give the folder these files, which are named by relative path with forward slashes."""
    for name, text in texts.items():
        change = own_file(path(folder, name), text, why, 0o644)
        if change:
            yield change


def differs(texts: Mapping[str, str], folder: str) -> bool:
    """Whether any of these files is missing in the folder or has other content."""
    return any(files.read(path(folder, name)) != text.encode() for name, text in texts.items())


def server(folder: str, manifest: str) -> tuple[str, str] | None:
    """The interpreter and the script of the manifest's only server; None when it has another form."""
    try:
        (entry,) = json.loads(files.read(path(folder, manifest)) or b"{}")["mcpServers"].values()
        return str(entry["command"]), str(entry["args"][2])
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def path(folder: str, name: str) -> str:
    """The path of a file by its relative name with forward slashes."""
    return os.path.join(folder, *name.split("/"))
