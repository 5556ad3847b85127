"""Read memories of other tools and older stores into the form of an export. A new format is one line in `FORMATS`.

Importers store nothing: their items go through the service, which cleans, limits and scans them like any write.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from keepmum.core.errors import InvalidInput
from keepmum.service.importers import claude, json_lines, memories, server_memory
from keepmum.service.importers.item import ImportItem
from keepmum.service.importers.memories import write_file

__all__ = ["FORMATS", "ImportItem", "format_of", "write_file"]

FORMATS: Mapping[str, Callable[[str], Iterator[ImportItem]]] = {
    "keepmum": json_lines.read,  # what `keepmum export` writes
    "memories": memories.read,  # a `.memories` folder
    "claude": claude.read,  # a folder with MEMORY.md
    "server-memory": server_memory.read,  # the knowledge graph of the reference server
}


def format_of(path: str) -> str:
    """The format of the file or folder at `path`.

    Raises: InvalidInput when it has none of these.
    """
    if os.path.isdir(path):
        if os.path.isfile(os.path.join(path, "MEMORY.md")):
            return "claude"
        if memories.days_of(path):
            return "memories"
        raise InvalidInput("file", f"{path} holds neither MEMORY.md nor folders such as 2026-01-31")
    if os.path.basename(path) == "MEMORY.md":
        return "claude"
    return "server-memory" if server_memory.is_graph(path) else "keepmum"
