"""The plugin that the installer hands to Codex: five small files in Keepmum's home.

The client copies a plugin's folder whole, a clone's history and caches with it; and it withdraws its trust from every
hook when any file of that copy changes. So what it gets is a folder with nothing but what it has to read. Hooks and
server stay where the installer runs from, and are named by their full paths; the manifest has no version, so that a
new one alone changes nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping

from keepmum_installers import files
from keepmum_installers.clients.codex import manifests
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change, own_file
from keepmum_installers.product import SKILL, Product

__all__ = ["changes", "differs", "folder", "script", "texts"]


def folder(machine: Machine) -> str:
    """Where the files lie: a marketplace of one plugin."""
    return os.path.join(machine.home, "plugins", "codex")


def texts(product: Product, root: str) -> Mapping[str, str]:
    """The files by path, with forward slashes, for the bundle at root.

    Raises: InstallError when the bundle is not whole.
    """
    # A virtual environment's interpreter stands on this one, and may be removed, as the runtime is.
    python = getattr(sys, "_base_executable", "") or sys.executable
    start = manifests.Start(root=root.replace(os.sep, "/"), python=python)
    skill = files.read(os.path.join(root, *SKILL.split("/")))
    if skill is None:
        raise InstallError(f"{root} lacks {SKILL}, so this is no whole Keepmum", "Install from another clone.")
    return {
        manifests.MARKETPLACE_FILE: _json(manifests.marketplace(product)),
        manifests.MANIFEST: _json(manifests.plugin(product)),
        manifests.SERVERS: _json(manifests.servers(start)),
        manifests.HOOKS: _json(manifests.hooks(start)),
        SKILL: skill.decode("utf-8"),
    }


def changes(wanted: Mapping[str, str], machine: Machine) -> Iterator[Change]:
    """The files that are not yet as they should be."""
    for name, text in wanted.items():
        change = own_file(_path(folder(machine), name), text, "a part of the plugin for Codex", 0o644)
        if change:
            yield change


def differs(wanted: Mapping[str, str], copy: str) -> bool:
    """Whether the client's copy is another one than what is wanted."""
    return any(files.read(_path(copy, name)) != text.encode() for name, text in wanted.items())


def script(copy: str) -> str | None:
    """The script that the server of a copy of the plugin starts with; None when the copy does not say."""
    try:
        (server,) = json.loads(files.read(_path(copy, manifests.SERVERS)) or b"{}")["mcpServers"].values()
        return str(server["args"][2])
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _path(place: str, name: str) -> str:
    return os.path.join(place, *name.split("/"))


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
