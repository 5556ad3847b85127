"""Installation for one user: the client's commands register the marketplace and install the plugin.

They only append to `config.toml` and keep its comments; `codex mcp add` would lose them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial

from keepmum_installers import files, local_plugin
from keepmum_installers.clients.checks import dotted
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.codex import command_line, manifests, settings
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Command, Plan, Step
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.source import Source, parse_source

__all__ = ["plan", "plugin_files", "remains"]

_INSTALL = ("plugin", "add", PLUGIN)


def plan(spec: InstallSpec, machine: Machine) -> Plan:
    """The files of the generated plugin and the commands that register it for the user.

    Raises: InstallError when the client is missing or too old, its settings cannot be edited, or our names are taken.
    """
    source = _source(spec, machine)
    codex = _program(machine, source)
    settings.check_editable(settings.config_file(machine))
    texts = plugin_files(spec, machine) if source.where == manifests.plugin_folder(machine) else {}
    known, entry = command_line.known_source(codex, machine), command_line.entry(codex, machine)
    _check_names(codex, known, source, entry, machine)
    steps: list[Step] = [*local_plugin.changes(texts, manifests.plugin_folder(machine), "the plugin for Codex")]
    command = _command(codex, machine)
    if known is None:
        unregister = ("plugin", "marketplace", "remove", MARKETPLACE)
        steps.append(command(what="marketplace", arguments=_add(source), why="make the plugin known", undo=unregister))
    elif source.kind != "directory" and _is_outdated(entry, spec):
        upgrade = ("plugin", "marketplace", "upgrade", MARKETPLACE)
        steps.append(command(what="update", arguments=upgrade, why=f"look for version {spec.product.version}", undo=()))
    if entry is None or _is_outdated(entry, spec) or _copy_differs(texts, entry, machine):
        remove = ("plugin", "remove", PLUGIN)
        steps.append(command(what="plugin", arguments=_INSTALL, why="switch it on for you", undo=remove))
    if not steps:
        return Plan()
    return Plan(tuple(steps), starts=_STARTS, closing=_TRUST, reads=_root(spec, machine))


def plugin_files(spec: InstallSpec, machine: Machine) -> Mapping[str, str]:
    """The files of the generated plugin; none when the bundle is not a folder on this machine.

    Raises: InstallError when the bundle is incomplete.
    """
    root = _root(spec, machine)
    return {} if root is None else manifests.plugin_files(spec.product, root)


def remains(machine: Machine) -> Iterator[str]:
    """How to remove a plugin that was there before this installer, or was installed by hand.

    Raises: InstallError when the client does not answer.
    """
    codex = command_line.program(machine)
    # Without a mention in its settings there is no reason to start the client.
    if codex is None or PLUGIN.encode() not in (files.read(settings.config_file(machine)) or b""):
        return
    if command_line.entry(codex, machine) is not None:
        yield "Codex still has the plugin: it was there before this installer, or was installed by hand."
        yield f"  To remove it: codex plugin remove {PLUGIN}"


def _source(spec: InstallSpec, machine: Machine) -> Source:
    """The folder of the generated plugin for a bundle on this machine, else a repository, which the client fetches.

    Raises: InstallError when the named source is not valid.
    """
    if _root(spec, machine) is not None:
        return Source("directory", manifests.plugin_folder(machine))
    return spec.shared_source(machine.cwd)


def _root(spec: InstallSpec, machine: Machine) -> str | None:
    """The folder of the bundle; None when the plugin comes from a repository."""
    if spec.source is None:
        # The next update deletes the client's copy, so no code can be read from it.
        is_copy = spec.root is not None and files.lies_in(spec.root, settings.folder(machine))
        return None if is_copy else spec.root
    source = parse_source(spec.source, machine.cwd)
    return source.where if source.kind == "directory" else None


def _program(machine: Machine, source: Source) -> str:
    codex = command_line.program(machine)
    if codex is None:
        by_hand = f", or type:\n  {_typed(_add(source))}\n  {_typed(_INSTALL)}"
        by_hand = "." if source.kind == "directory" else by_hand
        raise InstallError(
            "Codex was not found on PATH, so the plugin is not registered yet",
            "Once it is installed, run this installer again"
            + ("." if source.kind == "directory" else f", or type:\n  {_typed(_add(source))}\n  {_typed(_INSTALL)}"),
        )
    version = command_line.version(codex, machine)
    if version is not None and version < command_line.OLDEST:
        oldest = dotted(command_line.OLDEST)
        raise InstallError(
            f"Codex {dotted(version)} is too old for plugins with hooks; nothing was done",
            f"Update it to {oldest} or newer, with `codex update` or npm, then run this installer again.",
        )
    return codex


def _typed(arguments: tuple[str, ...]) -> str:
    return " ".join(("codex", *arguments))


def _check_names(
    codex: str, known: Source | None, wanted: Source, entry: Mapping[str, object] | None, machine: Machine
) -> None:
    if known is not None and known != _resolved(wanted):
        raise InstallError(
            f"Codex has another marketplace named {MARKETPLACE}, from {known.where}; nothing was done",
            f"Run `codex plugin remove {PLUGIN}` and `codex plugin marketplace remove {MARKETPLACE}`, then try again.",
        )
    # Of two servers with one name the client silently uses the user's, or that of the first plugin.
    name = settings.SERVER
    own = settings.read(settings.config_file(machine)).get("mcp_servers")
    if isinstance(own, dict) and name in own:
        raise InstallError(
            f"{settings.config_file(machine)} has an MCP server named {name}, which would hide the plugin's",
            f"Rename it, or remove it with `codex mcp remove {name}`, then try again.",
        )
    if entry is None and name in command_line.servers(codex, machine):
        raise InstallError(
            f"another plugin of Codex has an MCP server named {name}, which would hide this one's",
            "`codex plugin list` shows the plugins; remove that one, then try again.",
        )


def _resolved(source: Source) -> Source:
    """The source as the client reports it, with symbolic links resolved."""
    return Source(source.kind, os.path.realpath(source.where)) if source.kind == "directory" else source


def _is_outdated(entry: Mapping[str, object] | None, spec: InstallSpec) -> bool:
    """Whether the client has an older copy from a repository, or has the plugin switched off."""
    if entry is None:
        return False
    # The generated plugin has no version.
    return not entry.get("enabled") or entry.get("version") not in {None, "local", spec.product.version}


def _copy_differs(texts: Mapping[str, str], entry: Mapping[str, object], machine: Machine) -> bool:
    """Whether the client's copy differs from the plugin that would be generated now."""
    return bool(texts) and local_plugin.differs(
        texts, settings.copy_of_plugin(machine, str(entry.get("version") or "local"))
    )


def _command(codex: str, machine: Machine) -> partial[Command]:
    return partial(
        Command,
        client=settings.NAME,
        program=codex,
        settings=settings.config_file(machine),
        leaves=settings.folders_left_behind(machine),
    )


def _add(source: Source) -> tuple[str, ...]:
    return ("plugin", "marketplace", "add", source.where)


_STARTS = "Codex has Keepmum's tools from its next session on."
_TRUST = (
    "You still have to: start `codex` and choose to trust Keepmum's hooks when it asks, or type /hooks.",
    "  Until then Codex runs no briefing, reminder and guard. It asks again when a file of the plugin has changed.",
)
