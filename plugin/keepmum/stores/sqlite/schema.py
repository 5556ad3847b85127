"""The tables, as an append-only list of named migrations. A migration that has shipped is never edited."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence

from keepmum.core import ranking
from keepmum.stores.transactions import transaction

__all__ = [
    "MIGRATIONS",
    "SEARCHED",
    "TOKENIZER",
    "WITH_REVIEW",
    "WITH_VECTORS",
    "add_missing_columns",
    "indexed_at_once",
    "migrate",
    "rebuild_index",
    "version_of",
]

Migration = Callable[[sqlite3.Connection], None]
SEARCHED = ("title", "text", "why", "tags", "key", "identifiers", "context")  # the columns of the full-text index
TOKENIZER = "porter unicode61"  # of that index: it stems words, so that all inflected forms match
MIGRATIONS: list[Migration] = []
WITH_VECTORS = 2  # first version that has vectors
WITH_REVIEW = 4  # first version that has marks and postponed review items
# The trust of a memory that was stored before there was a column for it.
_FIRST_TRUST = (
    "CASE WHEN origin = 'cli' THEN 'person' WHEN origin = 'import' THEN 'outside'"
    " WHEN origin LIKE 'server%' THEN 'team' ELSE 'agent' END"
)
_TRUST_COLUMNS = {  # with their values in a file that lacks them
    "trust": _FIRST_TRUST,
    "source_kind": "NULL",
    "confirmed_at": "NULL",
    "confirmed_by": "NULL",
    "pinned": "FALSE",
    "citations": "NULL",
}


# A listing reads an index in order up to its limit. These columns in the index let it skip rows that do not pass the
# filter without reading them: 47 ms became less than 1 ms at 10,000 memories.
_FILTERED = "project, scope, user, session, kind, expires_at"
_FIRST_SEARCHED = SEARCHED[:6]  # before the context column was added
_NUMBER = "(SELECT value FROM counters WHERE name = 'change')"  # of the current transaction


def migration(step: Migration) -> Migration:
    """Append a migration; its position in the list, from 1, is its version."""
    MIGRATIONS.append(step)
    return step


def version_of(db: sqlite3.Connection) -> int:
    """Number of migrations that were applied to the file; 0 for a new one."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection) -> None:
    """Apply missing migrations, each in a transaction; the caller holds the writer lock."""
    for number, step in enumerate(MIGRATIONS, start=1):
        if number <= version_of(db):
            continue
        with transaction(db):
            step(db)
            db.execute(
                "INSERT INTO migrations(name, applied_at) VALUES (?, ?)", (step.__name__, time.time_ns() // 1_000_000)
            )
            db.execute(f"PRAGMA user_version = {number}")


def add_missing_columns(db: sqlite3.Connection) -> None:
    """Let an older file that is not migrated, since it is only read, be read with the columns of this version."""
    present = {row[1] for row in db.execute("PRAGMA table_info(memories)")}
    missing = [f"{value} AS {name}" for name, value in _TRUST_COLUMNS.items() if name not in present]
    if present and missing:
        # Names are looked up in the temporary schema first, so every query reads this view.
        db.execute(f"CREATE TEMP VIEW memories AS SELECT *, {', '.join(missing)} FROM main.memories")


def rebuild_index(db: sqlite3.Connection) -> None:
    """Rebuild the full-text index from the rows, whatever its state; the caller holds the writer lock."""
    with transaction(db):
        db.execute("DROP TABLE words")
        db.execute(_index(SEARCHED))
        db.execute("INSERT INTO words(words) VALUES ('rebuild')")


@contextlib.contextmanager
def indexed_at_once(db: sqlite3.Connection) -> Iterator[None]:
    """Index rows that the block inserts into `memories` all at once at its end; the caller holds a transaction.

    Each trigger is a savepoint, and at each savepoint FTS5 writes a segment of the index, which it must merge later.
    One statement over all rows makes one segment: 11 microseconds per memory instead of 80.
    """
    first = int(db.execute("SELECT coalesce(max(seq), 0) FROM memories").fetchone()[0])
    names = ("words_insert", "vectors_insert")
    triggers = db.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name IN (?, ?)", names).fetchall()
    for name in names:
        db.execute(f"DROP TRIGGER {name}")
    yield
    columns = ", ".join(SEARCHED)
    db.execute(f"INSERT INTO words(rowid, {columns}) SELECT seq, {columns} FROM memories WHERE seq > ?", (first,))
    db.execute(_pending(f"SELECT seq, {_NUMBER} FROM memories WHERE seq > ?"), (first,))
    for trigger in triggers:
        db.execute(trigger[0])


@migration
def m001_memories(db: sqlite3.Connection) -> None:
    """Memories with their tags, full-text index, history and activity."""
    for statement in (
        "CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT",
        "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT",
        "INSERT INTO counters VALUES ('change', 0), ('clock', 0)",
        """CREATE TABLE memories (
            seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, space TEXT NOT NULL, key TEXT,
            title TEXT NOT NULL, text TEXT NOT NULL, why TEXT, identifiers TEXT NOT NULL, digest TEXT NOT NULL,
            kind TEXT NOT NULL, tags TEXT NOT NULL, scope TEXT NOT NULL,
            project TEXT, session TEXT, user TEXT, agent TEXT NOT NULL,
            tier TEXT NOT NULL, importance REAL NOT NULL, confidence REAL NOT NULL,
            data TEXT, git TEXT, source TEXT, origin TEXT NOT NULL,
            status TEXT NOT NULL, supersedes TEXT, superseded_by TEXT,
            created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
            accessed_at INTEGER, access_count INTEGER NOT NULL, expires_at INTEGER, trashed_at INTEGER,
            created_by TEXT NOT NULL, updated_by TEXT NOT NULL, revision INTEGER NOT NULL, change INTEGER NOT NULL
        ) STRICT""",
        "CREATE UNIQUE INDEX memories_key ON memories(space, key) WHERE key IS NOT NULL AND status = 'active'",
        "CREATE INDEX memories_digest ON memories(space, digest)",
        f"CREATE INDEX memories_recent ON memories(status, updated_at, id, {_FILTERED})",
        f"CREATE INDEX memories_weighty ON memories(status, importance, updated_at, id, {_FILTERED})",
        "CREATE INDEX memories_change ON memories(change)",
        "CREATE INDEX memories_expiry ON memories(expires_at) WHERE expires_at IS NOT NULL",
        """CREATE TABLE tags (
            tag TEXT NOT NULL, memory INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
            PRIMARY KEY (tag, memory)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX tags_memory ON tags(memory)",
        """CREATE TABLE history (
            seq INTEGER PRIMARY KEY, memory TEXT NOT NULL, revision INTEGER NOT NULL,
            at INTEGER NOT NULL, agent TEXT NOT NULL, action TEXT NOT NULL, before TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX history_memory ON history(memory, revision)",
        """CREATE TABLE activity (
            seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, agent TEXT NOT NULL, action TEXT NOT NULL,
            memory TEXT, key TEXT, project TEXT, detail TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX activity_time ON activity(at)",
        """CREATE TABLE roots (
            root TEXT PRIMARY KEY, project TEXT NOT NULL, name TEXT NOT NULL, seen_at INTEGER NOT NULL
        ) STRICT""",
        _index(_FIRST_SEARCHED),
        *_index_triggers(_FIRST_SEARCHED),
    ):
        db.execute(statement)


@migration
def m002_meaning(db: sqlite3.Connection) -> None:
    """Vectors, and a searched column with the context of a memory in its session.

    Each memory has a row in `vectors`. It is pending (`awaited`) until it has a vector of the current text. It stays,
    without a vector, when the memory is purged, because SQLite reuses row numbers.
    """
    db.create_function("hidden_words", 1, ranking.subwords)
    said = " || char(10) || ".join(f"coalesce({name}, '')" for name in ("title", "text", "why", "key", "tags"))
    for statement in (
        "INSERT INTO counters VALUES ('identity', random())",
        "ALTER TABLE memories ADD COLUMN context TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX memories_session ON memories(session, space, status, seq) WHERE session IS NOT NULL",
        "CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL) STRICT",
        """CREATE TABLE vectors (
            memory INTEGER PRIMARY KEY, model INTEGER REFERENCES models(id), vector BLOB,
            awaited INTEGER NOT NULL DEFAULT TRUE, change INTEGER NOT NULL
        ) STRICT""",
        "CREATE INDEX vectors_change ON vectors(change)",
        "CREATE INDEX vectors_model ON vectors(model) WHERE vector IS NOT NULL",
        "CREATE INDEX vectors_awaited ON vectors(memory) WHERE awaited",
        *(f"DROP TRIGGER words_{event}" for event in ("insert", "delete", "update")),
        "DROP TABLE words",
        f"UPDATE memories SET identifiers = hidden_words({said})",
        _index(SEARCHED),
        *_index_triggers(SEARCHED),
        *_vector_triggers(),
        "INSERT INTO words(words) VALUES ('rebuild')",
        f"INSERT INTO vectors(memory, change) SELECT seq, {_NUMBER} FROM memories",
    ):
        db.execute(statement)


@migration
def m003_trust(db: sqlite3.Connection) -> None:
    """Where each revision came from, what a person confirmed or pinned, and the code that a memory cites."""
    for statement in (
        "ALTER TABLE memories ADD COLUMN trust TEXT NOT NULL DEFAULT 'agent'",
        "ALTER TABLE memories ADD COLUMN source_kind TEXT",
        "ALTER TABLE memories ADD COLUMN confirmed_at INTEGER",
        "ALTER TABLE memories ADD COLUMN confirmed_by TEXT",
        "ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT FALSE",
        "ALTER TABLE memories ADD COLUMN citations TEXT",
        f"UPDATE memories SET trust = {_FIRST_TRUST} WHERE trust != {_FIRST_TRUST}",
        "CREATE INDEX memories_uncited ON memories(project, seq) WHERE citations IS NULL AND status = 'active'",
    ):
        db.execute(statement)


@migration
def m004_review(db: sqlite3.Connection) -> None:
    """Memories that a person marked as wrong, which outlive their text, and review items to be shown later."""
    for statement in (
        """CREATE TABLE wrong (
            memory TEXT PRIMARY KEY, space TEXT NOT NULL, digest TEXT NOT NULL, at INTEGER NOT NULL, by TEXT NOT NULL,
            reason TEXT NOT NULL, model TEXT, vector BLOB
        ) STRICT""",
        "CREATE INDEX wrong_digest ON wrong(digest)",
        "CREATE TABLE postponed (item TEXT PRIMARY KEY, until INTEGER) STRICT",
        "CREATE INDEX activity_memory ON activity(memory) WHERE memory IS NOT NULL",
    ):
        db.execute(statement)


def _index(columns: Sequence[str]) -> str:
    listed = ", ".join(columns)
    return (
        f"CREATE VIRTUAL TABLE words USING fts5({listed},"
        f" content = 'memories', content_rowid = 'seq', tokenize = '{TOKENIZER}')"
    )


def _pending(values: str) -> str:
    """The statement that marks the vectors of rows as pending; `values` are row numbers with a transaction number."""
    return (
        f"INSERT INTO vectors(memory, change) {values} ON CONFLICT(memory)"
        " DO UPDATE SET model = NULL, vector = NULL, awaited = TRUE, change = excluded.change"
    )


def _vector_triggers() -> tuple[str, str, str]:
    """Triggers that drop a vector when its text changes, so that no memory is found by its old text."""
    await_new = f"{_pending(f'VALUES (new.seq, {_NUMBER})')};"
    mark = (
        f"UPDATE vectors SET model = NULL, vector = NULL, awaited = FALSE, change = {_NUMBER} WHERE memory = old.seq;"
    )
    when = "WHEN (old.title, old.text, old.tags) IS NOT (new.title, new.text, new.tags)"
    return (
        f"CREATE TRIGGER vectors_insert AFTER INSERT ON memories BEGIN {await_new} END",
        f"CREATE TRIGGER vectors_delete AFTER DELETE ON memories BEGIN {mark} END",
        f"CREATE TRIGGER vectors_update AFTER UPDATE OF title, text, tags ON memories {when} BEGIN {await_new} END",
    )


def _index_triggers(searched: Sequence[str]) -> tuple[str, str, str]:
    """Triggers that update the full-text index with the rows; an external-content index needs the old values."""
    columns = ", ".join(searched)
    old = ", ".join(f"old.{column}" for column in searched)
    new = ", ".join(f"new.{column}" for column in searched)
    remove = f"INSERT INTO words(words, rowid, {columns}) VALUES ('delete', old.seq, {old});"
    add = f"INSERT INTO words(rowid, {columns}) VALUES (new.seq, {new});"
    return (
        f"CREATE TRIGGER words_insert AFTER INSERT ON memories BEGIN {add} END",
        f"CREATE TRIGGER words_delete AFTER DELETE ON memories BEGIN {remove} END",
        f"CREATE TRIGGER words_update AFTER UPDATE OF {columns} ON memories BEGIN {remove} {add} END",
    )
