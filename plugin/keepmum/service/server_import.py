"""Moves the memories of a shared-agent-memory server into a team's memory, from its API or from exported points.

What is stored already is not read again, so an interrupted move goes on, and a second one fetches what was added or
changed since. Each memory goes through the importer, which scans it; it is the team's, as it was there.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from keepmum.core import ids
from keepmum.core.progress import Progress, ignore_progress
from keepmum.service import MemoryService, importers
from keepmum.service.importers.format import Found
from keepmum.service.importers.item import ImportItem
from keepmum.service.importers.qdrant import item_of_payload
from keepmum.service.imports import Imports, Sought
from keepmum.stores.rest.api import Api, ListedMemory, LoadedMemory
from keepmum.stores.rest.http_client import HttpClient
from keepmum.stores.rest.reader import list_all
from keepmum.workspace.credentials import Server

__all__ = ["Moved", "Source", "exported_points", "move", "of_server"]

_LOADED = 50  # memories of a request


class Source(NamedTuple):
    """What there is to move."""

    projects: Mapping[str, str]  # the project of each memory there, by our id of the memory
    items: Iterable[Found]  # those that have to be read
    problem: str = ""  # why the list of the server is not complete


class Moved(NamedTuple):
    """What became of a move."""

    imports: Imports
    counts: Mapping[str, tuple[int, int]]  # memories by project: there, and of these here
    problem: str = ""


@contextlib.contextmanager
def of_server(server: Server, service: MemoryService, names: Mapping[str, str]) -> Iterator[Source]:
    """The memories of a server that its key may read. To load one there counts as its use.

    `names` gives projects other ids than their names there.

    Raises: StoreError, KeyRefused.
    """
    with contextlib.closing(HttpClient(server)) as http:
        api = Api(http)
        listed, problem = list_all(api, None, bulk=True)
        projects = {ids.from_uuid(one.id): one.project for one in listed}
        yield Source(projects, _loaded(api, _unknown(listed, service, names)), problem)


def exported_points(path: str) -> Source:
    """The memories in a file of points, also those that the server has forgotten.

    Raises: InvalidInput when it is no such file.
    """
    known = importers.format_named("qdrant")
    found = [item for item in importers.read_items(known, path) if isinstance(item, ImportItem)]
    projects = {str(item.values["id"]): item.project for item in found if item.values is not None}
    return Source(projects, found)


def move(
    source: Source, service: MemoryService, names: Mapping[str, str], progress: Progress = ignore_progress
) -> Moved:
    """Store what the source has; `names` gives projects other ids than their names there.

    Raises: StoreError; what was stored before stays, and is skipped the next time.
    """
    items = (_in_project(item, names) if isinstance(item, ImportItem) else item for item in source.items)
    done = service.import_all(items, progress, level="team")
    present = {memory.id for memory in service.store.get(list(source.projects))}
    there = Counter(source.projects.values())
    here = Counter(project for memory, project in source.projects.items() if memory in present)
    return Moved(done, {name: (there[name], here[name]) for name in sorted(there)}, source.problem)


def _unknown(listed: Sequence[ListedMemory], service: MemoryService, names: Mapping[str, str]) -> list[str]:
    """The ids there of memories that are not here, or were changed there since."""
    sought = [
        Sought(ids.from_uuid(one.id), names.get(one.project, one.project) or None, one.created_at) for one in listed
    ]
    stored = service.find_stored(sought)
    return [
        one.id
        for one, each in zip(listed, sought, strict=True)
        if (known := stored.get((each.id, each.project))) is None or (one.updated_at or 0) > known.updated_at
    ]


def _loaded(api: Api, uuids: Sequence[str]) -> Iterator[ImportItem]:
    now = time.time_ns() // 1_000_000
    for start in range(0, len(uuids), _LOADED):
        for one in api.load(uuids[start : start + _LOADED], bulk=True):
            yield item_of_payload(one.id, _payload(one), now)


def _payload(one: LoadedMemory) -> dict[str, object]:
    """A memory as its point has it."""
    return {
        "id": one.id, "text": one.text, "title": one.title, "agent": one.agent, "project": one.project,
        "tags": list(one.tags), "created_at": one.created_at, "updated_at": one.updated_at,
        "createdBy": one.created_by, "updatedBy": one.updated_by, "last_accessed": one.accessed_at,
        "access_count": one.access_count,
    }  # fmt: skip


def _in_project(item: ImportItem, names: Mapping[str, str]) -> ImportItem:
    """The item in the project that it names, under the id that this has here."""
    if item.values is None or not item.project:
        return item
    return replace(item, values={**item.values, "project": names.get(item.project, item.project)})
