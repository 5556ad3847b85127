"""Reads what can still be read of a damaged or lost store, and of its backups."""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from keepmum.core.memory import KINDS, SCOPES, STATUSES, TIERS, TRUST_LEVELS, Memory
from keepmum.stores.sqlite import edits, files, rows, schema, wal
from keepmum.stores.sqlite.errors import corrupt
from keepmum.stores.sqlite.ledger import ANY, Acknowledged
from keepmum.stores.transactions import transaction

__all__ = ["Salvaged", "is_consistent", "salvage"]

_HEADER = 100  # bytes of the file header. Source: https://sqlite.org/fileformat2.html
_MAX_MISSES = 100_000  # consecutive unreadable row numbers after which the rest of the table counts as lost
_COLUMNS = f"seq, digest, {', '.join(rows.COLUMNS)}"
_SELECT = f"SELECT {_COLUMNS} FROM memories WHERE seq > ? ORDER BY seq"
_NUMBERS = itertools.count()  # of copies
_NUMBER = "row_number"  # the name under which rows of other tables are numbered
_PAST = ("history", "activity", "roots", "wrong", "postponed")
_TEAM_KEYS = "team_memories_key"  # the index of keys in a team's file, in place of `memories_key`
_TEAM_SESSIONS = "team_sessions"  # not copied: a backup must not sign in again who has signed out since
_PURGED = "SELECT DISTINCT memory FROM activity WHERE action = 'purged' AND memory IS NOT NULL"


class Salvaged(NamedTuple):
    """What a new file was filled with."""

    memories: int
    from_backups: int  # of these
    backups: tuple[str, ...]  # names of the backups that gave memories


class _View(NamedTuple):
    """What one copy of a store says."""

    memories: dict[str, Memory]
    doubtful: frozenset[str]  # ids of memories whose text does not have its digest
    purged: frozenset[str]  # ids that the activity log names
    complete: bool  # whether these are all the memories that the copy had
    change: int
    identity: int


def salvage(
    path: str,
    target: sqlite3.Connection,
    backups: Sequence[str],
    last: Acknowledged | None,
    *,
    suspect: bool,
) -> Salvaged:
    """Fill a new database with everything that can be read of the store at `path` and of its backups, oldest first.

    A memory that cannot be read comes from the latest backup that has it. When nothing is missing the backups add no
    memory, because they still hold those that were purged later; with `suspect` something may be missing in any case.
    History and activity are kept as far as they can be read.
    """
    with contextlib.ExitStack() as stack:
        copies = [stack.enter_context(copy) for copy in _copies(path, backups)]
        views = [_read(copy) for copy in copies]
        ranked = sorted(zip(views, copies, strict=True), key=lambda pair: _rank(pair[0], last), reverse=True)
        best = ranked[0][0] if ranked else None
        missing = suspect or best is None or not best.complete or (last is not None and best.change < last.change)
        found = _merged([view for view, _ in (ranked if missing else ranked[:1])])
        own = set(found)
        saved = [(_read(backup), backup) for backup in reversed(backups)]
        purged = frozenset[str]().union(*(view.purged for view in views))
        used = _add_from_backups(found, saved, purged, missing=missing)
        for ident in purged:
            found.pop(ident, None)
        sources = [*(copy for _, copy in ranked), *(backup for _, backup in saved)]
        _use_team_keys(target, sources)
        edits.fill(target, list(found.values()))
        kept = {row[0] for row in target.execute("SELECT id FROM memories")}
        _copy_past(target, sources, kept)
        _copy_team(target, sources)
        _continue_numbers(target, max([0 if last is None else last.change, *(view.change for view in views)]))
    return Salvaged(len(kept), len(kept - own), used)


def is_consistent(path: str) -> bool:
    """Whether every page and every memory of a store can be read, and its full-text index matches the memories.

    Then changed pages are probably the work of another program: the triggers update the index with an edit, whereas
    few flipped bits leave the words of a text as they were.
    """
    with _copy(path, wal.latest(path + "-wal")[0]) as copy, contextlib.closing(sqlite3.connect(copy)) as db:
        db.row_factory = sqlite3.Row
        try:
            if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return False
            db.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 1)")
            return all(entry is not None for entry in _rows(db))
        except (sqlite3.Error, UnicodeDecodeError):
            return False


def _rank(view: _View, last: Acknowledged | None) -> tuple[bool, int, bool, int]:
    """What makes a view better than another; a WAL of another store must not displace the right file."""
    is_ours = last is None or last.identity in (ANY, view.identity)
    return is_ours and bool(view.memories), view.change, view.complete, len(view.memories)


