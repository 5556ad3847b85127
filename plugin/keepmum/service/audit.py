"""Scan what is stored already, or files, with the current rules; remove what they find from the store."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from keepmum.core import masking, serialization, validation
from keepmum.core.errors import Incomplete, ScannerFailed, StoreError
from keepmum.core.memory import Action, Activity, Change, JsonValue, Memory
from keepmum.core.progress import Progress, ignore_progress
from keepmum.service import lookup
from keepmum.service.briefing_files import remove_all
from keepmum.service.context import ServiceContext
from keepmum.stores import Store
from keepmum.stores.base import known_folders

__all__ = [
    "LARGEST_FILE",
    "FileSecret",
    "Report",
    "StoredSecret",
    "UnscannedFile",
    "audit_file",
    "audit_store",
    "cleanse",
    "files_below",
]

LARGEST_FILE = 10 * 1024 * 1024  # bytes
_SKIPPED_FOLDERS = frozenset({".git"})
_ALL = 1 << 40


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """Where in the store a secret is, and the rule that found it; never the secret."""

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
    """The result of an audit. It knows the secrets, in order to remove their other mentions, and shows them nowhere."""

    places: list[StoredSecret] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list, repr=False)  # with a secret in them or in their history
    secrets: dict[str | None, dict[str, str]] = field(default_factory=dict, repr=False)  # by memory: text and rule
    looked_at: int = 0  # memories
    incomplete: str = ""  # why not every memory could be read


@dataclass(frozen=True, slots=True)
class FileSecret:
    """Where in a file a secret is, and the rule that found it; never its text."""

    file: str
    line: int
    column: int
    rule: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.rule}"


@dataclass(frozen=True, slots=True)
class UnscannedFile:
    """A file that was not scanned, and why."""

    file: str
    reason: str
    may_hold_text: bool


def audit_store(context: ServiceContext, progress: Progress = ignore_progress) -> Report:
    """What the rules find in all memories of any status and project, history, the activity log and known folders.

    Raises: StoreError, ScannerFailed.
    """
    context.log.flush()
    store, scan, report = context.store, context.scan, Report()
    composite, known = store.features.composite, set[str]()
    parts = composite.parts.values() if composite else [store]  # each has its own copies
    for memory in (memory for part in parts for page in _pages(part, report) for memory in page):
        before = len(report.places)
        _scan_record(report, context, "memory", memory.id, serialization.to_json(memory))
        for past in store.history(memory.id) if memory.id not in known else ():  # a copy has the same history
            _scan_record(report, context, "history", memory.id, past.before)
        if len(report.places) > before:
            report.memories.append(memory)
        known.add(memory.id)
        report.looked_at = len(known)
        progress(report.looked_at, 0)
    for event in store.activity(_ALL):
        values = {"agent": event.agent, "key": event.key, "project": event.project, "detail": event.detail}
        _scan_values(report, scan, "activity", event.memory, values)
    for root, project, name in known_folders(store):
        _scan_values(report, scan, "folder", None, {"root": root, "project": project, "name": name})
    return report


def _pages(store: Store, report: Report) -> Iterator[list[Memory]]:
    """All memories of a store, page by page; notes in `report` when there should be more."""
    try:
        yield from lookup.pages(store)
    except Incomplete as error:
        report.incomplete = str(error)


def cleanse(context: ServiceContext, report: Report, *, purge: bool) -> list[str]:
    """Remove from the store what `report` found, or with `purge` the memories with it; returns the removed copies.

    Nothing of it is left in the rows, the history, the activity, the index, the file itself, a backup or a briefing.

    Raises: StaleWrite when a memory was changed meanwhile, StoreError, ScannerFailed.
    """
    scan, agent, now = context.scan, context.agent, context.clock()
    erasure = context.store.features.erasure
    if erasure is None:
        raise StoreError("this store cannot erase data without a trace; nothing was removed")

    def redact(memory: str | None, values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        redactor = masking.Redactor(scan, report.secrets.get(memory, {}))
        cleaned = {
            name: value if _is_plain(name, value) else redactor.field(name, value) for name, value in values.items()
        }
        return masking.without_related(cleaned, scan, context.related) if memory else cleaned

    changes, activity = [], []
    for memory in report.memories:
        after = None if purge else _redacted(memory, redact(memory.id, serialization.to_json(memory)), now, agent)
        if after == memory:  # only its history has one
            continue
        changes.append(Change(memory, after))
        action: Action = "purged" if purge else "updated"
        project, detail = (None, "") if after is None else (after.project, "secrets redacted by an audit")
        activity.append(Activity(at=now, agent=agent, action=action, memory=memory.id, project=project, detail=detail))
    removed = erasure.cleanse(changes, activity, redact)
    if context.options.home:
        remove_all(context.options.home)
    context.refresh_briefings(None)
    return removed


def files_below(paths: Sequence[str]) -> Iterator[str]:
    """The regular files at and below `paths`, without `.git` folders; links are not followed."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
            for name in sorted(names):
                inside = os.path.join(folder, name)
                if os.path.isfile(inside) and not os.path.islink(inside):
                    yield inside


