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

Steps = Sequence[tuple[str, Change]]
_EMPTY = Memory(id="", text="", title="", created_at=0, updated_at=0)


def commit(members: Members, changes: Sequence[Change], activity: Sequence[Activity]) -> Receipt:
    """Apply all changes, each in its own store, or nothing.

    Raises: StaleWrite, StoreError.
    """
    steps = _steps(members, changes)
    entries = _entries(members, steps, activity)
    names = list(dict.fromkeys(name for name, _ in steps)) or [members.near[0].name]
    # Stores that only remove come last: until then a memory is in both stores rather than in neither.
    names.sort(key=lambda name: any(step.after is None for at, step in steps if at == name))
    if len(names) > 1:
        _check(members, steps)
    done: list[str] = []
    receipts = []
    for name in names:
        try:
            own = [step for at, step in steps if at == name]
            receipts.append(_at(members, name).commit(own, entries.get(name, ())))
        except BaseException:
            _undo(members, [(at, step) for at, step in steps if at in done])
            raise
        done.append(name)
    for name in entries.keys() - set(names):
        _at(members, name).log(entries[name])
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
    for member in members.near:
        erasure = member.store.features.erasure
        if erasure is not None:  # a composite offers erasure only when all its stores do
            own = [step for at, step in steps if at == member.name]
            removed += erasure.cleanse(own, entries.get(member.name, ()), redact)
    return removed


def _steps(members: Members, changes: Sequence[Change]) -> list[tuple[str, Change]]:
    """Each change with its store; a change that moves a memory becomes a creation and a removal."""
    steps: list[tuple[str, Change]] = []
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
        here = _held_by(
            members, before, copies, {name for name, step in steps if step.before and step.before.id == before.id}
        )
        if after is None:
            purged.add(before.id)
            steps += [(here, change), *((name, Change(copy, None)) for name, copy in copies if name != here)]
        elif after.scope == before.scope or (there := members.route(after.scope)) == here:
            steps.append((here, change))
        else:
            steps += [(there, replace(change, before=dict(copies).get(there))), (here, Change(before, None))]
    return steps


def _held_by(members: Members, memory: Memory, copies: Sequence[tuple[str, Memory]], changed: Collection[str]) -> str:
    """The store that holds a memory. With two copies: the one that was read and is not in `changed`."""
    found = [(name, copy) for name, copy in copies if name not in changed]
    if found:
        return next((name for name, known in found if age(known) == age(memory)), found[0][0])
    for number, store in enumerate(members.opened):
        if store.get([memory.id]):
            return f":{number}"
    raise StaleWrite("the memory was removed meanwhile")


def _at(members: Members, name: str) -> Store:
    if name.startswith(":"):
        return members.opened[int(name[1:])]
    store = members.store(name)
    if store is None:
        raise StoreError(f"there is no {name} store in this folder; nothing was stored")
    return store


def _entries(members: Members, steps: Steps, activity: Sequence[Activity]) -> dict[str, list[Activity]]:
    """Activity by store: the store of its memory, or the first store."""
    homes = {(step.after or step.before or _EMPTY).id: name for name, step in reversed(steps)}
    entries: dict[str, list[Activity]] = {}
    for event in activity:
        entries.setdefault(homes.get(event.memory or "", members.near[0].name), []).append(event)
    return entries


def _check(members: Members, steps: Steps) -> None:
    """Refuse stale changes before any store is written.

    Raises: StaleWrite.
    """
    for name, step in steps:
        if step.before is not None:
            found = _at(members, name).get([step.before.id])
            if not found or found[0].revision != step.before.revision:
                raise StaleWrite("the memory was changed meanwhile")


def _undo(members: Members, done: Steps) -> None:
    """Undo changes; one that cannot be undone leaves an additional copy and loses nothing."""
    for name, step in reversed(done):
        before = step.before
        if before is not None and step.after is not None:
            before = replace(before, revision=step.after.revision + 1)
        with contextlib.suppress(StoreError):
            _at(members, name).commit([Change(step.after, before)])
