"""Carries a plan out, and undoes what the journal tells of."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from keepmum_installers import files, formats
from keepmum_installers.blocks import Mark, take_out
from keepmum_installers.errors import FileChanged, InstallError, NotPlainJson
from keepmum_installers.given_back import given_back
from keepmum_installers.journal import Called, Edited, Inserted, Journal, Kept, Linked, Made, Record, Wrote
from keepmum_installers.machine import NOT_FOUND, Machine
from keepmum_installers.merge import is_blank
from keepmum_installers.plan import Call, Change, Link, Step

__all__ = ["Undone", "carry_out", "describe", "undo"]

# A client clones the marketplace's repository during the call; its own limit is two minutes.
_CALL_SECONDS = 150


def carry_out(steps: Sequence[Step], journal: Journal, machine: Machine) -> None:
    """Does each step and writes it down.

    Raises: FileChanged when a file is no longer what the plan was made for: plan again; InstallError otherwise.
    """
    for step in steps:
        if isinstance(step, Change):
            _change(step, journal)
        elif isinstance(step, Link):
            _link(step, journal)
        else:
            _call(step, journal, machine)


def _change(change: Change, journal: Journal) -> None:
    folder = os.path.dirname(change.path)
    for missing in files.missing(folder):
        _make(missing, journal)
    if change.undo is None:
        files.replace(change.path, change.before, change.after, change.mode)
        journal.add(Wrote(change.path, files.digest(change.after) or ""))
        return
    backup = journal.back_up(change.path, files.read(change.path))
    files.replace(change.path, change.before, change.after, change.mode)
    created = change.before is None
    if isinstance(change.undo, Mark):
        journal.add(Inserted(change.path, change.undo, created=created, backup=backup))
    else:
        journal.add(Edited(change.path, change.undo, created=created, backup=backup))


def _link(link: Link, journal: Journal) -> None:
    try:
        os.symlink(link.target, link.path)
    except FileExistsError:
        raise FileChanged(f"somebody else made {link.path} meanwhile", "Run this again.") from None
    except OSError as error:
        raise InstallError(f"could not link {link.path}: {error.strerror}", f"Call {link.target} instead.") from None
    journal.add(Linked(link.path, link.target))


def _make(folder: str, journal: Journal) -> None:
    try:
        os.mkdir(folder)
    except FileExistsError:
        return
    except OSError as error:
        raise InstallError(f"could not make {folder}: {error.strerror}", "Check its permissions.") from None
    journal.add(Made(folder))


def _call(call: Call, journal: Journal, machine: Machine) -> None:
    """Runs a command of the client; it is written down before, since it takes seconds in which a user may interrupt."""
    journal.keep(call.settings, files.read(call.settings), call.client)
    for folder in call.leaves:
        if not os.path.isdir(folder):
            journal.add(Made(folder))
    record = Called(call.client, call.what, call.undo)
    is_new = bool(call.undo) and journal.add(record)
    done = machine.run((call.program, *call.arguments), _CALL_SECONDS)
    if done.code == 0:
        return
    if is_new:
        journal.remove(record)
    command = " ".join((os.path.basename(call.program), *call.arguments))
    raise InstallError(f"`{command}` failed: {done.sentence}", "Mend what it names, then run the installer again.")


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of one record: what was done, or the problem that left it in place."""

    said: str = ""
    problem: InstallError | None = None


def undo(
    journal: Journal, machine: Machine, program: Callable[[str], str | None], wanted: Callable[[Record], bool]
) -> list[Undone]:
    """Undoes every wanted record, newest first; one that fails stays in the journal, and the others go on.

    While a client could not take its own keys out of its settings, these are not given back yet either.
    """
    results: list[Undone] = []
    waiting: set[str] = set()
    for record in filter(wanted, journal.newest_first()):
        if isinstance(record, Kept) and (record.client in waiting or (waiting and not record.client)):
            continue
        try:
            results.append(Undone(_undo(record, machine, program)))
        except InstallError as error:
            results.append(Undone(problem=error))
            waiting |= {record.client} if isinstance(record, Called) else set()
        else:
            journal.remove(record)
    return [result for result in results if result.said or result.problem]


def describe(record: Record) -> str:
    """What undoing the record would do, in a few words."""
    match record:
        case Edited(path) | Inserted(path) | Kept(path):
            return f"restore {path}"
        case Called(client, _, arguments):
            return f"run for {client}: {' '.join(arguments)}"
        case Made(path) | Wrote(path) | Linked(path):
            return f"remove {path}"


