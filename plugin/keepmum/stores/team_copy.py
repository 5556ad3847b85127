"""Copies a team's memory into an empty database of the same or another engine; can be continued.

Ids, revisions, history, people, keys, the audit log, the activity log, the decisions of reviews and the answers to
repeated requests are kept. Vectors are not copied: they are computed again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from keepmum.core import serialization
from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Memory
from keepmum.stores.base import StaleWrite, Store
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.team import TeamRecords, seal_all
from keepmum.stores.team_traces import TRACES, Trace, Traces

__all__ = ["Copied", "Side", "copy_team", "pages"]

_PAGE = 200  # memories in a transaction
_ROWS = 1_000  # audit rows in a transaction
_LAST = "~"  # above every id


class Side(NamedTuple):
    """A database that is copied, or copied to."""

    acting: Callable[[Grant], Store]
    projects: Callable[[], Iterable[str]]  # that have memories; "" for none
    records: TeamRecords

    def of(self, project: str) -> Store:
        """The memories of a project, by the ids that it knows them by."""
        return self.acting(Grant(ORGANISATION, frozenset({project}), frozenset({project})))


class Copied(NamedTuple):
    """What both databases have in the end."""

    memories: int
    people: int
    keys: int
    audit: int  # rows
    traces: int  # rows of activity, reviews and kept answers
    digest: str  # of all memories with their history


def copy_team(source: Side, target: Side, report: Callable[[int], object] = lambda _: None) -> Copied:
    """Copy what is missing, then compare everything; `report` is called with the number of memories copied.

    Each project is copied by itself, since several may use one id.

    Raises: StoreError when the target has other data, or in the end not the same.
    """
    people, keys = source.records.people(), source.records.keys()
    _refuse_others(source, target)
    target.records.adopt_people(people, keys, source.records.erasures())
    target.records.secret_digest(source.records.secret_digest(None))
    rows = _copy_audit(source.records, target.records)
    digest, count = hashlib.sha256(), 0
    for project in sorted(source.projects()):
        here, there = source.of(project), target.of(project)
        for page in pages(here):
            _copy_page(here, there, page)
            count += len(page)
            for memory in page:
                digest.update(_text(there, memory).encode())
            report(count)
    traces = sum(_copy_trace(trace, source.records.traces, target.records.traces) for trace in TRACES)
    copied = sum(len(page) for project in target.projects() for page in pages(target.of(project)))
    same_people = {each.id: each for each in target.records.people()} == {each.id: each for each in people}
    if copied != count or not same_people or sorted(target.records.keys()) != sorted(keys):
        raise StoreError("people, keys or memories are not the same in the target; empty it and start again")
    return Copied(count, len(people), len(keys), rows, traces, digest.hexdigest())


def _refuse_others(source: Side, target: Side) -> None:
    """Check that the target has nothing but a part of the source, before anything is written.

    Raises: StoreError.
    """
    head = target.records.seal()
    last = next(source.records.chain(head.number - 1), None) if head.number else None
    people, others = source.records.people(), target.records.people()
    if {person.id for person in others} - {person.id for person in people} or (
        head.number and (last is None or last.hash != head.hash)
    ):
        raise StoreError("the target has people or an audit log of its own; use an empty database")
    if target.records.secret_digest(None) not in {None, source.records.secret_digest(None)}:
        raise StoreError("the target's keys are kept under a secret of its own; use an empty database")
    for project in target.projects():
        here = source.of(project)
        for page in pages(target.of(project)):
            if len(here.get([memory.id for memory in page])) != len(page):
                raise StoreError("the target has memories of its own; use an empty database")


def _copy_audit(source: TeamRecords, target: TeamRecords) -> int:
    """Copy the rest of the audit log, sealed or not, and seal it; returns its length."""
    number = target.seal().number
    try:
        while True:
            pending = source.pending()
            rows = source.chain(number)
            sealed = False
            while part := list(itertools.islice(rows, _ROWS)):
                target.adopt_audit(part)
                number, sealed = part[-1].number, True
            if not sealed:  # since `pending` was read
                break
        target.adopt_pending(pending)
    except StaleWrite:
        raise StoreError("the target has an audit log of its own; use an empty database") from None
    seal_all(target)
    return target.seal().number


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


def _copy_trace(trace: Trace, source: Traces, target: Traces) -> int:
    """Copy the rows that are missing, and compare all of them; returns their number.

    Raises: StoreError.
    """
    rows = itertools.islice(source.rows(trace), target.count(trace) if trace == "activity" else 0, None)
    while part := list(itertools.islice(rows, _ROWS)):
        target.adopt(trace, part)
    pairs = itertools.zip_longest(source.rows(trace), target.rows(trace))
    if any(one != other for one, other in pairs):
        raise StoreError(f"the rows of {trace} are not the same in the target; empty it and start again")
    return target.count(trace)


def _text(store: Store, memory: Memory) -> str:
    """A memory with its history, as text that is the same in every store."""
    kept = store.get([memory.id])
    past = [[each.revision, each.at, each.agent, each.action, each.before] for each in store.history(memory.id)]
    return json.dumps([[serialization.to_json(one) for one in kept], past], sort_keys=True, ensure_ascii=False)


def pages(store: Store) -> Iterator[list[Memory]]:
    """All memories, in the order of ids; projects of PostgreSQL may share an id, so the last ones are read again."""
    last, known = "", set[tuple[str, str | None]]()
    while True:
        found = store.between(last, _LAST, _PAGE + len(known))
        page = [memory for memory in found if (memory.id, memory.project) not in known]
        if not page:
            return
        yield page
        last = page[-1].id
        known = {(memory.id, memory.project) for memory in found if memory.id == last}
