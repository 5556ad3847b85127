"""Installation for one user: the client's commands register the marketplace and install the plugin."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from keepmum_installers import files, local_plugin
from keepmum_installers.clients.checks import dotted, interpreter
from keepmum_installers.clients.claude import command_line, manifests, settings
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Command, Plan, Step
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.source import Source

__all__ = ["plan", "remains", "source_of"]

_USER = ("--scope", "user")
_STARTS = "Claude Code has Keepmum from its next session on; in an open one, type /reload-plugins."


def plan(spec: InstallSpec, machine: Machine) -> Plan:
    """The files of the generated plugin, for a bundle on this machine, and the commands that register it.

    Raises: InstallError when the client is not found, with the commands to type in it, or the bundle is incomplete.
    """
    source, claude = source_of(spec, machine), command_line.program(machine)
    if claude is None:
        raise InstallError("Claude Code was not found on PATH, so the plugin is not registered yet", _by_hand(source))
    python, code, steps = interpreter(settings.NAME, machine), source, list[Step]()
    if source.kind == "directory":
        own, program = (
            manifests.plugin_folder(machine),
            settings.PYTHON if python.level == "ok" else local_plugin.interpreter(),
        )
        steps += local_plugin.changes(
            manifests.plugin_files(spec.product, source.where, program), own, "the plugin for Claude Code"
        )
        source = Source("directory", os.path.realpath(own))
    steps += _marketplace_calls(claude, source, machine)
    steps += _plugin_calls(claude, source, spec, machine)
    reads = code.where if code.kind == "directory" else None
    return Plan(tuple(steps), tuple(_notes(claude, code, python, machine)), _STARTS, reads=reads)


def source_of(spec: InstallSpec, machine: Machine) -> Source:
    """The source that the user named, else the bundle that the installer runs from, else the public repository.

    Raises: InstallError when the named source is not valid.
    """
    # The next update deletes the client's copy of the plugin, so nothing can be installed from it.
    if spec.source is not None or spec.root is None or files.lies_in(spec.root, settings.settings_folder(machine)):
        return spec.shared_source(machine.cwd)
    return Source("directory", spec.root)


def remains(machine: Machine) -> Iterator[str]:
    """How to remove a plugin that was there before this installer, or was installed by hand.

    Raises: InstallError when the client does not answer.
    """
    claude = command_line.program(machine)
    if claude is not None and _is_mentioned(machine) and _own_entry(claude, machine) is not None:
        yield "Claude Code still has the plugin: it was there before this installer, or was installed by hand."
        yield f"  To remove it: claude plugin uninstall {PLUGIN}"


def _is_mentioned(machine: Machine) -> bool:
    """Whether a file of the client names the plugin; without one there is no reason to start the client."""
    paths = (settings.settings_file("user", machine), *settings.plugin_lists(machine))
    return any(PLUGIN.encode() in (files.read(path) or b"") for path in paths)


def _marketplace_calls(claude: str, source: Source, machine: Machine) -> Iterator[Command]:
    known = command_line.known_source(claude, machine)
    if known != source:
        yield _command(claude, source, machine)(
            what="marketplace",
            arguments=_add(source),
            why="make the plugin known",
            undo=_add(known) if known else ("plugin", "marketplace", "remove", MARKETPLACE),
        )


def _plugin_calls(claude: str, source: Source, spec: InstallSpec, machine: Machine) -> Iterator[Command]:
    command, entry = _command(claude, source, machine), _own_entry(claude, machine)
    if entry is None or not entry.get("enabled"):
        yield command(
            what="plugin",
            arguments=("plugin", "install", PLUGIN, *_USER),
            why="switch it on for you",
            undo=("plugin", "uninstall" if entry is None else "disable", PLUGIN, *_USER),
        )
    elif source.kind != "directory" and entry.get("version") != spec.product.version:
        # A folder is read in place; of a repository the client runs the copy of its last update.
        refresh, update = ("plugin", "marketplace", "update", MARKETPLACE), ("plugin", "update", PLUGIN, *_USER)
        yield command(what="update", arguments=refresh, why=f"look for version {spec.product.version}", undo=())
        yield command(what="update", arguments=update, why="install it", undo=())


def _command(claude: str, source: Source, machine: Machine) -> partial[Command]:
    folder = settings.settings_folder(machine)
    plugins = os.path.join(folder, "plugins")
    caches = os.path.join(plugins, "cache")
    return partial(
        Command,
        client=settings.NAME,
        program=claude,
        settings=settings.settings_file("user", machine),
        state=settings.plugin_lists(machine),
        leaves=(folder, plugins, caches, os.path.join(plugins, "marketplaces")),
        # A generated plugin has no code, and is read in its own folder: open sessions do not use the copy.
        copies=(os.path.join(caches, MARKETPLACE),) if source.kind == "directory" else (),
    )


def _add(source: Source) -> tuple[str, ...]:
    return ("plugin", "marketplace", "add", source.where)


def _own_entry(claude: str, machine: Machine) -> dict[str, object] | None:
    entries = command_line.entries(claude, machine)
    return next((entry for entry in entries if entry.get("id") == PLUGIN and entry.get("scope") == "user"), None)


def _by_hand(source: Source) -> str:
    return (
        "Once it is installed, run this installer again, or type in Claude Code:\n"
        f"  /plugin marketplace add {source.where}\n"
        f"  /plugin install {PLUGIN}"
    )


def _notes(claude: str, source: Source, python: Finding, machine: Machine) -> Iterator[str]:
    if python.level != "ok" and source.kind == "directory":
        yield f"{python.says[:1].upper()}{python.says[1:]}; so the plugin uses the Python of this installer."
    elif python.level != "ok":
        yield f"Before that: {python.says}. {python.next_step}"
    version, whole = command_line.version(claude, machine), command_line.WHOLE_SINCE
    if version is not None and version < whole:
        before = dotted(whole)
        yield f"Claude Code before {before} shows the capture request as a problem; `claude update` fixes that."
