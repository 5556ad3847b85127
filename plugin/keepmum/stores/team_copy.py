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
    _refuse_others(source, target)
    target[1].adopt_people(people, keys, source[1].erasures())
    target[1].secret_digest(source[1].secret_digest(None))
    rows = _copy_audit(source[1], target[1])
    digest, count = hashlib.sha256(), 0
    for page in _pages(source[0]):
        _copy_page(source[0], target[0], page)
        count += len(page)
        for memory in page:
            digest.update(_text(target[0], memory).encode())
        report(count)
    if sum(map(len, _pages(target[0]))) != count or sorted(target[1].keys()) != sorted(keys):
        raise StoreError("the target was changed meanwhile; empty it and start again")
    return Copied(count, len(people), len(keys), rows, digest.hexdigest())


def _refuse_others(source: _Side, target: _Side) -> None:
    """Check that the target has nothing but a part of the source, before anything is written.

    Raises: StoreError.
    """
    head = target[1].seal()
    last = next(source[1].chain(head.number - 1), None) if head.number else None
    people, others = source[1].people(), target[1].people()
    if {person.id for person in others} - {person.id for person in people} or (
        head.number and (last is None or last.hash != head.hash)
    ):
        raise StoreError("the target has people or an audit log of its own; use an empty database")
    if target[1].secret_digest(None) not in {None, source[1].secret_digest(None)}:
        raise StoreError("the target's keys are kept under a secret of its own; use an empty database")
    for page in _pages(target[0]):
        if len(source[0].get([memory.id for memory in page])) != len(page):
            raise StoreError("the target has memories of its own; use an empty database")


def _copy_audit(source: TeamRecords, target: TeamRecords) -> int:
    """Copy the rest of the audit log; returns its length."""
    number = target.seal().number
    rows = source.chain(number)
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
