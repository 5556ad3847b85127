"""Copies a team's memory into an empty database of the same or another engine; a second run goes on where one ended.

Ids, revisions, history, people, keys and the audit log are kept. Vectors are not copied: they are computed again. The
activity log is not copied either: the audit log has what was changed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from keepmum.core import serialization
from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Memory
from keepmum.stores.base import StaleWrite, Store
from keepmum.stores.team import TeamRecords

__all__ = ["Copied", "copy_team"]

_PAGE = 200  # memories in a transaction
_ROWS = 1_000  # audit rows in a transaction
_LAST = "~"  # above every id
_Side = tuple[Store, TeamRecords]


class Copied(NamedTuple):
    """What both databases have in the end."""

    memories: int
    people: int
    keys: int
    audit: int  # rows
    digest: str  # of all memories with their history


def copy_team(source: _Side, target: _Side, report: Callable[[int], object] = lambda _: None) -> Copied:
    """Copy what is missing, then compare everything; `report` is called with the number of memories so far.

    Raises: StoreError when the target has other data, or in the end not the same.
    """
    people, keys = source[1].people(), source[1].keys()
    target[1].adopt_people(people, keys, source[1].erasures())
    secret = source[1].secret_digest(None)
    if secret is not None and target[1].secret_digest(secret) != secret:
        raise StoreError("the keys of the target are kept under another secret; use an empty database")
    rows = _copy_audit(source[1], target[1])
    digest, count = hashlib.sha256(), 0
    for page in _pages(source[0]):
        _copy_page(source[0], target[0], page)
        count += len(page)
        for memory in page:
            digest.update(_text(target[0], memory).encode())
        report(count)
    if sum(map(len, _pages(target[0]))) != count:
        raise StoreError("the target has memories of its own; use an empty database")
    if {person.id for person in target[1].people()} != {person.id for person in people} or (
        sorted(target[1].keys()) != sorted(keys)
    ):
        raise StoreError("the target has people or keys of its own; use an empty database")
    return Copied(count, len(people), len(keys), rows, digest.hexdigest())


def _copy_audit(source: TeamRecords, target: TeamRecords) -> int:
    """Copy the rest of the audit log; returns its length."""
    head = target.seal()
    rows = source.chain()
    known = itertools.islice(rows, head.number)
    last = next(iter(list(known)[-1:]), None)
    if head.number and (last is None or last.hash != head.hash):
        raise StoreError("the target has an audit log of its own; use an empty database")
    number = head.number
    while part := list(itertools.islice(rows, _ROWS)):
        try:
            target.adopt_audit(part)
        except StaleWrite:
            raise StoreError("the target has an audit log of its own; use an empty database") from None
        number = part[-1].number
    return number


def _copy_page(source: Store, target: Store, page: Sequence[Memory]) -> None:
    """Copy the memories of a page that are missing, and compare all of them.

    Raises: StoreError.
    """
    known = {memory.id for memory in target.get([memory.id for memory in page])}
    missing = [memory for memory in page if memory.id not in known]
    try:
        target.commit([Change(None, memory, past=tuple(source.history(memory.id))) for memory in missing])
    except StaleWrite:
        raise StoreError("the target has memories of its own; use an empty database") from None
    for memory in page:
        if _text(source, memory) != _text(target, memory):
            raise StoreError(f"the memory {memory.id} is not the same in the target; empty it and start again")


def _text(store: Store, memory: Memory) -> str:
    """A memory with its history, as text that is the same in every store."""
    kept = store.get([memory.id])
    past = [[each.revision, each.at, each.agent, each.action, each.before] for each in store.history(memory.id)]
    return json.dumps([[serialization.to_json(one) for one in kept], past], sort_keys=True, ensure_ascii=False)


def _pages(store: Store) -> Iterator[list[Memory]]:
    """All memories by id."""
    first = ""
    while page := store.between(first, _LAST, _PAGE):
        yield page
        first = page[-1].id + " "
