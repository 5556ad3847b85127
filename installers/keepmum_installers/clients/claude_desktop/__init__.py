"""Claude Desktop, where Keepmum is an MCP server: tools, and neither hooks nor briefing, which the client has not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from keepmum_installers import files, handover
from keepmum_installers.clients.checks import server
from keepmum_installers.clients.client import Scope, Wish
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.merge import parse
from keepmum_installers.plan import Plan, edit_keys
from keepmum_installers.product import Product
from keepmum_installers.source import bundle_folder

__all__ = ["ClaudeDesktop"]

_NAME = "claude-desktop"
_KEY = ("mcpServers", "keepmum")


class ClaudeDesktop:
    """The app. Its servers stand in one file; a package of the same server is made by `keepmum_installers.mcpb`."""

    title = "Claude Desktop"
    scopes: tuple[Scope, ...] = ("user",)

    def manifests(self, product: Product) -> Mapping[str, object]:  # noqa: ARG002 - as every client
        """None: the manifest of the package is rendered as it is packed."""
        return {}

    def program(self, machine: Machine) -> str | None:  # noqa: ARG002 - as every client
        """None: it has no command."""
        return None

    def is_here(self, machine: Machine) -> bool:
        """Whether the app has a folder here."""
        return os.path.isdir(self.folder(machine))

    def folder(self, machine: Machine) -> str:
        """Where the app keeps what it is told.

        Source: https://modelcontextprotocol.io/docs/develop/connect-local-servers, read 2026-11-21
        """
        if sys.platform == "darwin":
            return os.path.join(machine.user_home, "Library", "Application Support", "Claude")
        if os.name == "nt":
            return os.path.join(machine.environ.get("APPDATA") or machine.user_home, "Claude")
        return os.path.join(machine.environ.get("XDG_CONFIG_HOME") or f"{machine.user_home}/.config", "Claude")

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """The server's entry, which names interpreter and code by their full paths.

        Raises: InstallError when a source was named that is none, or the file cannot be edited without harm.
        """
        where = bundle_folder(wish.source, wish.root, machine.cwd)
        if where is None:
            return Plan(notes=("Claude Desktop reads a server from a folder: run this installer in a clone.",))
        launch = os.path.join(where, "plugin", "launch.py")
        entry = {"command": handover.python(), "args": ["-I", "-S", launch, "mcp", "--client", _NAME]}
        change = edit_keys(_settings(self.folder(machine)), ((_KEY, entry),), "add the server")
        notes = (
            "Claude Desktop has Keepmum from its next start on.",
            f"It reads the server from {where}: keep that folder.",
        )
        return Plan((change,) if change else (), notes)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:  # noqa: ARG002 - as every client
        """None: it is installed for a user."""
        return ()

    def remains(self, machine: Machine) -> Iterable[str]:
        """What to do about a server that was added by hand."""
        if _entry(self.folder(machine)) is not None:
            yield f"Claude Desktop still has the server: {_settings(self.folder(machine))} named it before."
            yield f'  To take it out, remove "{_KEY[1]}" there.'

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """The server's entry, and who used it last."""
        place = self.folder(machine)
        if not self.is_here(machine):
            return [absent(_NAME, "Claude Desktop")]
        return [_registration(f"{_NAME} server entry", place), server(_NAME, _NAME, machine)]


def _registration(about: str, place: str) -> Finding:
    again = f"Run `keepmum install --client {_NAME}`."
    try:
        entry = _entry(place)
    except InstallError as error:
        return problem(about, f"{_settings(place)}: {error}", "Mend it.")
    if entry is None:
        return note(about, "there is none; a package that the app installed is not seen from here", again)
    arguments = entry.get("args") if isinstance(entry, dict) else None
    launch = str(arguments[2]) if isinstance(arguments, list) and len(arguments) > 2 else ""
    if not os.path.isfile(launch):
        return problem(about, f"its code at {launch or 'no place'} is gone", f"{again} Do so in another clone.")
    return ok(about, f"in {_settings(place)}")


def _entry(place: str) -> object:
    """The server's entry; None when there is none.

    Raises: InstallError when the file cannot be read.
    """
    servers = parse((files.read(_settings(place)) or b"{}").decode("utf-8", "replace")).get(_KEY[0])
    return servers.get(_KEY[1]) if isinstance(servers, dict) else None


def _settings(place: str) -> str:
    return os.path.join(place, "claude_desktop_config.json")
