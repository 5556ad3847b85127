"""Visual Studio Code, which reads the plugin of Copilot CLI from a folder that one of its settings names.

Source: https://code.visualstudio.com/docs/copilot/customization/agent-plugins, read 2026-11-21; and
https://github.com/microsoft/vscode/blob/main/src/vs/platform/agentPlugins/common/pluginParsers.ts, read 2026-11-21;
for its MCP servers https://code.visualstudio.com/docs/copilot/reference/mcp-configuration, read 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from keepmum_installers import files
from keepmum_installers.clients.checks import interpreter, last_runs
from keepmum_installers.clients.client import Client, InstallSpec, Scope, ServerList
from keepmum_installers.clients.copilot.manifests import EVENTS
from keepmum_installers.finding import Finding, absent, note, ok
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, edit_keys
from keepmum_installers.product import Product
from keepmum_installers.shell_command import TEAM_COMMAND

__all__ = ["VisualStudioCode"]

_NAME = "vscode"
_LOCATIONS = "chat.pluginLocations"
_IF_UNUSED = "If you use its agent daily, check whether the setting chat.plugins.enabled is on."


class VisualStudioCode(Client):
    """The editor's own agent."""

    title = "Visual Studio Code"
    scopes: tuple[Scope, ...] = ("user", "project")
    team_command = TEAM_COMMAND
    comments = True

    def folder(self, machine: Machine) -> str:
        """The editor's settings folder.

        Source: https://code.visualstudio.com/docs/configure/settings, read 2026-11-21
        """
        return os.path.join(machine.config_home, "Code", "User")

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The lists of the project and of the user."""
        (for_team,) = self.repository_files("project", machine)
        yield ServerList("project", for_team, ("servers",), url_is_http=True)
        yield ServerList("user", os.path.join(self.folder(machine), "mcp.json"), ("servers",), url_is_http=True)

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """For the user: the plugin's folder in the settings. For a project: the server in `.vscode/mcp.json`.

        Raises: InstallError when the named source is not valid, or a file cannot be edited safely.
        """
        if spec.scope == "project":
            entry = {"type": "stdio", "command": TEAM_COMMAND, "args": ["mcp", "--client", _NAME]}
            (path,) = self.repository_files(spec.scope, machine)
            wanted = [(("servers", "keepmum", name), each) for name, each in entry.items()]
            change = edit_keys(path, wanted, "the server in VS Code, for the team", comments=True)
            return Plan((change,) if change else (), closing=_FOR_TEAMMATES)
        root = spec.bundle(machine.cwd)
        if root is None:
            return Plan(notes=("VS Code reads a plugin from a folder: leave --source out.",))
        location = (((_LOCATIONS, root), True),)
        change = edit_keys(_settings(self.folder(machine)), location, "name the plugin's folder", comments=True)
        starts = "VS Code has Keepmum from its next start on."
        return Plan((change,) if change else (), starts=starts, reads=root)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """The servers of the repository."""
        return (os.path.join(machine.repository, ".vscode", "mcp.json"),) if scope == "project" else ()

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """Setting, interpreter, heartbeats, and who last used the server."""
        if not self.is_here(machine):
            return [absent(_NAME, "Visual Studio Code")]
        return _checks(self.folder(machine), machine)


def _checks(folder: str, machine: Machine) -> Iterator[Finding]:
    about, text = f"{_NAME} plugin", (files.read(_settings(folder)) or b"").decode("utf-8", "replace")
    if _LOCATIONS in text and "keepmum" in text:
        yield ok(about, f"named in {_settings(folder)}")
    else:
        yield note(about, f"{_settings(folder)} does not name it", f"Run `keepmum install --client {_NAME}`.")
    yield interpreter(_NAME, machine)
    yield from last_runs(_NAME, EVENTS, machine, _IF_UNUSED)


def _settings(folder: str) -> str:
    return os.path.join(folder, "settings.json")


_FOR_TEAMMATES = (
    "For VS Code each teammate has to, once:",
    "  1. install Keepmum for themselves, which creates ~/.keepmum/bin/keepmum",
    "  2. open the repository, trust it, and start the server when VS Code offers to",
)
