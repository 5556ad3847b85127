"""The form of an importer: what it is called, how its sources are recognised, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from keepmum.service.importers.item import ImportItem, NotKept

TYPE_CHECKING = False
if TYPE_CHECKING:  # every service loads this module, and only an import looks at a source
    from keepmum.service.importers.sniff import Sniff

__all__ = ["Format", "Found"]

Found: TypeAlias = ImportItem | NotKept


class Format(NamedTuple):
    """One format of memories."""

    title: str  # for a sentence such as "FILE is …"
    matches: Callable[[Sniff], bool]
    read: Callable[[str], Iterator[Found]]