def _merged(views: Sequence[_View]) -> dict[str, Memory]:
    """The latest revision of each memory; of equal ones that of the better view, unless its text is damaged."""
    found: dict[str, Memory] = {}
    doubtful: set[str] = set()
    for view in views:
        for ident, memory in view.memories.items():
            known = found.get(ident)
            is_doubtful = ident in view.doubtful
            if known is None or (ident in doubtful, memory.revision) > (is_doubtful, known.revision):
                found[ident] = memory
                doubtful.discard(ident)
                if is_doubtful:
                    doubtful.add(ident)
    return found


def _add_from_backups(
    found: dict[str, Memory], saved: Sequence[tuple[_View, str]], purged: frozenset[str], *, missing: bool
) -> tuple[str, ...]:
    """Replace damaged memories by sound ones of the same revision, add missing ones; returns the backups used."""
    used: dict[str, None] = {}
    settled: set[str] = set()
    for view, backup in saved:
        for ident, memory in view.memories.items():
            known = found.get(ident)
            if known is None:
                if missing and ident not in purged:
                    found[ident] = memory
                    used[os.path.basename(backup)] = None
            elif known.revision == memory.revision and ident not in view.doubtful and ident not in settled:
                settled.add(ident)
                found[ident] = replace(memory, accessed_at=known.accessed_at, access_count=known.access_count)
    return tuple(used)


def _copy_past(target: sqlite3.Connection, sources: Sequence[str], kept: set[str]) -> None:
    """Copy history, activity and folders, each from the best source that has any; what is unreadable is left out."""
    for table in _PAST:
        for source in sources:
            past = _all_rows(source, table)
            if table == "history":
                past = [row for row in past if row["memory"] in kept]
            if past:
                names = past[0].keys()[1:]  # without the number
                with contextlib.suppress(sqlite3.Error), transaction(target):
                    target.executemany(
                        f"INSERT OR IGNORE INTO {table}({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                        [tuple(row)[1:] for row in past],
                    )
                break


def _use_team_keys(target: sqlite3.Connection, sources: Sequence[str]) -> None:
    """Let each project have keys of its own in a session, when a source is a team's: before memories are filled in."""
    for source in sources:
        for name, _, sql in _team_schema(source):
            if name == _TEAM_KEYS:
                target.execute("DROP INDEX memories_key")
                target.execute(sql)
                return


def _copy_team(target: sqlite3.Connection, sources: Sequence[str]) -> None:
    """Copy the tables of a team's server, each from the best source that has any of its rows.

    The triggers come last: what is copied was audited before.
    """
    schemas = [found for source in sources if (found := _team_schema(source))]
    if not schemas:
        return
    statements = schemas[0]
    tables = [name for name, kind, _ in statements if kind == "table"]
    with contextlib.suppress(sqlite3.Error), transaction(target):
        for name, _, sql in statements[: len(tables)]:
            target.execute(sql)
            for source in sources if name != _TEAM_SESSIONS else ():
                kept = _keyed_rows(source, name) if "WITHOUT ROWID" in sql else _all_rows(source, name)
                if kept:
                    marks = ", ".join("?" * (len(kept[0]) - 1))
                    target.executemany(f"INSERT OR IGNORE INTO {name} VALUES ({marks})", [row[1:] for row in kept])
                    break
        for name, _, sql in statements[len(tables) :]:
            if name != _TEAM_KEYS:
                target.execute(sql)


def _team_schema(path: str) -> list[tuple[str, str, str]]:
    """Name, kind and statement of each table, index, view and trigger of a team's server; tables come first."""
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError), _opened(path) as db:
        found = db.execute(
            "SELECT name, type, sql FROM sqlite_schema WHERE name GLOB 'team_*' AND sql IS NOT NULL"
            " ORDER BY type = 'table' DESC, type = 'trigger', name = 'team_people' DESC, name = 'team_names' DESC"
        )
        return [(row[0], row[1], row[2]) for row in found]
    return []


def _continue_numbers(target: sqlite3.Connection, change: int) -> None:
    """Number transactions on from the last known one: the ledger takes a lower number for a loss."""
    target.execute("UPDATE counters SET value = max(value, ?) WHERE name = 'change'", (change + 1,))


def _copies(path: str, backups: Sequence[str]) -> Iterator[contextlib.AbstractContextManager[str]]:
    """The store as its sound WAL frames make it, up to the first damaged frame, and without WAL.

    Also the last backup with the frames: a backup has the same pages, so this is nearly the store if its file is lost.
    """
    found = wal.frames(path + "-wal")
    damaged = next((number for number, frame in enumerate(found) if not frame.sound), len(found))
    if found:
        yield _copy(path, wal.pages(found))
    if found and backups:
        yield _copy(path, wal.pages(found), backups[-1])
    if 0 < damaged < len(found):
        yield _copy(path, wal.pages(found[:damaged]))
    if files.size_of(path):
        yield _copy(path, {})


