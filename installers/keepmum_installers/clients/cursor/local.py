"""For one user: a plugin in the folder where Cursor looks for plugins that come from no marketplace.

It is five small files. Hooks and server stay where the installer runs from, and are named by their full paths: the
client refuses a symbolic link that leads out of its folder, and a copy of the code would be behind after each pull.

Source: https://cursor.com/docs/plugins/building, read 2026-11-21; and the loader in `@cursor/sdk` 1.0.32.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_installers import handover
from keepmum_installers.clients.client import Wish
from keepmum_installers.clients.cursor import manifests, places
from keepmum_installers.clients.cursor.rule import RULE
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import SKILL
from keepmum_installers.source import bundle_folder

__all__ = ["plan", "remains", "start"]


def plan(wish: Wish, machine: Machine) -> Plan:
    """The files that differ from what should be there; none where no folder of the bundle is there to read from.

    Raises: InstallError when a source was named that is none.
    """
    root = bundle_folder(wish.source, wish.root, machine.cwd)
    if root is None:
        return Plan(notes=_by_hand(wish))
    steps = handover.changes(_texts(wish, root), places.plugin_folder(machine), "a part of the plugin")
    notes = (
        "Cursor has Keepmum from its next start on; in a window that is open: Developer: Reload Window.",
        f"It reads the plugin's code from {root}: keep that folder.",
    )
    return Plan(tuple(steps), notes)


def remains(machine: Machine) -> Iterator[str]:
    """What to do about a plugin that was put there by hand."""
    place = places.plugin_folder(machine)
    if os.path.lexists(place):
        yield f"Cursor still has a plugin of our name: {place} holds files that this installer did not write."
        yield "  To take it out, remove that folder."


def start(root: str) -> manifests.Start:
    """How hooks and server of the bundle at root are started on this machine."""
    return manifests.Start(root=root.replace(os.sep, "/"), python=handover.python())


def _texts(wish: Wish, root: str) -> dict[str, str]:
    """The plugin's files by path, with forward slashes."""
    made, how = manifests.plugin(wish.product), start(root)
    return {
        manifests.MANIFEST: handover.as_json(made),
        manifests.SERVERS: handover.as_json(manifests.servers(how)),
        manifests.HOOKS: handover.as_json(manifests.hooks(how)),
        manifests.RULES: RULE,
        SKILL: handover.skill(root),
    }


def _by_hand(wish: Wish) -> tuple[str, ...]:
    return (
        "Cursor takes a plugin from a repository by itself, and this installer cannot tell it to. In Cursor:",
        f"  Customize, Plugins, Add: {wish.source or wish.product.homepage}",
    )