def audit_file(path: str, scan: validation.Scan) -> list[FileSecret] | UnscannedFile:
    """What is found in the file at `path`, or why it was not scanned.

    Raises: ScannerFailed.
    """
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            return UnscannedFile(path, "is not a file", may_hold_text=True)
        if about.st_size > LARGEST_FILE:
            return UnscannedFile(path, f"is larger than {LARGEST_FILE // 1024 // 1024} MiB", may_hold_text=True)
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        return UnscannedFile(path, error.strerror or "cannot be read", may_hold_text=True)
    try:
        from keepmum_scanner.inputs import Unreadable, to_text  # here, so that a damaged scanner breaks nothing else
    except Exception:  # noqa: BLE001 - a damaged file raises anything
        raise ScannerFailed from None
    try:
        text = to_text(content, path)
    except Unreadable:
        return UnscannedFile(path, "is binary", may_hold_text=False)
    return [_file_secret(path, text, finding) for finding in validation.scan_text(text, scan)]


def _file_secret(path: str, text: str, finding: validation.Finding) -> FileSecret:
    start = finding.start
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    return FileSecret(path, line, column, finding.rule, finding.fingerprint)


def _redacted(
    memory: Memory,
    values: Mapping[str, Any],  # Any: fields of a memory, each of its own type
    now: int,
    agent: str,
) -> Memory:
    cleaned = replace(memory, **{**values, "tags": tuple(values["tags"])})
    if cleaned == memory:
        return memory
    key = memory.key if cleaned.key == memory.key else None  # a placeholder is not a name
    return replace(cleaned, key=key, updated_at=now, updated_by=agent, revision=memory.revision + 1)


def _scan_values(
    report: Report, scan: validation.Scan, where: str, memory: str | None, values: Mapping[str, JsonValue]
) -> None:
    for name, value in values.items():
        for finding, line, secret in (
            () if _is_plain(name, value) else validation.locate_secrets(value, validation.scan_of(name, scan))
        ):
            report.places.append(StoredSecret(where, memory, name, line, finding.rule, finding.fingerprint))
            report.secrets.setdefault(memory, {})[secret] = finding.rule


def _scan_record(
    report: Report, context: ServiceContext, where: str, memory: str, values: Mapping[str, JsonValue]
) -> None:
    """Scan the fields of a memory, and what they say about each other."""
    _scan_values(report, context.scan, where, memory, values)
    for name, finding, line, secret in validation.locate_related(values, context.scan, context.related):
        report.places.append(StoredSecret(where, memory, name, line, finding.rule, finding.fingerprint))
        report.secrets.setdefault(memory, {})[secret] = finding.rule


def _is_plain(name: str, value: JsonValue) -> bool:
    """Whether a value cannot hold a secret: a number, or the id of a memory where one belongs."""
    return value is None or isinstance(value, int | float) or serialization.is_link(name, value)
