"""Writes to the stores of a composite: each change in its own store, all of them or none.

Two stores have no common transaction. So new data is written before old data is removed, and when the second store
fails, the changes in the first are undone. At worst a memory is in both stores, never in neither.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import replace

from keepmum.core.errors import StoreError
from keepmum.core.memory import Activity, Change, Memory
from keepmum.stores.base import STORED, Receipt, Redact, StaleWrite, Store
from keepmum.stores.composite.members import Members, age

__all__ = ["cleanse", "commit"]

Steps = Sequence[tuple[Store, Change]]
_EMPTY = Memory(id="", text="", title="", created_at=0, updated_at=0)


def commit(members: Members, changes: Sequence[Change], activity: Sequence[Activity]) -> Receipt:
    """Apply all changes, each in its own store, or nothing.

    Raises: StaleWrite, StoreError.
    """
    steps = _steps(members, changes)
    entries = _entries(members, steps, activity)
    stores = list(dict.fromkeys(store for store, _ in steps)) or [members.first]
    # Stores that only remove come last: until then a memory is in both stores rather than in neither.
    stores.sort(key=lambda store: any(step.after is None for at, step in steps if at is store))
    if len(stores) > 1:
        _check(steps)
    done: list[Store] = []
    receipts = []
    for store in stores:
        try:
            own = [step for at, step in steps if at is store]
            receipts.append(store.commit(own, entries.pop(store, ())))
        except BaseException:
            _undo([step for step in steps if step[0] in done])
            raise
        done.append(store)
    for store, remaining in entries.items():
        store.log(remaining)
    ids = {given: kept for receipt in receipts for given, kept in receipt.ids.items()}
    queued = sum(receipt.queued for receipt in receipts)
    return Receipt(ids, queued) if ids or queued else STORED


def cleanse(members: Members, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
    """Apply changes in their stores and redact history and activity of each; returns the names of removed copies.

    Raises: StaleWrite, StoreError.
    """
    steps = _steps(members, changes)
    entries = _entries(members, steps, activity)
    removed = []
    for store in members.parts.values():
        erasure = store.features.erasure
        if erasure is not None:  # a composite offers erasure only when all its stores do
            removed += erasure.cleanse([step for at, step in steps if at is store], entries.get(store, ()), redact)
    return removed


def _steps(members: Members, changes: Sequence[Change]) -> Steps:
    """Each change with its store; a change that moves a memory becomes a creation and a removal."""
    steps: list[tuple[Store, Change]] = []
    purged: set[str] = set()
    for change in changes:
        before, after = change.before, change.after
        if before is None:
            if after is not None:
                steps.append((members.route(after.scope), change))
            continue
        if after is None and before.id in purged:  # together with its other copy
            continue
        copies = members.copies(before)
        changed = {store for store, step in steps if step.before and step.before.id == before.id}
        here = _held_by(members, before, copies, changed)
        if after is None:
            purged.add(before.id)
            steps += [(here, change), *((store, Change(copy, None)) for store, copy in copies if store is not here)]
        elif after.scope == before.scope or (there := members.route(after.scope)) is here:
            steps.append((here, change))
        else:
            steps += [(there, replace(change, before=dict(copies).get(there))), (here, Change(before, None))]
    return steps


def _held_by(
    members: Members, memory: Memory, copies: Sequence[tuple[Store, Memory]], changed: Collection[Store]
) -> Store:
    """The store that holds a memory. With two copies: the one that was read and is not in `changed`."""
    found = [(store, copy) for store, copy in copies if store not in changed]
    if found:
        return next((store for store, copy in found if age(copy) == age(memory)), found[0][0])
    for store in members.opened:
        if store.get([memory.id]):
            return store
    raise StaleWrite("the memory was removed meanwhile")


def _entries(members: Members, steps: Steps, activity: Sequence[Activity]) -> dict[Store, list[Activity]]:
    """Activity by store: the store of its memory, or the first store."""
    homes = {(step.after or step.before or _EMPTY).id: store for store, step in reversed(steps)}
    entries: dict[Store, list[Activity]] = {}
    for event in activity:
        entries.setdefault(homes.get(event.memory or "", members.first), []).append(event)
    return entries


def _check(steps: Steps) -> None:
    """Refuse stale changes before any store is written.

    Raises: StaleWrite.
    """
    for store, step in steps:
        if step.before is not None:
            found = store.get([step.before.id])
            if not found or found[0].revision != step.before.revision:
                raise StaleWrite("the memory was changed meanwhile")


def _undo(steps: Steps) -> None:
    """Undo changes; one that cannot be undone leaves an additional copy and loses nothing."""
    for store, step in reversed(steps):
        before = step.before
        if before is not None and step.after is not None:
            before = replace(before, revision=step.after.revision + 1)
        with contextlib.suppress(StoreError):
            store.commit([Change(step.after, before)])