@contextlib.contextmanager
def _copy(path: str, pages: Mapping[int, memoryview], base: str | None = None) -> Iterator[str]:
    """A copy of a store, or of `base`, with these pages of its WAL, and a valid header; it is alike in all stores."""
    import shutil  # half a megabyte, and only needed here

    copy = f"{path}.{os.getpid()}-{next(_NUMBERS)}.part"
    try:
        os.close(os.open(copy, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(base or path, copy)
        with open(copy, "r+b") as file:
            for page, content in pages.items():
                file.seek((page - 1) * len(content))
                file.write(content)
            file.seek(0)
            header = file.read(_HEADER)
            file.seek(0)
            file.write(_sound_header(header))
        yield copy
    finally:
        with contextlib.suppress(OSError):
            os.unlink(copy)


def _sound_header(header: bytes) -> bytes:
    """A header for a file without WAL and with as many pages as it has; with our page size, if it is damaged."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE t (c)")
        sound = bytearray(db.serialize()[:_HEADER])
    if header[:16] == sound[:16] and header[20:24] == sound[20:24]:
        sound = bytearray(header)
    sound[18:20] = b"\1\1"  # no WAL
    sound[28:32] = bytes(4)  # number of pages: taken from the file size
    return bytes(sound)


def _read(path: str) -> _View:
    """What a copy of a store, or a backup, says."""
    memories: list[tuple[Memory, bool] | None] = []
    indexed, change, identity, purged = None, 0, ANY, frozenset[str]()
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError), _opened(path) as db:  # SQLite quotes a broken schema
        memories += _rows(db)
        indexed = sum(1 for _ in _in_order(db.execute("SELECT id FROM words_docsize ORDER BY id")))
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError), _opened(path) as db:
        counters = dict(db.execute("SELECT name, value FROM counters").fetchall())
        change, identity = counters.get("change", 0), counters.get("identity", ANY)
        purged = frozenset(row[0] for row in db.execute(_PURGED))
    read = [entry for entry in memories if entry is not None]
    return _View(
        {memory.id: memory for memory, _ in read},
        frozenset(memory.id for memory, is_sound in read if not is_sound),
        purged,
        len({memory.id for memory, is_sound in read if is_sound}) == len(memories) == indexed,
        change,
        identity,
    )


def _opened(path: str) -> contextlib.closing[sqlite3.Connection]:
    db = sqlite3.connect(files.read_only_uri(path, "immutable=1"), uri=True)
    db.row_factory = sqlite3.Row
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")  # part of a text is better than none
    return contextlib.closing(db)


def _all_rows(path: str, table: str) -> list[sqlite3.Row]:
    """The rows of a table up to the first that cannot be read."""
    found: list[sqlite3.Row] = []
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError), _opened(path) as db:
        for row in _in_order(db.execute(f"SELECT rowid AS {_NUMBER}, * FROM {table} ORDER BY rowid")):
            found.append(row)  # noqa: PERF402 - what was read before an error counts
    return found


def _keyed_rows(path: str, table: str) -> list[sqlite3.Row]:
    """The rows of a table without row numbers, up to the first that cannot be read or comes again; each after a 0."""
    found: dict[sqlite3.Row, None] = {}
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError), _opened(path) as db:
        for row in db.execute(f"SELECT 0 AS {_NUMBER}, * FROM {table}"):
            if row in found:
                break
            found[row] = None
    return list(found)


def _rows(db: sqlite3.Connection) -> Iterator[tuple[Memory, bool] | None]:
    """The memories of a store row by row, and whether each is sound; None for each row number that cannot be read."""
    schema.add_missing_columns(db)
    db.execute(f"EXPLAIN {_SELECT}", (0,))  # fails here when the schema itself is lost
    last, misses = -1, 0
    while misses < _MAX_MISSES:
        try:
            for row in _in_order(db.execute(_SELECT, (last,)), last):
                last, misses = row["seq"], 0
                yield _memory(row)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF != sqlite3.SQLITE_CORRUPT:
                raise
            last, misses = last + 1, misses + 1  # skip the damaged page, one row number at a time
            yield None
        else:
            return


def _in_order(found: Iterable[sqlite3.Row], last: int = -1) -> Iterator[sqlite3.Row]:
    """Rows whose first column grows, from above `last`.

    A page that is damaged may name itself as a page below it; then SQLite returns the same rows again and again.

    Raises: sqlite3.DatabaseError when it does not grow.
    """
    for row in found:
        if row[0] <= last:
            raise corrupt("rows are repeated")
        last = row[0]
        yield row


def _memory(row: sqlite3.Row) -> tuple[Memory, bool] | None:
    """The memory in a row, and whether its text has its digest; None when flipped bits made it invalid."""
    try:
        memory = rows.from_row(row)
        rows.to_row(memory)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    is_valid = (
        memory.kind in KINDS
        and memory.scope in SCOPES
        and memory.tier in TIERS
        and memory.status in STATUSES
        and memory.trust in TRUST_LEVELS
    )
    return (memory, rows.digest(memory.text) == row["digest"]) if is_valid and isinstance(memory.id, str) else None
