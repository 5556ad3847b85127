"""Copilot CLI, where Keepmum is a plugin from a marketplace in a folder.

Source, for its MCP servers: https://docs.github.com/en/copilot/how-tos/copilot-cli, read 2026-11-21; and runs of
version 1.0.102.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from keepmum_installers import formats
from keepmum_installers.clients.checks import interpreter, last_runs
from keepmum_installers.clients.client import Client, InstallSpec, ServerList
from keepmum_installers.clients.copilot import manifests
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, edit_keys
from keepmum_installers.product import MARKETPLACE, PLUGIN, Product

__all__ = ["CopilotCli"]

_NAME = "copilot-cli"
_IF_UNUSED = "If you use Copilot CLI daily, check what /hooks shows in it."


class CopilotCli(Client):
    """GitHub Copilot on the command line.

    Its commands write only two keys to its settings, and leave traces when they remove the plugin. So the installer
    sets these keys itself, and removes them completely.
    """

    title = "Copilot CLI"
    commands = ("copilot",)
    comments = True
    manifests = staticmethod(manifests.render)

    def folder(self, machine: Machine) -> str:
        """`~/.copilot`, or COPILOT_HOME."""
        return machine.environ.get("COPILOT_HOME") or os.path.join(machine.user_home, ".copilot")

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The user's list."""
        return (ServerList("user", os.path.join(self.folder(machine), "mcp-config.json"), ("mcpServers",)),)

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """The two keys that name marketplace and plugin.

        Raises: InstallError when the named source is not valid, or the settings cannot be edited safely.
        """
        root = spec.bundle(machine.cwd)
        if root is None:
            return Plan(notes=_by_hand(spec.source or spec.product.repository))
        wanted = (
            (("extraKnownMarketplaces", MARKETPLACE), {"source": {"source": "directory", "path": root}}),
            (("enabledPlugins", PLUGIN), True),
        )
        change = edit_keys(_settings(self.folder(machine)), wanted, "switch the plugin on for you", comments=True)
        starts = "Copilot CLI has Keepmum from its next session on."
        return Plan((change,) if change else (), starts=starts, reads=root)

    def remains(self, machine: Machine) -> Iterable[str]:
        """How to remove a plugin that was installed by hand."""
        if _enabled(self.folder(machine)) is True:
            yield "Copilot CLI still has the plugin: it was there before this installer, or was installed by hand."
            yield f"  To remove it: copilot plugin uninstall {PLUGIN}"

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """Plugin, interpreter, heartbeats, and who last used the server."""
        if not self.is_here(machine):
            return [absent(_NAME, "Copilot CLI")]
        return _checks(self.folder(machine), machine)


def _checks(folder: str, machine: Machine) -> Iterator[Finding]:
    yield ok(_NAME, f"at {folder}")
    yield interpreter(_NAME, machine)
    yield _plugin(f"{_NAME} plugin", folder)
    yield from last_runs(_NAME, manifests.EVENTS, machine, _IF_UNUSED)


def _plugin(about: str, folder: str) -> Finding:
    try:
        enabled = _enabled(folder)
    except InstallError as error:
        return problem(about, f"{_settings(folder)}: {error}", "Fix it.")
    if enabled is not True:
        says = "the plugin is not installed" if enabled is None else "the plugin is switched off"
        return note(about, says, f"Run `keepmum install --client {_NAME}`.")
    return ok(about, f"switched on in {_settings(folder)}")


def _enabled(folder: str) -> object:
    """The value of the plugin's switch in the settings; None when they do not mention it.

    Raises: InstallError when they cannot be read.
    """
    enabled = formats.values(_settings(folder), comments=True).get("enabledPlugins")
    return enabled.get(PLUGIN) if isinstance(enabled, dict) else None


def _settings(folder: str) -> str:
    return os.path.join(folder, "settings.json")


def _by_hand(source: str) -> tuple[str, ...]:
    return (
        "Copilot CLI installs a plugin from a repository by its own commands:",
        f"  copilot plugin marketplace add {source}",
        f"  copilot plugin install {PLUGIN}",
    )