def _undo(record: Record, machine: Machine, program: Callable[[str], str | None]) -> str:
    match record:
        case Made(path):
            with contextlib.suppress(OSError):  # somebody else's files are in it by now, or it has gone
                os.rmdir(path)
            return ""
        case Wrote(path, after):
            return _unwrite(path, after)
        case Linked(path, target):
            return _unlink(path, target)
        case Edited() | Inserted():
            return _unedit(record)
        case Kept():
            return _restore(record)
        case Called(client, _, arguments):
            return _uncall(program(client), arguments, machine)


def _unwrite(path: str, after: str) -> str:
    now = files.read(path)
    if now is None:
        return ""
    if files.digest(now) != after:
        raise InstallError(f"{path} was changed since it was installed", "Remove it yourself if you do not need it.")
    files.remove(path, after)
    return f"removed {path}"


def _unlink(path: str, target: str) -> str:
    if not os.path.islink(path) or os.readlink(path) != target:
        return ""
    os.unlink(path)
    return f"removed {path}"


def _unedit(record: Edited | Inserted) -> str:
    now = files.read(record.path)
    if now is None:
        return ""
    without, is_empty = _without_block(record, now) if isinstance(record, Inserted) else _without_keys(record, now)
    after = None if record.created and is_empty else without
    _put(record.path, now, after)
    _drop_backup(record.backup, after)
    return f"restored {record.path}" if after is not None else f"removed {record.path}"


def _without_keys(record: Edited, now: bytes) -> tuple[bytes, bool]:
    """The content without our keys, and whether nothing else is in it.

    Raises: InstallError when it can no longer be edited without harm.
    """
    form = formats.of(record.path)
    try:
        text = now.decode("utf-8")
        for step in reversed(record.undo):
            text = form.strip(text, step)
        return text.encode(), is_blank(text) or form.parse(text) == {}
    except (UnicodeDecodeError, NotPlainJson):
        keys = " and ".join(f'"{".".join(step.path)}"' for step in record.undo)
        raise InstallError(
            f"{record.path} is damaged, or no longer plain JSON, so it was left alone", f"Remove {keys} by hand."
        ) from None


def _without_block(record: Inserted, now: bytes) -> tuple[bytes, bool]:
    """The content without our block, and whether nothing else is in it; what is no UTF-8 any more keeps its bytes."""
    text = take_out(now.decode("utf-8", "surrogateescape"), record.mark)
    return text.encode("utf-8", "surrogateescape"), is_blank(text)


def _restore(record: Kept) -> str:
    """Gives the client's settings file its bytes and its mode back, where it says what it said before."""
    now = files.read(record.path)
    before = None if record.backup is None else files.read(record.backup)
    if now is not None and now != before:
        try:
            text, known = now.decode("utf-8"), None if before is None else before.decode("utf-8")
        except UnicodeDecodeError:
            return ""
        after = given_back(record.path, text, known)
        if after != known:
            _put(record.path, now, (after or "").encode())
            return f"took Keepmum out of {record.path}; what changed there since was kept{_copy(record)}"
        _put(record.path, now, before)
    _drop_backup(record.backup, before)
    if before is not None and record.mode is not None:
        with contextlib.suppress(OSError):
            os.chmod(record.path, record.mode)
    return "" if now is None or now == before else f"restored {record.path}"


def _copy(record: Kept) -> str:
    return f", and {record.backup} has it as it was before" if record.backup else ""


def _put(path: str, now: bytes, after: bytes | None) -> None:
    """Gives an existing file its new content; None takes it away."""
    if after is None:
        files.remove(path, files.digest(now))
    elif after != now:
        files.replace(path, files.digest(now), after, 0o600)


def _drop_backup(backup: str | None, restored: bytes | None) -> None:
    """Removes the copy once the file holds the same again; a copy that differs is the user's last resort."""
    if backup is not None and restored is not None and files.read(backup) == restored:
        os.unlink(backup)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(backup))


_GONE = ("not found", "is not configured or installed")  # of Claude Code, of Codex


def _uncall(program: str | None, arguments: Sequence[str], machine: Machine) -> str:
    if program is None:
        raise InstallError(
            f"the client is gone; `{' '.join(arguments)}` was not run", "When it is back, run this again."
        )
    done = machine.run((program, *arguments), _CALL_SECONDS)
    # What the user has taken out already need not be taken out again.
    if done.code not in {0, NOT_FOUND} and not any(words in done.sentence for words in _GONE):
        raise InstallError(
            f"`{os.path.basename(program)} {' '.join(arguments)}` failed: {done.sentence}", "Run it yourself."
        )
    return f"ran {os.path.basename(program)} {' '.join(arguments)}"
