"""Visual Studio Code, which reads the same plugin as Copilot CLI: from a folder, by one of its settings.

Source: https://code.visualstudio.com/docs/copilot/customization/agent-plugins, read 2026-11-21; and
https://github.com/microsoft/vscode/blob/main/src/vs/platform/agentPlugins/common/pluginParsers.ts, read 2026-11-21.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping

from keepmum_installers import files
from keepmum_installers.clients.checks import interpreter, lately
from keepmum_installers.clients.client import Scope, Wish
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, edit_keys
from keepmum_installers.product import Product
from keepmum_installers.repository import repository
from keepmum_installers.source import bundle_folder

__all__ = ["VisualStudioCode"]

_NAME = "vscode"
_LOCATIONS = "chat.pluginLocations"
_EVENTS = {"SessionStart": "session-start", "Stop": "stop", "PreToolUse": "guard"}
_SHOWN = "If you use its agent daily, look whether the setting chat.plugins.enabled is on."


class VisualStudioCode:
    """The editor's own agent."""

    title = "Visual Studio Code"
    scopes: tuple[Scope, ...] = ("user", "project")

    def manifests(self, product: Product) -> Mapping[str, object]:  # noqa: ARG002 - as every client
        """None of its own: see Copilot CLI."""
        return {}

    def program(self, machine: Machine) -> str | None:
        """The path of `code`; nothing of ours calls it."""
        return machine.find("code")

    def is_here(self, machine: Machine) -> bool:
        """Whether the editor keeps settings here."""
        return os.path.isdir(self.folder(machine))

    def folder(self, machine: Machine) -> str:
        """Where the editor keeps its user's settings.

        Source: https://code.visualstudio.com/docs/configure/settings, read 2026-11-21
        """
        if sys.platform == "darwin":
            return os.path.join(machine.user_home, "Library", "Application Support", "Code", "User")
        if os.name == "nt":
            return os.path.join(machine.environ.get("APPDATA") or machine.user_home, "Code", "User")
        config = machine.environ.get("XDG_CONFIG_HOME") or os.path.join(machine.user_home, ".config")
        return os.path.join(config, "Code", "User")

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """For the user: the plugin's folder in the settings. For a project: the server in `.vscode/mcp.json`.

        Raises: InstallError when a source was named that is none, or a project's file cannot be edited without harm.
        """
        if wish.scope == "project":
            entry = {"type": "stdio", "command": "keepmum", "args": ["mcp", "--client", _NAME]}
            (path,) = self.repository_files(wish.scope, machine)
            change = edit_keys(path, ((("servers", "keepmum"), entry),), "the server in VS Code, for the team")
            return Plan((change,) if change else (), closing=_FOR_TEAMMATES)
        where = bundle_folder(wish.source, wish.root, machine.cwd)
        if where is None:
            return Plan(notes=("VS Code reads a plugin from a folder: run this installer in a clone of Keepmum.",))
        wanted = (((_LOCATIONS, where), True),)
        try:
            change = edit_keys(_settings(self.folder(machine)), wanted, "name the plugin's folder")
        except InstallError as error:  # many of these files have comments, which is no fault of anybody
            return Plan(notes=(f"VS Code: {error}", *error.next_step.split("\n")))
        notes = (
            "VS Code has Keepmum from its next start on.",
            f"It reads the plugin from {where}: keep that folder.",
        )
        return Plan((change,) if change else (), notes)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """The servers of the repository; none for you alone."""
        return (os.path.join(repository(machine), ".vscode", "mcp.json"),) if scope == "project" else ()

    def remains(self, machine: Machine) -> Iterable[str]:  # noqa: ARG002 - as every client
        """Nothing: what its user wrote by hand may have comments, and is not looked into."""
        return ()

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """Setting, interpreter, heartbeats, and who used the server."""
        if not self.is_here(machine):
            return [absent(_NAME, "Visual Studio Code")]
        return _checks(self.folder(machine), machine)


def _checks(place: str, machine: Machine) -> Iterator[Finding]:
    about, text = f"{_NAME} plugin", (files.read(_settings(place)) or b"").decode("utf-8", "replace")
    if _LOCATIONS in text and "keepmum" in text:
        yield ok(about, f"named in {_settings(place)}")
    else:
        yield note(about, f"{_settings(place)} does not name it", f"Run `keepmum install --client {_NAME}`.")
    yield interpreter(_NAME, machine)
    yield from lately(_NAME, _EVENTS, machine, _SHOWN)


def _settings(place: str) -> str:
    return os.path.join(place, "settings.json")


_FOR_TEAMMATES = (
    "For VS Code a teammate has to, once:",
    "  1. run `sh installers/install.sh` in a clone of Keepmum, which makes the `keepmum` command",
    "  2. open the repository, trust it, and start the server when VS Code offers to",
)
