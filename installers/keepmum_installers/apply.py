"""Executes the steps of a plan, and undoes the records of the journal."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from keepmum.system import private_files
from keepmum_installers import files, formats
from keepmum_installers.blocks import Mark, remove
from keepmum_installers.clients import CLIENTS
from keepmum_installers.errors import FileChanged, InstallError, UneditableFile
from keepmum_installers.journal import Called, Copied, Edited, Inserted, Journal, Kept, Linked, Made, Record, Wrote
from keepmum_installers.json_edit import is_blank
from keepmum_installers.machine import NOT_FOUND, Machine, Outcome
from keepmum_installers.plan import Change, Command, Link, Step
from keepmum_installers.restore import restored

__all__ = ["UndoResult", "carry_out", "describe", "undo"]

# A client clones the marketplace's repository during the command, with a limit of two minutes.
_COMMAND_SECONDS = 150


def carry_out(steps: Sequence[Step], journal: Journal, machine: Machine) -> None:
    """Execute each step and record it in the journal.

    Raises: FileChanged when a file is no longer the one that the plan was made for: plan again; InstallError otherwise.
    """
    for step in steps:
        if isinstance(step, Change):
            _change(step, journal)
        elif isinstance(step, Link):
            _link(step, journal)
        else:
            _run(step, journal, machine)


def _change(change: Change, journal: Journal) -> None:
    for missing in private_files.missing_folders(os.path.dirname(change.path)):
        _make_folder(missing, journal)
    if change.undo is None:
        foreign = change.before is not None and not journal.wrote(change.path)
        backup = journal.back_up(change.path, files.read(change.path)) if foreign else None
        record: Record = Wrote(change.path, files.digest(change.after) or "", backup, change.before)
    else:
        is_known = journal.edited(change.path)  # the backup of the first edit is that from before all of ours
        backup = None if is_known else journal.back_up(change.path, files.read(change.path))
        created = change.before is None
        if isinstance(change.undo, Mark):
            record = Inserted(change.path, change.undo, created=created, backup=backup)
        else:
            record = Edited(change.path, change.undo, created=created, backup=backup)
    with _recorded(record, journal):
        files.replace(change.path, change.before, change.after, change.mode)


def _link(link: Link, journal: Journal) -> None:
    for missing in private_files.missing_folders(os.path.dirname(link.path)):
        _make_folder(missing, journal)
    try:
        with _recorded(Linked(link.path, link.target), journal):
            os.symlink(link.target, link.path)
    except FileExistsError:
        raise FileChanged(f"another program created {link.path} meanwhile", "Run this again.") from None
    except OSError as error:
        raise InstallError(f"could not link {link.path}: {error.strerror}", f"Run {link.target} instead.") from None


def _make_folder(folder: str, journal: Journal) -> None:
    try:
        with _recorded(Made(folder), journal):
            os.mkdir(folder, 0o775)  # with no umask everybody could write hooks into it
    except FileExistsError:
        return
    except OSError as error:
        raise InstallError(f"could not create {folder}: {error.strerror}", "Check its permissions.") from None


@contextlib.contextmanager
def _recorded(record: Record, journal: Journal) -> Iterator[None]:
    """Record a step before it is done: when this process is killed between the two, it can still be undone."""
    is_new = journal.add(record)
    try:
        yield
    except BaseException:
        if is_new:
            journal.remove(record)
        raise


def _run(command: Command, journal: Journal, machine: Machine) -> None:
    """Run a command of the client. It is recorded first: it takes seconds, and the user may interrupt it."""
    for folder in command.leaves:
        if not os.path.isdir(folder):
            journal.add(Made(folder))
    journal.keep(command.settings, files.read(command.settings), command.client)
    for path in command.state:
        journal.keep(path, files.read(path), command.client, state=True)
    for folder in command.copies:
        if not os.path.lexists(folder):
            journal.add(Copied(folder, command.client))
    record = Called(command.client, command.what, command.undo)
    is_new = bool(command.undo) and journal.add(record)
    done = CLIENTS[command.client].call(command.arguments, _COMMAND_SECONDS, machine) or Outcome(NOT_FOUND)
    if done.code == 0:
        return
    if is_new:
        journal.remove(record)
    line = " ".join((os.path.basename(command.program), *command.arguments))
    raise InstallError(f"`{line}` failed: {done.sentence}", "Fix the error it names, then run the installer again.")


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The outcome for one record: what was done, or the problem because of which it stays in the journal."""

    done: str = ""
    problem: InstallError | None = None


def undo(journal: Journal, machine: Machine, wanted: Callable[[Record], bool]) -> list[UndoResult]:
    """Undo every wanted record, newest first; one that fails stays in the journal, and the others continue.

    The settings of a client are restored, and its copies removed, only after all of its commands have been undone.
    """
    results: list[UndoResult] = []
    waiting: set[str] = set()
    for record in filter(wanted, journal.newest_first()):
        if isinstance(record, (Kept, Copied)) and (record.client in waiting or (waiting and not record.client)):
            continue
        try:
            results.append(UndoResult(_undo(record, machine)))
        except (InstallError, OSError) as error:
            results.append(UndoResult(problem=_problem(record, error)))
            waiting |= {record.client} if isinstance(record, Called) else set()
        else:
            journal.remove(record)
    return [result for result in results if result.done or result.problem]


def _problem(record: Record, error: InstallError | OSError) -> InstallError:
    if isinstance(error, InstallError):
        return error
    return InstallError(
        f"could not {describe(record)}: {error.strerror}", "Check its permissions, then run this again."
    )


