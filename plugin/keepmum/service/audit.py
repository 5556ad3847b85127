"""The whole store judged anew by the rules of today, and what they find taken out of it for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from keepmum.core import masking, serialization, validation
from keepmum.core.errors import StoreError
from keepmum.core.memory import Activity, Change, JsonValue, Memory
from keepmum.stores import Store
from keepmum.stores.base import known_folders

__all__ = ["Place", "Progress", "Report", "cleanse", "survey"]

Progress = Callable[[int], None]  # told how many memories are done
_PAGE = 500
_LAST_ID = "\U0010ffff"
_ALL = 1 << 40


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret is kept, and of which rule; never the secret."""

    where: str  # memory, history, activity or folder
    memory: str | None
    field: str
    line: int
    rule: str
    fingerprint: str

    def __str__(self) -> str:
        name = self.memory or "no memory"
        return f"{name if self.where == 'memory' else f'{name} ({self.where})'}:{self.field}:{self.line}: {self.rule}"


@dataclass(slots=True)
class Report:
    """What an audit found. It knows the secrets, to take out their other mentions, and shows them nowhere."""

    places: list[Place] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list, repr=False)  # that hold one, or whose history does
    secrets: dict[str | None, dict[str, str]] = field(default_factory=dict, repr=False)  # by memory: text and rule
    looked_at: int = 0  # memories


def survey(store: Store, scan: validation.Scan, progress: Progress = lambda _: None) -> Report:
    """What the rules find in every memory of any status, in the history, the activity log and the known folders.

    Raises: StoreError, ScannerFailed.
    """
    report = Report()
    known: set[str] = set()
    for memory in (memory for part in _parts(store) for memory in _every(part)):
        before = len(report.places)
        _judge(report, scan, "memory", memory.id, serialization.to_json(memory))
        for past in store.history(memory.id) if memory.id not in known else ():  # of a copy it is the same
            _judge(report, scan, "history", memory.id, past.before)
        if len(report.places) > before:
            report.memories.append(memory)
        known.add(memory.id)
        report.looked_at = len(known)
        progress(report.looked_at)
    for event in store.activity(_ALL):
        said = {"agent": event.agent, "key": event.key, "project": event.project, "detail": event.detail}
        _judge(report, scan, "activity", event.memory, said)
    for root, project, name in known_folders(store):
        _judge(report, scan, "folder", None, {"root": root, "project": project, "name": name})
    return report


def cleanse(  # noqa: PLR0913 - the one caller has all of them
    store: Store, scan: validation.Scan, report: Report, agent: str, now: int, *, purge: bool
) -> list[str]:
    """Take out of the store what `report` found, or with `purge` the memories that hold it; the copies removed.

    Nothing of it is left in the rows, the history, the activity, the index, the file itself or a backup.

    Raises: StaleWrite when a memory was changed meanwhile, StoreError, ScannerFailed.
    """
    erasure = store.features.erasure
    if erasure is None:
        raise StoreError("this store cannot erase data without a trace; nothing was removed")

    def clean(memory: str | None, values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        eraser = masking.Redactor(scan, report.secrets.get(memory, {}))
        return {name: value if _is_plain(name, value) else eraser.field(name, value) for name, value in values.items()}

    changes, activity = [], []
    for memory in report.memories:
        after = None if purge else _redacted(memory, clean(memory.id, serialization.to_json(memory)), now, agent)
        if after == memory:  # only its history holds one
            continue
        changes.append(Change(memory, after))
        activity.append(
            Activity(
                at=now,
                agent=agent,
                action="purged" if purge else "updated",
                memory=memory.id,
                project=None if after is None else after.project,
                detail="" if purge else "secrets redacted by an audit",
            )
        )
    return erasure.cleanse(changes, activity, clean)


def _redacted(memory: Memory, values: Mapping[str, Any], now: int, agent: str) -> Memory:
    cleaned = replace(memory, **{**values, "tags": tuple(values["tags"])})
    if cleaned == memory:
        return memory
    key = memory.key if cleaned.key == memory.key else None  # a placeholder is no name
    return replace(cleaned, key=key, updated_at=now, updated_by=agent, revision=memory.revision + 1)


def _parts(store: Store) -> list[Store]:
    """The stores that one is made of, each with its own copies of memories; itself where it is one."""
    composite = store.features.composite
    if composite is None:
        return [store]
    return [part for name in composite.names if (part := composite.part(name)) is not None]


def _every(store: Store) -> Iterator[Memory]:
    after = ""
    while page := [memory for memory in store.between(after, _LAST_ID, _PAGE + 1) if memory.id != after]:
        yield from page
        after = page[-1].id


def _judge(
    report: Report, scan: validation.Scan, where: str, memory: str | None, values: Mapping[str, JsonValue]
) -> None:
    for name, value in values.items():
        for finding, line, secret in () if _is_plain(name, value) else validation.locate_secrets(value, scan):
            report.places.append(Place(where, memory, name, line, finding.rule, finding.fingerprint))
            report.secrets.setdefault(memory, {})[secret] = finding.rule


def _is_plain(name: str, value: JsonValue) -> bool:
    """Whether a value can hold no secret: a number, or an id of ours where one belongs."""
    return value is None or isinstance(value, int | float) or serialization.is_link(name, value)
