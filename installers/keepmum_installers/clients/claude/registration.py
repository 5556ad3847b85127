"""For one user: the client's own commands register the marketplace and install the plugin."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from keepmum_installers import files, handover
from keepmum_installers.clients.checks import interpreter
from keepmum_installers.clients.claude import command_line, places, staging
from keepmum_installers.clients.client import Wish
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Call, Plan, Step
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.source import Source, folder, github, parse_source

__all__ = ["plan", "remains", "source_of"]

_USER = ("--scope", "user")


def plan(wish: Wish, machine: Machine) -> Plan:
    """The files of the plugin, for a bundle on this machine, and the commands that register it for the user.

    Raises: InstallError when the client is not found, which says what to type in it, or the bundle is not whole.
    """
    source, claude = source_of(wish, machine), command_line.program(machine)
    if claude is None:
        raise InstallError("Claude Code was not found on PATH, so the plugin is not registered yet", _by_hand(source))
    python, code, steps = interpreter(places.NAME, machine), source, list[Step]()
    if source.kind == "directory":
        own, named = staging.folder(machine), places.PYTHON if python.level == "ok" else handover.python()
        steps += handover.changes(staging.texts(wish.product, source.where, named), own, "a part of the plugin")
        source = Source("directory", os.path.realpath(own))
    steps += _marketplace_calls(claude, source, machine)
    steps += _plugin_calls(claude, source, wish, machine)
    return Plan(tuple(steps), tuple(_notes(claude, code, python, machine)))


def source_of(wish: Wish, machine: Machine) -> Source:
    """What the user named, else the bundle that the installer runs from, else the public repository.

    Raises: InstallError when what the user named is no source.
    """
    if wish.source is not None:
        return parse_source(wish.source, machine.cwd)
    # The client's own copy of the plugin vanishes with the next update, so it is nothing to install from.
    if wish.root is None or files.lies_in(wish.root, places.settings_folder(machine)):
        return github(wish.product.repository)
    return folder(wish.root)


def remains(machine: Machine) -> Iterator[str]:
    """What to do about a plugin that was there before this installer, or was installed by hand.

    Raises: InstallError when the client does not say whether there is one.
    """
    claude = command_line.program(machine)
    if claude is not None and _own_entry(claude, machine) is not None:
        yield "Claude Code still has the plugin: it was there before this installer, or was installed by hand."
        yield f"  To take it out: claude plugin uninstall {PLUGIN}"


def _marketplace_calls(claude: str, source: Source, machine: Machine) -> Iterator[Call]:
    known = command_line.known_source(claude, machine)
    if known != source:
        yield _call(claude, machine)(
            what="marketplace",
            arguments=_add(source),
            why="make the plugin known",
            undo=_add(known) if known else ("plugin", "marketplace", "remove", MARKETPLACE),
        )


def _plugin_calls(claude: str, source: Source, wish: Wish, machine: Machine) -> Iterator[Call]:
    call, entry = _call(claude, machine), _own_entry(claude, machine)
    if entry is None or not entry.get("enabled"):
        yield call(
            what="plugin",
            arguments=("plugin", "install", PLUGIN, *_USER),
            why="switch it on for you",
            undo=("plugin", "uninstall" if entry is None else "disable", PLUGIN, *_USER),
        )
    elif source.kind != "directory" and entry.get("version") != wish.product.version:
        # A folder is read in place; of a repository the client runs the copy that it made when it last looked.
        look, take = ("plugin", "marketplace", "update", MARKETPLACE), ("plugin", "update", PLUGIN, *_USER)
        yield call(what="update", arguments=look, why=f"look for version {wish.product.version}", undo=())
        yield call(what="update", arguments=take, why="take it", undo=())


def _call(claude: str, machine: Machine) -> partial[Call]:
    return partial(Call, client=places.NAME, program=claude, settings=places.settings_file("user", machine))


def _add(source: Source) -> tuple[str, ...]:
    return ("plugin", "marketplace", "add", source.where)


def _own_entry(claude: str, machine: Machine) -> dict[str, object] | None:
    entries = command_line.entries(claude, machine)
    return next((entry for entry in entries if entry.get("id") == PLUGIN and entry.get("scope") == "user"), None)


def _by_hand(source: Source) -> str:
    return (
        "When it is there, run this installer again, or type in Claude Code:\n"
        f"  /plugin marketplace add {source.where}\n"
        f"  /plugin install {PLUGIN}"
    )


def _notes(claude: str, source: Source, python: Finding, machine: Machine) -> Iterator[str]:
    yield "Claude Code has Keepmum from its next session on; in one that is open, type /reload-plugins."
    if source.kind == "directory":
        yield f"It reads the plugin's code from {source.where}: keep that folder."
    if python.level != "ok" and source.kind == "directory":
        yield f"{python.says[:1].upper()}{python.says[1:]}; so the plugin names the Python that this installer runs on."
    elif python.level != "ok":
        yield f"Before that: {python.says}. {python.next_step}"
    version, whole = command_line.version(claude, machine), command_line.WHOLE_SINCE
    if version is not None and version < whole:
        before = command_line.dotted(whole)
        yield f"Claude Code before {before} shows the capture request as a problem; `claude update` mends that."
