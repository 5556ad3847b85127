"""The plugin that the installer hands to Claude Code: five small files in Keepmum's home.

The client reads a folder where it is, and copies it into its cache all the same, where it stays when the plugin goes:
of a clone in which the tests have run that is half a gigabyte.

The bundle's own manifests are the same on every machine, and start `python3`. Where that is missing, or a stub that
opens a shop as on many a Windows, these files name the interpreter that the installer runs on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from keepmum_installers import handover
from keepmum_installers.clients.claude import manifests
from keepmum_installers.machine import Machine
from keepmum_installers.product import SKILL, Product

__all__ = ["folder", "start", "texts"]


def folder(machine: Machine) -> str:
    """Where the files lie: a marketplace of one plugin."""
    return os.path.join(machine.home, "plugins", "claude-code")


def texts(product: Product, root: str, python: str) -> Mapping[str, str]:
    """The files by path, with forward slashes, for the bundle at root and an interpreter.

    Raises: InstallError when the bundle is not whole.
    """
    values = manifests.bundle(product, manifests.Start(root.replace(os.sep, "/"), python))
    return {**{name: handover.as_json(value) for name, value in values.items()}, SKILL: handover.skill(root)}


def start(machine: Machine) -> tuple[str, str] | None:
    """The interpreter and the script that the folder's server starts with; None where there is no such folder."""
    return handover.server(folder(machine), manifests.SERVERS)
