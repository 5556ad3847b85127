"""Claude Desktop, where Keepmum is an MCP server: the app has neither hooks nor a briefing.

Source: https://modelcontextprotocol.io/docs/develop/connect-local-servers, read 2026-11-21
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from keepmum_installers import formats, local_plugin
from keepmum_installers.clients.checks import server
from keepmum_installers.clients.client import Client, InstallSpec, ServerList
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, edit_keys
from keepmum_installers.product import Product

__all__ = ["ClaudeDesktop"]

_NAME = "claude-desktop"
_KEY = ("mcpServers", "keepmum")


class ClaudeDesktop(Client):
    """The app. Its servers are in one file; `keepmum_installers.mcpb` packs the same server for a double click."""

    title = "Claude Desktop"

    def folder(self, machine: Machine) -> str:
        """The app's settings folder."""
        return os.path.join(machine.config_home, "Claude")

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The user's list."""
        return (ServerList("user", _settings(self.folder(machine)), _KEY[:1]),)

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """The server's entry, with the full paths of interpreter and code.

        Raises: InstallError when the named source is not valid, or the file cannot be edited safely.
        """
        root = spec.bundle(machine.cwd)
        if root is None:
            return Plan(notes=("Claude Desktop reads a server from a folder: leave --source out.",))
        launch = os.path.join(root, "plugin", "launch.py")
        entry = {"command": local_plugin.interpreter(), "args": ["-I", "-S", launch, "mcp", "--client", _NAME]}
        change = edit_keys(_settings(self.folder(machine)), ((_KEY, entry),), "add the server")
        starts = "Claude Desktop has Keepmum from its next start on."
        return Plan((change,) if change else (), starts=starts, reads=root)

    def remains(self, machine: Machine) -> Iterable[str]:
        """How to remove a server that was added by hand."""
        if _entry(self.folder(machine)) is not None:
            yield f"Claude Desktop still has the server: {_settings(self.folder(machine))} named it before."
            yield f'  To remove it, remove "{_KEY[1]}" there.'

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """The server's entry, and who last used the server."""
        if not self.is_here(machine):
            return [absent(_NAME, "Claude Desktop")]
        return [_registration(f"{_NAME} server entry", self.folder(machine)), server(_NAME, machine)]


def _registration(about: str, folder: str) -> Finding:
    again = f"Run `keepmum install --client {_NAME}`."
    try:
        entry = _entry(folder)
    except InstallError as error:
        return problem(about, f"{_settings(folder)}: {error}", "Fix it.")
    if entry is None:
        return note(about, "there is none; a package that the app installed is not visible from here", again)
    arguments = entry.get("args") if isinstance(entry, dict) else None
    launch = str(arguments[2]) if isinstance(arguments, list) and len(arguments) > 2 else ""
    if not os.path.isfile(launch):
        return problem(about, f"its code at {launch or 'no path'} does not exist", "Install Keepmum again.")
    return ok(about, f"in {_settings(folder)}")


def _entry(folder: str) -> object:
    """The server's entry; None when there is none.

    Raises: InstallError when the file cannot be read.
    """
    servers = formats.values(_settings(folder)).get(_KEY[0])
    return servers.get(_KEY[1]) if isinstance(servers, dict) else None


def _settings(folder: str) -> str:
    return os.path.join(folder, "claude_desktop_config.json")
