"""Installation for one user: a plugin in the folder that Cursor reads in addition to its marketplaces.

The plugin is five small files, which name hooks and server of the bundle by full path: the client refuses a symbolic
link that leads out of its folder, and a copy of the code would be outdated after each pull.

Source: https://cursor.com/docs/plugins/building, read 2026-11-21; and the loader in `@cursor/sdk` 1.0.32.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_installers import local_plugin
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.cursor import manifests
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import SKILL

__all__ = ["config_folder", "plan", "plugin_folder", "remains"]


def config_folder(machine: Machine) -> str:
    """The folder of everything that the client keeps for this user."""
    return os.path.join(machine.user_home, ".cursor")


def plugin_folder(machine: Machine) -> str:
    """The folder of our plugin."""
    return os.path.join(config_folder(machine), "plugins", "local", "keepmum")


def plan(spec: InstallSpec, machine: Machine) -> Plan:
    """The changes of the plugin's files; none when the source is not a folder on this machine.

    Raises: InstallError when the named source is not valid.
    """
    root = spec.bundle(machine.cwd)
    if root is None:
        return Plan(notes=_by_hand(spec))
    steps = local_plugin.changes(_texts(spec, root), plugin_folder(machine), "the plugin for Cursor")
    starts = "Cursor has Keepmum from its next start on; in an open window: Developer: Reload Window."
    return Plan(tuple(steps), starts=starts, reads=root)


def remains(machine: Machine) -> Iterator[str]:
    """How to remove a plugin that was put there by hand."""
    folder = plugin_folder(machine)
    if os.path.lexists(folder):
        yield f"Cursor still has a plugin of our name: {folder} holds files that this installer did not write."
        yield "  To remove it, delete that folder."


def _texts(spec: InstallSpec, root: str) -> dict[str, str]:
    """The plugin's files by path, with forward slashes."""
    start = manifests.Start(root=root.replace(os.sep, "/"), python=local_plugin.interpreter())
    return {
        manifests.MANIFEST: local_plugin.as_json(manifests.plugin(spec.product)),
        manifests.SERVERS: local_plugin.as_json(manifests.servers(start)),
        manifests.HOOKS: local_plugin.as_json(manifests.hooks(start)),
        manifests.RULES: manifests.RULE,
        SKILL: local_plugin.skill(root),
    }


def _by_hand(spec: InstallSpec) -> tuple[str, ...]:
    return (
        "Cursor installs a plugin from a repository itself, which this installer cannot start. In Cursor:",
        f"  Customize, Plugins, Add: {spec.source or spec.product.homepage}",
    )
