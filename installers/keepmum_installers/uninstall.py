"""Removing: undo what the journal tells of, clear away what can be made anew, and leave the memories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from keepmum_installers import apply, files, leftovers, team
from keepmum_installers.clients import CLIENTS
from keepmum_installers.clients.client import Scope
from keepmum_installers.errors import InstallError
from keepmum_installers.journal import Called, Journal, Kept, Linked, Record
from keepmum_installers.locking import locked
from keepmum_installers.machine import Machine
from keepmum_installers.repository import repository
from keepmum_installers.voice import Voice

__all__ = ["Options", "uninstall"]


@dataclass(frozen=True, slots=True)
class Options:
    """What the user wants removed: everything, or what one scope has in the repository around the working folder."""

    scope: Scope | None = None
    purge: bool = False
    yes: bool = False
    dry_run: bool = False


def uninstall(options: Options, machine: Machine, voice: Voice) -> int:
    """The exit code: 0 when nothing that was to be removed is left.

    Raises: InstallError when nothing was done at all.
    """
    wanted = _wanted(options.scope, machine)
    if options.dry_run:
        return _show(options, machine, wanted, voice)
    if not os.path.isdir(machine.home):
        voice.say(f"Nothing to remove: there is no {machine.home}.")
        return 0
    if options.purge and not options.yes and not voice.ask(_QUESTION.format(len(leftovers.memories(machine)))):
        raise InstallError("nothing was removed: the memories would have gone for good", "Repeat it with --yes.")
    failed = _undo(machine, wanted, voice)
    if options.scope in {None, "user"}:
        leftovers.clear(machine)
        _say_memories(options, machine, voice)
    if failed:
        voice.say(_UNFINISHED)
    elif options.scope in {None, "user"}:
        _say_remains(machine, voice)
    else:
        voice.say("This repository's settings no longer mention Keepmum, as far as this installer put it there.")
    return 1 if failed else 0


_UNFINISHED = "Not everything could be undone. What is left is written down: mend what was named, then run this again."
_QUESTION = "Remove all memories, their backups and your settings for good ({} files)?"


def _wanted(scope: Scope | None, machine: Machine) -> Callable[[Record], bool]:
    """Which records the scope means."""
    if scope is None:
        return lambda _: True
    if scope == "user":
        own = (machine.home, *(client.folder(machine) for client in CLIENTS.values()))
        return lambda record: (
            isinstance(record, (Called, Kept, Linked)) or any(_is_within(record.path, folder) for folder in own)
        )
    able = [client for client in CLIENTS.values() if scope in client.scopes]
    paths = {path for client in able for path in client.repository_files(scope, machine)}
    paths.update(team.common_files(machine) if scope == "project" else ())
    paths.update(folder for path in tuple(paths) for folder in _folders_of(path, repository(machine)))
    return lambda record: not isinstance(record, (Called, Kept, Linked)) and record.path in paths


def _is_within(path: str, folder: str) -> bool:
    """By name alone: a settings file may be a link to somewhere else."""
    return path == folder or path.startswith(folder + os.sep)


def _folders_of(path: str, top: str) -> Iterator[str]:
    """The folders between the repository's top and the file."""
    while _is_within(path := os.path.dirname(path), top) and path != top:
        yield path


def _undo(machine: Machine, wanted: Callable[[Record], bool], voice: Voice) -> bool:
    """Whether something could not be undone."""
    files.private_folder(machine.state())
    with locked(machine.home):
        done = apply.undo(Journal(machine.home), machine, _program(machine), wanted)
    for each in done:
        if each.problem:
            voice.problem(each.problem)
        else:
            voice.say(f"  {each.said}")
    return any(each.problem for each in done)


def _program(machine: Machine) -> Callable[[str], str | None]:
    return lambda client: CLIENTS[client].program(machine) if client in CLIENTS else None


def _show(options: Options, machine: Machine, wanted: Callable[[Record], bool], voice: Voice) -> int:
    records = [record for record in Journal(machine.home).newest_first() if wanted(record)]
    voice.say("To undo:" if records else "Nothing was installed from here.")
    for record in records:
        voice.say(f"  {apply.describe(record)}")
    if options.purge:
        for path in leftovers.memories(machine):
            voice.say(f"  remove {path}")
    voice.say("Nothing was changed: this was a dry run.")
    return 0


def _say_memories(options: Options, machine: Machine, voice: Voice) -> None:
    outside = leftovers.elsewhere(machine)
    if options.purge:
        voice.say(f"Memories, backups and settings are gone: {leftovers.purge(machine)} files.")
    elif leftovers.memories(machine):
        voice.say(f"Memories and settings stay in {machine.home}; --uninstall --purge removes them too.")
    shared = os.path.join(machine.user_home, ".koi", "registry.json")
    if os.path.isfile(shared):
        voice.say(f"{shared} stays: it lists projects with Markdown memories, and Koi reads it, too.")
    if outside:
        voice.say(f"The memories in {outside} stay: your settings put them outside Keepmum's home.")


def _say_remains(machine: Machine, voice: Voice) -> None:
    """Says that all is done, and names what somebody else installed, which is therefore not ours to take out."""
    for client in CLIENTS.values():
        try:
            for line in client.remains(machine):
                voice.say(line)
        except InstallError as error:
            voice.problem(error)
    voice.say("Keepmum is removed. Sessions that are open keep it until they end.")
