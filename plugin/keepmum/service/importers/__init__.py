"""Reads memories of other tools and older stores into the form of an export. A new format is a module and a line here.

Importers store nothing: their items go through the service, which cleans, limits and scans them like any write.
Each is loaded when it is needed, since a command that imports nothing must start fast.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Mapping

from keepmum.core.errors import InvalidInput
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, NotKept

__all__ = ["FORMATS", "Format", "Found", "ImportItem", "NotKept", "format_named", "format_of", "read_items"]

# By the name that `--from` takes: the module. A source is of the first format that recognises it.
FORMATS: Mapping[str, str] = {
    "keepmum": "keepmum",  # what `keepmum export` writes
    "server-memory": "server_memory",  # the knowledge graph of the reference server
    "agent-memory": "hackathon",  # Agent Memory (MCP Apps): database and export
    "token-saver": "token_saver",  # Token Saver: database and export
    "per-user": "per_user",  # `MemoryExport`, or Redis data as JSON
    "qdrant": "qdrant",  # points of shared-agent-memory, or of mem0
    "claude-mem": "claude_mem",  # database and export
    "engram": "engram",  # database and export
    "memory-service": "memory_service",  # doobidoo's mcp-memory-service: database and export
    "mem0": "mem0",  # export and history.db
    "codex": "codex",  # ~/.codex/memories
    "claude": "claude",  # a folder with MEMORY.md
    "memories": "memories",  # a `.memories` folder, as Koi writes it
    "cursor": "cursor",  # .cursor/rules
    "instructions": "instructions",  # CLAUDE.md, AGENTS.md and the like, by section
    "vault": "vault",  # basic-memory, Obsidian, or any folder of Markdown files
}
# Where a tool keeps its database below its own folder.
_DATABASES = (
    "memory.db", "memories.db", "claude-mem.db", "engram.db", "sqlite_vec.db", "history.db", "memory.jsonl",
    os.path.join("data", "memories.db"),
)  # fmt: skip
# Databases that are recognised and not read: a table, one of its columns, and its owner.
_NOT_READ = (
    ("memories", "trust", "of Keepmum itself: `keepmum export` copies it"),
    ("entity", "permalink", "of basic-memory, which is an index: import the folder of its notes"),
)
_SHOWN = 8  # tables of a database that no format recognises
_PLAIN = re.compile(r"[a-z_]{1,24}")  # other names could hold anything


def format_named(name: str) -> Format:
    """The format called `name`.

    Raises: InvalidInput when there is none.
    """
    if name not in FORMATS:
        raise InvalidInput("--from", f"is none of {', '.join(FORMATS)}, server")
    module = importlib.import_module(f"{__name__}.{FORMATS[name]}")
    found: Format = module.FORMAT
    return found


def format_of(path: str) -> tuple[Format, str]:
    """The format of the file or folder at `path`, and the path to read: in a tool's folder, its database.

    Raises: InvalidInput when it has none of these, or cannot be read.
    """
    from keepmum.service.importers.sniff import sniff

    found = sniff(path)
    for name in FORMATS:
        if (known := format_named(name)).matches(found) and not (name == "vault" and _database_in(path)):
            return known, path
    inner = _database_in(path)
    if inner:
        return format_of(inner)[0], inner
    if found.tables:
        shown = ", ".join(sorted(filter(_PLAIN.fullmatch, found.tables))[:_SHOWN])
        owner = next(
            (owner for table, column, owner in _NOT_READ if column in found.tables.get(table, ())),
            f"of no known tool; it has the tables {shown}",
        )
        raise InvalidInput("file", f"{path} is a database {owner}")
    if found.is_folder:
        raise InvalidInput(
            "file",
            f"{path} holds neither MEMORY.md nor folders such as 2026-01-31, nor what another known tool has; "
            "name a file in it, or see `keepmum import --help`",
        )
    # Its errors name each line.
    return format_named("keepmum")._replace(title="no format that is known, read as an export of Keepmum"), path


def read_items(known: Format, path: str) -> Iterator[Found]:
    """The items that a format reads at `path`; an error after the first one becomes the last item.

    Raises: InvalidInput when nothing can be read.
    """
    count = 0
    try:
        for count, found in enumerate(known.read(path), start=1):  # noqa: B007 - the number that was read
            yield found
    except InvalidInput as error:
        if not count:
            raise
        yield ImportItem(f"after {count:,} items", None, f"{error.problem}; what is above it was read")


def _database_in(path: str) -> str:
    """The database of a tool in its folder; empty when there is none."""
    for name in _DATABASES if os.path.isdir(path) else ():
        if os.path.isfile(found := os.path.join(path, name)):
            return found
    return ""
