"""The plugin for a machine on which `python3` is no Python that works: it names the interpreter by its full path.

The bundle's own manifests are the same on every machine, and the client puts nothing in the place of a name. On
Windows that name is often missing, or a stub that opens a shop. There the client gets a folder in Keepmum's home,
whose hooks and server start by the interpreter that this installer was found to run on.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

from keepmum_installers import files
from keepmum_installers.clients.claude import manifests
from keepmum_installers.clients.client import Wish
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change, own_file
from keepmum_installers.product import SERVER, SKILL

__all__ = ["changes", "folder", "python"]


def folder(machine: Machine) -> str:
    """Where the files lie: a marketplace of one plugin."""
    return os.path.join(machine.home, "plugins", "claude-code")


def changes(wish: Wish, root: str, machine: Machine) -> Iterator[Change]:
    """The files that are not yet as they should be, for the bundle at root.

    Raises: InstallError when the bundle is not whole.
    """
    # A virtual environment's interpreter stands on this one, and may be removed, as the runtime is.
    interpreter = getattr(sys, "_base_executable", "") or sys.executable
    start = manifests.Start(root.replace(os.sep, "/"), interpreter)
    skill = files.read(os.path.join(root, *SKILL.split("/")))
    if skill is None:
        raise InstallError(f"{root} lacks {SKILL}, so this is no whole Keepmum", "Install from another clone.")
    values = manifests.bundle(wish.product, start).items()
    texts = {name: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for name, value in values}
    for name, text in {**texts, SKILL: skill.decode("utf-8")}.items():
        path = os.path.join(folder(machine), *name.split("/"))
        change = own_file(path, text, "a part of the plugin, with the path of Python", 0o644)
        if change:
            yield change


def python(machine: Machine) -> str | None:
    """The interpreter that the folder names; None where there is no such folder."""
    try:
        servers = json.loads(files.read(os.path.join(folder(machine), manifests.SERVERS)) or b"")["mcpServers"]
        return str(servers[SERVER]["command"])
    except (ValueError, LookupError, TypeError):
        return None
