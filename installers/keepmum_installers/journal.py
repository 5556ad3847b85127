"""The journal of installation steps, in order, from which uninstalling undoes exactly these steps.

It is one JSON file, `<home>/state/installed.json`, written after each step, so that an interrupted run can be undone.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from keepmum_installers import files
from keepmum_installers.blocks import Mark
from keepmum_installers.errors import InstallError
from keepmum_installers.json_edit import Undo, compact, parse

__all__ = ["Called", "Copied", "Edited", "Inserted", "Journal", "Kept", "Linked", "Made", "Record", "Wrote"]


@dataclass(frozen=True, slots=True)
class Made:
    """A folder that was created."""

    path: str


@dataclass(frozen=True, slots=True)
class Wrote:
    """A file that is entirely ours."""

    path: str
    after: str
    backup: str | None = None
    """The file that was there before, which was not ours."""
    former: str | None = None
    """The digest of its former content: a run that was killed may have recorded the change and not made it."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A symbolic link that was created."""

    path: str
    target: str


@dataclass(frozen=True, slots=True)
class Edited:
    """Our keys in another program's file; `created` when the file exists only because of them."""

    path: str
    undo: tuple[Undo, ...]
    created: bool
    backup: str | None


@dataclass(frozen=True, slots=True)
class Inserted:
    """Our block in another program's file; `created` when the file exists only because of it."""

    path: str
    mark: Mark
    created: bool
    backup: str | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A backup of a file before a client's command wrote it; `backup` is None when there was no file."""

    path: str
    backup: str | None
    mode: int | None = None
    """Its permissions, which a client's command may change too."""
    client: str = ""
    """The client whose command it was."""
    state: bool = False
    """Whether it is the client's own list of what is installed, and no settings of the user."""


@dataclass(frozen=True, slots=True)
class Copied:
    """A folder with copies of our plugin, which a client's command made."""

    path: str
    client: str


@dataclass(frozen=True, slots=True)
class Called:
    """A client's command that succeeded, what it set up, and the arguments of the command that undoes it."""

    client: str
    what: str
    undo: tuple[str, ...]


Record = Made | Wrote | Linked | Edited | Inserted | Kept | Copied | Called
_KINDS: dict[str, type[Record]] = {
    kind.__name__.lower(): kind for kind in (Made, Wrote, Linked, Edited, Inserted, Kept, Copied, Called)
}


class Journal:
    """The records of one Keepmum home, oldest first."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "state", "installed.json")
        self._backups = os.path.join(home, "state", "backups")
        self._records = _loaded(self._path)

    def __iter__(self) -> Iterator[Record]:
        return iter(tuple(self._records))

    def newest_first(self) -> list[Record]:
        """The records in the order in which they are undone."""
        return self._records[::-1]

    def add(self, record: Record) -> bool:
        """Add the record and save; True when it was new.

        A repeated step adds only its undo: uninstalling restores the state before the first run.
        """
        known = next((each for each in self._records if _subject(each) == _subject(record)), None)
        if known is None:
            self._records.append(record)
        elif isinstance(known, Edited) and isinstance(record, Edited):
            self._records[self._records.index(known)] = replace(known, undo=_joined(known.undo, record.undo))
        elif isinstance(known, Wrote) and isinstance(record, Wrote):
            self._records[self._records.index(known)] = replace(record, backup=known.backup)
        self._save()
        return known is None

    def remove(self, record: Record) -> None:
        """Remove the record of a step that was undone, and save; the last one removes the file."""
        self._records.remove(record)
        self._save()

    def back_up(self, path: str, content: bytes | None) -> str | None:
        """The path of a new backup of another program's file; None when there was no file."""
        if content is None:
            return None
        files.private_folder(self._backups)
        name = files.digest(os.fsencode(path) + b"\0" + content) or ""  # two files may have the same content
        backup = os.path.join(self._backups, f"{name[:12]}-{os.path.basename(path)}")
        files.write(backup, content)
        return backup

    def wrote(self, path: str) -> bool:
        """Whether the file at path is ours."""
        return any(isinstance(record, Wrote) and record.path == path for record in self._records)

    def edited(self, path: str) -> bool:
        """Whether the file at path, which is another program's, has been edited."""
        return any(isinstance(record, (Edited, Inserted)) and record.path == path for record in self._records)

    def keep(self, path: str, content: bytes | None, client: str, *, state: bool = False) -> None:
        """Back up a file before the first command of a client that writes it."""
        if not any(isinstance(record, Kept) and record.path == path for record in self._records):
            mode = None if content is None else stat.S_IMODE(os.stat(path).st_mode)
            self.add(Kept(path, self.back_up(path, content), mode, client, state))

    def _save(self) -> None:
        if not self._records:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)
            return
        values = [{"did": type(record).__name__.lower(), **asdict(record)} for record in self._records]
        files.private_folder(os.path.dirname(self._path))
        files.write(self._path, (json.dumps({"format": 1, "records": values}, indent=1) + "\n").encode())


def _joined(known: tuple[Undo, ...], new: tuple[Undo, ...]) -> tuple[Undo, ...]:
    """The steps that undo both edits; a list's item of ours that was replaced by a newer form is removed as one."""
    steps = list(known)
    for step in new:
        older = compact(parse(step.was, comments=True)) if step.item and step.was is not None else None
        ours = [each for each in steps if each.item and each.path == step.path and each.now in {older, step.now}]
        if older is not None and ours:
            steps[steps.index(ours[-1])] = replace(ours[-1], now=step.now)
        elif step not in steps:
            steps.append(step)
    return tuple(steps)


def _subject(record: Record) -> tuple[str, ...]:
    """A key that two records of the same thing share."""
    if isinstance(record, Called):
        return ("Called", record.client, record.what)
    return (type(record).__name__, record.path)


def _loaded(path: str) -> list[Record]:
    content = files.read(path)
    if content is None:
        return []
    try:
        return [_record(value) for value in json.loads(content)["records"]]
    except (ValueError, KeyError, TypeError):
        raise InstallError(
            f"{path} is damaged, so it is not known what was installed",
            "Move the file away and run the installer again; uninstalling then names what to remove by hand.",
        ) from None


def _record(value: dict[str, Any]) -> Record:
    kind = _KINDS[value.pop("did")]
    if "undo" in value:
        undo = value["undo"]
        made = tuple(Undo(**{**each, "path": tuple(each["path"])}) for each in undo) if kind is Edited else tuple(undo)
        value["undo"] = made
    if "mark" in value:
        value["mark"] = Mark(**value["mark"])
    return kind(**value)
