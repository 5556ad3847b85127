"""Uninstalling: undo the records of the journal, remove generated files, and keep the memories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from keepmum_installers import apply, files, leftovers, team
from keepmum_installers.app import placing
from keepmum_installers.clients import CLIENTS
from keepmum_installers.clients.client import Scope
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.journal import Called, Copied, Journal, Kept, Linked, Record
from keepmum_installers.locking import locked
from keepmum_installers.machine import Machine
from keepmum_installers.product import install_script, own_folder

__all__ = ["Options", "uninstall"]


@dataclass(frozen=True, slots=True)
class Options:
    """What to remove: everything, or the files of one scope in the repository around the working folder."""

    scope: Scope | None = None
    purge: bool = False
    yes: bool = False
    dry_run: bool = False


def uninstall(options: Options, machine: Machine, console: Console) -> int:
    """The exit code: 0 when everything was removed.

    Raises: InstallError when nothing was done.
    """
    wanted = _wanted(options.scope, machine)
    if options.dry_run:
        return _show(options, machine, wanted, console)
    if not os.path.isdir(machine.home):
        console.say(f"Nothing to remove: there is no {machine.home}.")
        return 0
    if options.purge and not options.yes and not console.ask(_QUESTION.format(len(leftovers.memories(machine)))):
        raise InstallError("nothing was removed: this deletes all memories permanently", "Repeat it with --yes.")
    failed = _undo(machine, wanted, console)
    if options.scope in {None, "user"}:
        leftovers.clear(machine)
        _say_memories(options, machine, console)
    if failed:
        console.say(_UNFINISHED.format(install_script(own_folder()[0])))
    elif options.scope in {None, "user"}:
        _say_remains(machine, console)
    else:
        console.say("This repository's settings no longer mention Keepmum, as far as this installer added it.")
    if options.scope in {None, "user"} and not failed:
        placing.remove(machine.home)  # last: this code may run from there
        leftovers.remove_if_empty(machine.home)
    return 1 if failed else 0


_UNFINISHED = "Not everything could be undone. The rest is recorded: fix the errors above, then run: {} --uninstall"
_QUESTION = "Delete all memories, their backups and your settings permanently ({} files)?"


def _wanted(scope: Scope | None, machine: Machine) -> Callable[[Record], bool]:
    """A filter for the records of the scope."""
    if scope is None:
        return lambda _: True
    if scope == "user":
        links = os.path.join(machine.user_home, ".local")
        own = (machine.home, links, *(client.folder(machine) for client in CLIENTS.values()))
        return lambda record: (
            isinstance(record, (Called, Copied, Kept, Linked)) or any(_is_within(record.path, folder) for folder in own)
        )
    able = [client for client in CLIENTS.values() if scope in client.scopes]
    paths = {path for client in able for path in client.repository_files(scope, machine)}
    paths.update(team.common_files(machine) if scope == "project" else ())
    paths.update(folder for path in tuple(paths) for folder in _folders_of(path, machine.repository))
    return lambda record: not isinstance(record, (Called, Copied, Kept, Linked)) and record.path in paths


def _is_within(path: str, folder: str) -> bool:
    """Compared by name, without resolving links: a settings file may link to another folder."""
    return path == folder or path.startswith(folder + os.sep)


def _folders_of(path: str, top: str) -> Iterator[str]:
    """The folders between the top of the repository and the file, innermost first."""
    while _is_within(path := os.path.dirname(path), top) and path != top:
        yield path


def _undo(machine: Machine, wanted: Callable[[Record], bool], console: Console) -> bool:
    """Undo the wanted records; True when one could not be undone."""
    files.private_folder(machine.state())
    with locked(machine.home):
        done = apply.undo(Journal(machine.home), machine, wanted)
    for each in done:
        if each.problem:
            console.problem(each.problem)
        else:
            console.say(f"  {each.done}")
    return any(each.problem for each in done)


def _show(options: Options, machine: Machine, wanted: Callable[[Record], bool], console: Console) -> int:
    records = [record for record in Journal(machine.home).newest_first() if wanted(record)]
    console.say("To undo:" if records else "Nothing was installed from here.")
    for record in records:
        console.say(f"  {apply.describe(record)}")
    if options.purge:
        for path in leftovers.memories(machine):
            console.say(f"  remove {path}")
    console.say("Nothing was changed: this was a dry run.")
    return 0


def _say_memories(options: Options, machine: Machine, console: Console) -> None:
    outside = leftovers.elsewhere(machine)
    if options.purge:
        console.say(f"Memories, backups and settings were deleted: {leftovers.purge(machine)} files.")
    elif leftovers.memories(machine):
        console.say(f"Memories and settings stay in {machine.home}.")
        console.say("To remove them too, delete that folder.")  # the command `keepmum` is removed
    shared = os.path.join(machine.user_home, ".koi", "registry.json")
    if os.path.isfile(shared):
        console.say(f"{shared} stays: it lists projects with Markdown memories, and Koi reads it too.")
    if outside:
        console.say(f"The memories in {outside} stay: your settings put them outside Keepmum's home.")


def _say_remains(machine: Machine, console: Console) -> None:
    """Print what is still installed because another person or program installed it, and that the rest is removed."""
    for client in CLIENTS.values():
        try:
            for line in client.remains(machine):
                console.say(line)
        except InstallError as error:
            console.problem(error)
    console.say("Keepmum is removed. Open sessions keep it until they end.")