def describe(record: Record) -> str:
    """What undoing the record would do."""
    match record:
        case Edited(path) | Inserted(path) | Kept(path):
            return f"restore {path}"
        case Called(client, _, arguments):
            return f"run for {client}: {' '.join(arguments)}"
        case Wrote(path, _, str()):
            return f"restore {path}"
        case Made(path) | Wrote(path) | Linked(path) | Copied(path):
            return f"remove {path}"


def _undo(record: Record, machine: Machine) -> str:
    match record:
        case Made() | Copied():
            _remove_folder(record)
            return ""
        case Wrote():
            return _remove_file(record)
        case Linked(path, target):
            return _remove_link(path, target)
        case Edited() | Inserted():
            return _revert_edit(record)
        case Kept():
            return _restore_settings(record)
        case Called(client, _, arguments):
            return _run_undo(client, arguments, machine)


def _remove_folder(record: Made | Copied) -> None:
    with contextlib.suppress(OSError):  # it was removed, or one that we made has other files now
        if isinstance(record, Made):
            os.rmdir(record.path)
        else:
            shutil.rmtree(record.path)


def _remove_file(record: Wrote) -> str:
    path, now = record.path, files.read(record.path)
    if now is None:
        return ""
    if files.digest(now) not in {record.after, record.former}:
        raise InstallError(f"{path} was changed since it was installed", "Remove it by hand if you do not need it.")
    before = None if record.backup is None else files.read(record.backup)
    _put(path, now, before)
    _drop_backup(record.backup, before)
    return f"removed {path}" if before is None else f"restored {path}"


def _remove_link(path: str, target: str) -> str:
    if not os.path.islink(path) or os.readlink(path) != target:
        return ""
    os.unlink(path)
    return f"removed {path}"


def _revert_edit(record: Edited | Inserted) -> str:
    now = files.read(record.path)
    if now is None:
        return ""
    without, is_empty = _without_block(record, now) if isinstance(record, Inserted) else _without_keys(record, now)
    after = None if record.created and is_empty else without
    _put(record.path, now, after)
    _drop_backup(record.backup, after)
    return f"restored {record.path}" if after is not None else f"removed {record.path}"


def _without_keys(record: Edited, now: bytes) -> tuple[bytes, bool]:
    """The content without our keys, and whether it is then empty.

    Raises: InstallError when it can no longer be edited safely.
    """
    form = formats.of(record.path, comments=True)  # somebody may have added comments since
    try:
        text = now.decode("utf-8")
        for step in reversed(record.undo):
            text = form.strip(text, step)
        return text.encode(), formats.is_empty(record.path, text)
    except (UnicodeDecodeError, UneditableFile):
        keys = " and ".join(f'"{".".join(step.path)}"' for step in record.undo)
        raise InstallError(f"{record.path} is damaged, so it was left unchanged", f"Remove {keys} by hand.") from None


def _without_block(record: Inserted, now: bytes) -> tuple[bytes, bool]:
    """The content without our block, and whether it is then empty; bytes that are not UTF-8 stay."""
    text = remove(now.decode("utf-8", "surrogateescape"), record.mark)
    return text.encode("utf-8", "surrogateescape"), is_blank(text)


def _restore_settings(record: Kept) -> str:
    """Restore the client's settings file, bytes and mode, when its values are those from before our installation."""
    now = files.read(record.path)
    before = None if record.backup is None else files.read(record.backup)
    if record.backup is not None and before is None:  # the user deleted the backup
        return ""
    if now is not None and now != before:
        try:
            text, known = now.decode("utf-8"), None if before is None else before.decode("utf-8")
        except UnicodeDecodeError:
            return ""
        after = restored(record.path, text, known)
        if after != known:
            _put(record.path, now, (after or "").encode())
            if record.state:  # the client wrote it since, as it does
                _drop_backup(record.backup, before)
                return ""
            backup = f", and {record.backup} is the file from before" if record.backup else ""
            return f"removed Keepmum from {record.path}; later changes there were kept{backup}"
        _put(record.path, now, before)
    _drop_backup(record.backup, before)
    if before is not None and record.mode is not None:
        with contextlib.suppress(OSError):
            os.chmod(record.path, record.mode)
    return "" if now is None or now == before or record.state else f"restored {record.path}"


def _put(path: str, now: bytes, after: bytes | None) -> None:
    """Give an existing file its new content; None removes it."""
    if after is None:
        files.remove(path, files.digest(now))
    elif after != now:
        files.replace(path, files.digest(now), after, 0o600)


def _drop_backup(backup: str | None, restored: bytes | None) -> None:
    """Remove the backup once the file has the same content again; one that differs stays for the user."""
    if backup is not None and restored is not None and files.read(backup) == restored:
        os.unlink(backup)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(backup))


_ALREADY_REMOVED = ("not found", "is not configured or installed")  # messages of Claude Code and of Codex


def _run_undo(client: str, arguments: Sequence[str], machine: Machine) -> str:
    program = CLIENTS[client].program(machine) if client in CLIENTS else None
    done = None if program is None else CLIENTS[client].call(arguments, _COMMAND_SECONDS, machine)
    if program is None or done is None:
        raise InstallError(
            f"the client is missing, so `{' '.join(arguments)}` was not run",
            "Install it, then run this again.",
        )
    # The user may have removed it already.
    if done.code not in {0, NOT_FOUND} and not any(text in done.sentence for text in _ALREADY_REMOVED):
        raise InstallError(
            f"`{os.path.basename(program)} {' '.join(arguments)}` failed: {done.sentence}", "Run it by hand."
        )
    return f"ran {os.path.basename(program)} {' '.join(arguments)}"
