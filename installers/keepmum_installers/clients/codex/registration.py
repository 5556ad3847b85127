"""For one user: the client's own commands register the marketplace and install the plugin.

They only append to `config.toml`, and keep its comments. `codex mcp add` would not, and dumping the file would not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial

from keepmum_installers import files, handover
from keepmum_installers.clients.client import Wish
from keepmum_installers.clients.codex import command_line, config, places, staging
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Call, Plan, Step
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.source import Source, github, parse_source

__all__ = ["plan", "remains", "wanted_texts"]

_INSTALL = ("plugin", "add", PLUGIN)


def plan(wish: Wish, machine: Machine) -> Plan:
    """The files of the plugin and the commands that register it for the user.

    Raises: InstallError when the client is missing or too old, when its settings cannot be edited, or when others
    have taken our names.
    """
    source = _source(wish, machine)
    codex = _program(machine, source)
    config.editable(places.config_file(machine))
    texts = wanted_texts(wish, machine) if source.where == staging.folder(machine) else {}
    known, entry = command_line.known_source(codex, machine), command_line.entry(codex, machine)
    _names_are_free(codex, known, source, entry, machine)
    steps: list[Step] = [*handover.changes(texts, staging.folder(machine), "a part of the plugin for Codex")]
    call = _call(codex, machine)
    if known is None:
        forget = ("plugin", "marketplace", "remove", MARKETPLACE)
        steps.append(call(what="marketplace", arguments=_add(source), why="make the plugin known", undo=forget))
    elif source.kind != "directory" and _is_behind(entry, wish):
        look = ("plugin", "marketplace", "upgrade", MARKETPLACE)
        steps.append(call(what="update", arguments=look, why=f"look for version {wish.product.version}", undo=()))
    if entry is None or _is_behind(entry, wish) or _copy_differs(texts, entry, machine):
        remove = ("plugin", "remove", PLUGIN)
        steps.append(call(what="plugin", arguments=_INSTALL, why="switch it on for you", undo=remove))
    return Plan(tuple(steps), tuple(_notes(wish, source)) if steps else ())


def wanted_texts(wish: Wish, machine: Machine) -> Mapping[str, str]:
    """The files of the plugin that is handed over; none where there is no folder of the bundle.

    Raises: InstallError when the bundle is not whole.
    """
    root = _root(wish, machine)
    return {} if root is None else staging.texts(wish.product, root)


def remains(machine: Machine) -> Iterator[str]:
    """What to do about a plugin that was there before this installer, or was installed by hand.

    Raises: InstallError when the client does not say whether there is one.
    """
    codex = command_line.program(machine)
    if codex is not None and command_line.entry(codex, machine) is not None:
        yield "Codex still has the plugin: it was there before this installer, or was installed by hand."
        yield f"  To take it out: codex plugin remove {PLUGIN}"


def _source(wish: Wish, machine: Machine) -> Source:
    """The plugin's own folder for a bundle on this machine, else a repository, which the client fetches itself.

    Raises: InstallError when what the user named is no source.
    """
    if _root(wish, machine) is not None:
        return Source("directory", staging.folder(machine))
    return github(wish.product.repository) if wish.source is None else parse_source(wish.source, machine.cwd)


def _root(wish: Wish, machine: Machine) -> str | None:
    """The folder of the bundle; None when it is to come from a repository."""
    if wish.source is None:
        # The client's own copy vanishes with the next update, so it is nothing to read code from.
        is_copy = wish.root is not None and files.lies_in(wish.root, places.folder(machine))
        return None if is_copy else wish.root
    source = parse_source(wish.source, machine.cwd)
    return source.where if source.kind == "directory" else None


def _program(machine: Machine, source: Source) -> str:
    codex = command_line.program(machine)
    if codex is None:
        raise InstallError(
            "Codex was not found on PATH, so the plugin is not registered yet",
            "When it is there, run this installer again"
            + ("." if source.kind == "directory" else f", or type:\n  {_typed(_add(source))}\n  {_typed(_INSTALL)}"),
        )
    version = command_line.version(codex, machine)
    if version is not None and version < command_line.OLDEST:
        oldest = command_line.dotted(command_line.OLDEST)
        raise InstallError(
            f"Codex {command_line.dotted(version)} is too old for plugins with hooks; nothing was done",
            f"Bring it to {oldest} or newer, with `codex update` or npm, then run this installer again.",
        )
    return codex


def _typed(arguments: tuple[str, ...]) -> str:
    return " ".join(("codex", *arguments))


def _names_are_free(
    codex: str, known: Source | None, wanted: Source, entry: Mapping[str, object] | None, machine: Machine
) -> None:
    if known is not None and known != _real(wanted):
        raise InstallError(
            f"Codex has another marketplace named {MARKETPLACE}, from {known.where}; nothing was done",
            f"Run `codex plugin remove {PLUGIN}` and `codex plugin marketplace remove {MARKETPLACE}`, then try again.",
        )
    # Of two servers with one name the client takes the user's, or that of the first plugin, and says nothing.
    name = places.SERVER
    own = config.read(places.config_file(machine)).get("mcp_servers")
    if isinstance(own, dict) and name in own:
        raise InstallError(
            f"{places.config_file(machine)} has an MCP server named {name}, which would hide the plugin's",
            f"Give it another name, or take it out with `codex mcp remove {name}`, then try again.",
        )
    if entry is None and name in command_line.servers(codex, machine):
        raise InstallError(
            f"another plugin of Codex has an MCP server named {name}, which would hide this one's",
            "`codex plugin list` shows the plugins; take that one out, then try again.",
        )


def _real(source: Source) -> Source:
    """The source as the client tells it, for which a link is the folder that it leads to."""
    return Source(source.kind, os.path.realpath(source.where)) if source.kind == "directory" else source


def _is_behind(entry: Mapping[str, object] | None, wish: Wish) -> bool:
    """Whether the client has an older copy from a repository, or has it switched off."""
    if entry is None:
        return False
    # What this installer hands over has no version.
    return not entry.get("enabled") or entry.get("version") not in {None, "local", wish.product.version}


def _copy_differs(texts: Mapping[str, str], entry: Mapping[str, object], machine: Machine) -> bool:
    """Whether the client's copy is not what would be handed over now."""
    return bool(texts) and handover.differs(texts, places.copy_of_plugin(machine, str(entry.get("version") or "local")))


def _call(codex: str, machine: Machine) -> partial[Call]:
    return partial(
        Call,
        client=places.NAME,
        program=codex,
        settings=places.config_file(machine),
        leaves=places.folders_left_behind(machine),
    )


def _add(source: Source) -> tuple[str, ...]:
    return ("plugin", "marketplace", "add", source.where)


def _notes(wish: Wish, source: Source) -> Iterator[str]:
    yield "Codex has Keepmum's tools from its next session on."
    yield "Its hooks, for briefing, reminder and guard, run once you have said yes to them:"
    yield "  start `codex`, review them and choose to trust them, or type /hooks. `keepmum doctor` says how they stand."
    yield "  Codex asks again whenever a file of the plugin has changed; unattended runs skip hooks without a word."
    if source.kind == "directory" and wish.root is not None:
        yield f"Codex reads the code from {wish.root}: keep that folder."
