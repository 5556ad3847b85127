"""The plugin that the installer hands to Codex: five small files in Keepmum's home.

The client copies it, and withdraws its trust from every hook when any file of that copy changes; the manifest has no
version, so that a new one alone changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from keepmum_installers import handover
from keepmum_installers.clients.codex import manifests
from keepmum_installers.machine import Machine
from keepmum_installers.product import SKILL, Product

__all__ = ["folder", "script", "texts"]


def folder(machine: Machine) -> str:
    """Where the files lie: a marketplace of one plugin."""
    return os.path.join(machine.home, "plugins", "codex")


def texts(product: Product, root: str) -> Mapping[str, str]:
    """The files by path, with forward slashes, for the bundle at root.

    Raises: InstallError when the bundle is not whole.
    """
    start = manifests.Start(root=root.replace(os.sep, "/"), python=handover.python())
    return {
        manifests.MARKETPLACE_FILE: handover.as_json(manifests.marketplace(product)),
        manifests.MANIFEST: handover.as_json(manifests.plugin(product)),
        manifests.SERVERS: handover.as_json(manifests.servers(start)),
        manifests.HOOKS: handover.as_json(manifests.hooks(start)),
        SKILL: handover.skill(root),
    }


def script(copy: str) -> str | None:
    """The script that the server of a copy of the plugin starts with; None when the copy does not say."""
    found = handover.server(copy, manifests.SERVERS)
    return found and found[1]
