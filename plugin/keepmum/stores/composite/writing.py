"""Changes, each in the store that it belongs to, all of them or none.

What a transaction over two stores cannot be is one transaction. What is new is made before what is old is removed,
and when the second store refuses, the first takes its part back: at worst a memory is in both, never in neither.
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
_NOBODY = Memory(id="", text="", title="", created_at=0, updated_at=0)


def commit(members: Members, changes: Sequence[Change], activity: Sequence[Activity]) -> Receipt:
    """Apply all changes, each in the store that it belongs to, or nothing.

    Raises: StaleWrite, StoreError.
    """
    steps = _steps(members, changes)
    told = _told(members, steps, activity)
    names = list(dict.fromkeys(name for name, _ in steps)) or [members.near[0].name]
    # What removes goes last: until then a memory lies in both places rather than in neither.
    names.sort(key=lambda name: any(step.after is None for at, step in steps if at == name))
    if len(names) > 1:
        _check(members, steps)
    done: list[str] = []
    receipts = []
    for name in names:
        try:
            own = [step for at, step in steps if at == name]
            receipts.append(_at(members, name).commit(own, told.get(name, ())))
        except BaseException:
            _take_back(members, [(at, step) for at, step in steps if at in done])
            raise
        done.append(name)
    for name in told.keys() - set(names):
        _at(members, name).log(told[name])
    ids = {given: kept for receipt in receipts for given, kept in receipt.ids.items()}
    queued = sum(receipt.queued for receipt in receipts)
    return Receipt(ids, queued) if ids or queued else STORED


def cleanse(members: Members, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
    """Apply changes in their stores and redact the history and activity of each; names of the copies removed.

    Raises: StaleWrite, StoreError.
    """
    steps = _steps(members, changes)
    told = _told(members, steps, activity)
    removed = []
    for member in members.near:
        erasure = member.store.features.erasure
        if erasure is not None:  # a composite offers erasure only when all its stores do
            own = [step for at, step in steps if at == member.name]
            removed += erasure.cleanse(own, told.get(member.name, ()), redact)
    return removed


def _steps(members: Members, changes: Sequence[Change]) -> list[tuple[str, Change]]:
    """Each change with the store it belongs to; one that moves a memory is a creation and a removal."""
    steps: list[tuple[str, Change]] = []
    gone: set[str] = set()
    for change in changes:
        before, after = change.before, change.after
        if before is None:
            if after is not None:
                steps.append((members.route(after.scope), change))
            continue
        if after is None and before.id in gone:  # with another of its copies
            continue
        copies = members.copies(before)
        here = _held_by(
            members, before, copies, {name for name, step in steps if step.before and step.before.id == before.id}
        )
        if after is None:
            gone.add(before.id)
            steps += [(here, change), *((name, Change(copy, None)) for name, copy in copies if name != here)]
        elif after.scope == before.scope or (there := members.route(after.scope)) == here:
            steps.append((here, change))
        else:
            steps += [(there, replace(change, before=dict(copies).get(there))), (here, Change(before, None))]
    return steps


def _held_by(members: Members, memory: Memory, copies: Sequence[tuple[str, Memory]], changed: Collection[str]) -> str:
    """The store that holds a memory; of two copies the one that was read, and that has not been `changed` yet."""
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


def _told(members: Members, steps: Steps, activity: Sequence[Activity]) -> dict[str, list[Activity]]:
    """The entries of the log by store: with the memory that they tell of, or else in the first store."""
    homes = {(step.after or step.before or _NOBODY).id: name for name, step in reversed(steps)}
    told: dict[str, list[Activity]] = {}
    for event in activity:
        told.setdefault(homes.get(event.memory or "", members.near[0].name), []).append(event)
    return told


def _check(members: Members, steps: Steps) -> None:
    """Refuse what a store would refuse, before another has done its part."""
    for name, step in steps:
        if step.before is not None:
            found = _at(members, name).get([step.before.id])
            if not found or found[0].revision != step.before.revision:
                raise StaleWrite("the memory was changed meanwhile")


def _take_back(members: Members, done: Steps) -> None:
    """Undo what was done in other stores; what cannot be undone is a copy too many, not a loss."""
    for name, step in reversed(done):
        before = step.before
        if before is not None and step.after is not None:
            before = replace(before, revision=step.after.revision + 1)
        with contextlib.suppress(StoreError):
            _at(members, name).commit([Change(step.after, before)])
