"""A plugin that is made on this machine for one client: a few files, in which the bundle's code is named in full.

A client copies a plugin's folder whole, the environments and caches of a clone with it; or it withdraws its trust when
any file of it changes; or it refuses a link that leads out of it. So it gets a folder with nothing but what it has to
read, while hooks and server stay where the installer runs from.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping

from keepmum_installers import files
from keepmum_installers.errors import InstallError
from keepmum_installers.plan import Change, own_file
from keepmum_installers.product import SKILL

__all__ = ["as_json", "changes", "differs", "path", "python", "server", "skill"]


def python() -> str:
    """The interpreter that this installer was found to run on, by running it; `python3` on a later PATH may be another.

    Of a virtual environment it is the one below, since an environment may be removed, as the runtime is.
    """
    return getattr(sys, "_base_executable", "") or sys.executable


def skill(root: str) -> str:
    """The skill of the bundle at root.

    Raises: InstallError when it is not there.
    """
    content = files.read(path(root, SKILL))
    if content is None:
        raise InstallError(f"{root} lacks {SKILL}, so this is no whole Keepmum", "Install from another clone.")
    return content.decode("utf-8")


def as_json(value: object) -> str:
    """A manifest as text."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def changes(texts: Mapping[str, str], place: str, why: str) -> Iterator[Change]:
    """What brings the folder at place to these files, which go by their paths in it, with forward slashes."""
    for name, text in texts.items():
        change = own_file(path(place, name), text, why, 0o644)
        if change:
            yield change


def differs(texts: Mapping[str, str], place: str) -> bool:
    """Whether any of these files is missing in the folder at place, or says something else."""
    return any(files.read(path(place, name)) != text.encode() for name, text in texts.items())


def server(place: str, manifest: str) -> tuple[str, str] | None:
    """The interpreter and the script that the one server of that manifest starts with; None when it does not say."""
    try:
        (entry,) = json.loads(files.read(path(place, manifest)) or b"{}")["mcpServers"].values()
        return str(entry["command"]), str(entry["args"][2])
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def path(place: str, name: str) -> str:
    """The path of a file that has this name, with forward slashes, in the folder at place."""
    return os.path.join(place, *name.split("/"))
