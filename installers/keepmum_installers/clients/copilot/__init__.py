"""Copilot CLI, where Keepmum is a plugin from a marketplace that is a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from keepmum_installers import files
from keepmum_installers.clients.checks import interpreter, lately
from keepmum_installers.clients.client import Scope, Wish
from keepmum_installers.clients.copilot import manifests
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.merge import parse
from keepmum_installers.plan import Plan, edit_keys
from keepmum_installers.product import MARKETPLACE, PLUGIN, Product
from keepmum_installers.source import bundle_folder

__all__ = ["CopilotCli"]

_NAME = "copilot-cli"
_EVENTS = {"SessionStart": "session-start", "Stop": "stop", "PreToolUse": "guard"}
_SHOWN = "If you use Copilot CLI daily, see what /hooks shows in it."


class CopilotCli:
    """GitHub Copilot on the command line.

    Its own commands would leave a trace in its settings when they take the plugin out, and write nothing else; so the
    same two keys are set here, and taken out without a trace.
    """

    title = "Copilot CLI"
    scopes: tuple[Scope, ...] = ("user",)

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The plugin's manifest, its hooks in it; Visual Studio Code reads the same."""
        return manifests.render(product)

    def program(self, machine: Machine) -> str | None:
        """The path of `copilot`; nothing of ours calls it."""
        return machine.find("copilot")

    def is_here(self, machine: Machine) -> bool:
        """Whether the client has a folder here, or a command."""
        return os.path.isdir(self.folder(machine)) or self.program(machine) is not None

    def folder(self, machine: Machine) -> str:
        """`~/.copilot`, or where the user moved it."""
        return machine.environ.get("COPILOT_HOME") or os.path.join(machine.user_home, ".copilot")

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """The two keys that name marketplace and plugin.

        Raises: InstallError when a source was named that is none, or the settings cannot be edited without harm.
        """
        where = bundle_folder(wish.source, wish.root, machine.cwd)
        if where is None:
            return Plan(notes=_by_hand(wish.source or wish.product.repository))
        wanted = (
            (("extraKnownMarketplaces", MARKETPLACE), {"source": {"source": "directory", "path": where}}),
            (("enabledPlugins", PLUGIN), True),
        )
        change = edit_keys(_settings(self.folder(machine)), wanted, "switch the plugin on for you")
        notes = (
            "Copilot CLI has Keepmum from its next session on.",
            f"It reads the plugin from {where}: keep that folder.",
        )
        return Plan((change,) if change else (), notes)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:  # noqa: ARG002 - as every client
        """None: it is installed for a user."""
        return ()

    def remains(self, machine: Machine) -> Iterable[str]:
        """What to do about a plugin that was installed by hand."""
        if _enabled(self.folder(machine)) is True:
            yield "Copilot CLI still has the plugin: it was there before this installer, or was installed by hand."
            yield f"  To take it out: copilot plugin uninstall {PLUGIN}"

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """Plugin, interpreter, heartbeats, and who used the server."""
        if not self.is_here(machine):
            return [absent(_NAME, "Copilot CLI")]
        return _checks(self.folder(machine), machine)


def _checks(place: str, machine: Machine) -> Iterator[Finding]:
    yield ok(_NAME, f"at {place}")
    yield interpreter(_NAME, machine)
    yield _plugin(f"{_NAME} plugin", place)
    yield from lately(_NAME, _EVENTS, machine, _SHOWN)


def _plugin(about: str, place: str) -> Finding:
    try:
        enabled = _enabled(place)
    except InstallError as error:
        return problem(about, f"{_settings(place)}: {error}", "Mend it.")
    if enabled is not True:
        says = "the plugin is not installed" if enabled is None else "the plugin is switched off"
        return note(about, says, f"Run `keepmum install --client {_NAME}`.")
    return ok(about, f"switched on in {_settings(place)}")


def _enabled(place: str) -> object:
    """Whether the settings switch the plugin on or off; None when they do not mention it.

    Raises: InstallError when they cannot be read.
    """
    text = (files.read(_settings(place)) or b"{}").decode("utf-8", "replace")
    enabled = parse(text).get("enabledPlugins")
    return enabled.get(PLUGIN) if isinstance(enabled, dict) else None


def _settings(place: str) -> str:
    return os.path.join(place, "settings.json")


def _by_hand(where: str) -> tuple[str, ...]:
    return (
        "Copilot CLI takes a plugin from a repository by its own commands:",
        f"  copilot plugin marketplace add {where}",
        f"  copilot plugin install {PLUGIN}",
    )
