"""Memories as they may be shown: without the secrets that an older version, another tool or a hand put into the store.

What is kept stays as it is; `keepmum audit` mends that. A secret that was found in one field of a memory is taken out
of all of them, since a second mention may stand in words that give no scanner a reason.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keepmum.core import serialization, validation
from keepmum.core.errors import ScannerFailed
from keepmum.core.memory import LIMITS, Activity, JsonValue, Memory, Revision

__all__ = ["Masker", "Redactor", "SecretLocation", "mask"]

_SAID = operator.attrgetter(
    *(name for name in serialization.TEXTS if name not in {"data", "git"})
)  # these have no hash
_LONGEST = {"title": LIMITS.title, "key": LIMITS.key, "why": LIMITS.why, "source": LIMITS.source}
_PIECE = 5  # characters: the shortest piece of a secret that says something of it
_SHORT = 255  # characters; names of agents and projects come again with every memory
_KEPT = 10_000  # verdicts, of memories and of short texts each
_WITHHELD = "[withheld: the scanner failed; run `keepmum doctor`]"


@dataclass(frozen=True, slots=True)
class SecretLocation:
    """Where a secret was found in a memory, and of which rule; never the secret."""

    field: str
    rule: str
    line: int
    fingerprint: str


def mask(
    values: Mapping[str, JsonValue], scan: validation.Scan
) -> tuple[dict[str, JsonValue], list[SecretLocation], Redactor]:
    """The fields of a memory that hold a secret, without it; where that was; and what takes the same out elsewhere.

    Raises: ScannerFailed.
    """
    said = {
        name: value
        for name in serialization.TEXTS
        if (value := values.get(name)) and not serialization.is_link(name, value)
    }
    spots: list[SecretLocation] = []
    secrets: dict[str, str] = {}
    for name, value in said.items():
        for finding, line, secret in validation.locate_secrets(value, scan):
            spots.append(SecretLocation(name, finding.rule, line, finding.fingerprint))
            secrets[secret] = finding.rule
    eraser = Redactor(scan, secrets)
    if not spots:
        return {}, spots, eraser
    cleaned = {name: eraser.field(name, value) for name, value in said.items()}
    return {name: value for name, value in cleaned.items() if value != said[name]}, spots, eraser


class Redactor:
    """Takes secrets out of texts: those it knows, whole or cut off at the end of a text, and those it finds."""

    def __init__(self, scan: validation.Scan, secrets: Mapping[str, str]) -> None:
        self._scan = scan
        self._secrets = {secret: f"[{rule} removed]" for secret, rule in secrets.items() if len(secret) >= _PIECE}

    def field(self, name: str, value: JsonValue) -> JsonValue:
        """A field's value without secrets, still of its type and within its limit."""
        if isinstance(value, str):
            text = self.text(value)
            return value if text == value else _fitted(name, text)
        cleaned = self._json(value, "")
        if any(validation.scan_text(text, self._scan) for text in validation.scannable_texts(cleaned)):
            cleaned = {} if isinstance(value, Mapping) else []  # one that is spread over several values
        return tuple(str(tag) for tag in cleaned) if isinstance(cleaned, list) and name == "tags" else cleaned

    def text(self, text: str) -> str:
        """`text` without secrets; where something is left that looks like one, the rule's name alone.

        Raises: ScannerFailed.
        """
        found = validation.scan_text(text, self._scan)
        cleaned = self._without_known(_without(text, found))
        left = validation.scan_text(cleaned, self._scan) if cleaned != text else ()
        return f"[{left[0].rule} removed]" if left else cleaned

    def _without_known(self, text: str) -> str:
        for secret, placeholder in self._secrets.items():
            text = text.replace(secret, placeholder)
            whole = text.rstrip("… ")
            for length in range(min(len(secret), len(whole)), _PIECE - 1, -1):
                if whole.endswith(secret[:length]):
                    text = whole[:-length] + placeholder
                    break
        return text

    def _json(self, value: JsonValue, name: str) -> JsonValue:
        if isinstance(value, Mapping):
            return {self.text(key): self._json(item, key) for key, item in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self._json(item, name) for item in value]
        if value is None or isinstance(value, bool):
            return value
        told = f"{name}: {value}" if name else str(value)
        cleaned = self.text(told)
        return value if cleaned == told else cleaned.removeprefix(f"{name}: ")


class Masker:
    """Shows memories, revisions and log entries without secrets, and counts what it masked.

    A memory is judged once for each thing it said; `on_masked` hears of it then. A scanner that fails shows nothing.
    """

    def __init__(self, scan: validation.Scan, on_masked: Callable[[Memory, str], None]) -> None:
        self._judge = scan
        self._on_masked = on_masked
        self._places: dict[str, int] = {}  # of the memories shown, by id
        self._failed = False
        self._verdicts: dict[tuple[str, int, int], dict[str, Any]] = {}
        self._harmless: set[str] = set()
        self._trusted: Collection[str] = ()

    @property
    def notice(self) -> str:
        """What a user should know: how much was masked, or that the scanner failed; empty when nothing was."""
        if self._failed:
            return "the scanner failed, so texts are withheld; run `keepmum doctor`"
        count = sum(self._places.values())
        return f"{count} {'place' if count == 1 else 'places'} masked: run `keepmum audit`" if count else ""

    def memory(self, memory: Memory) -> Memory:
        """`memory` as it may be shown."""
        # By what it says too: a hand that edits the store counts no revision.
        place = (memory.id, memory.revision, hash((_SAID(memory), repr((memory.data, memory.git)))))
        changed = self._verdicts.get(place)
        if changed is None:
            try:
                changed = self._judged(memory)
            except ScannerFailed:
                self._failed = True
                return _withheld(memory)
            if len(self._verdicts) >= _KEPT:
                self._verdicts.clear()
            self._verdicts[place] = changed
        return replace(memory, **changed) if changed else memory

    def trust(self, texts: Collection[str]) -> None:
        """Scan these texts no more, since a write has just found them clean; replaces those of the write before."""
        self._trusted = texts

    def revision(self, revision: Revision) -> Revision:
        """A revision as it may be shown."""
        try:
            changed = mask(revision.before, self._scan)[0]
        except ScannerFailed:
            self._failed = True
            changed = {name: _WITHHELD for name in serialization.TEXTS if isinstance(revision.before.get(name), str)}
            changed |= {"data": None, "git": None, "tags": ()}
        return replace(revision, before={**revision.before, **changed}) if changed else revision

    def activity(self, event: Activity) -> Activity:
        """An entry of the log as it may be shown."""
        agent, key, detail = self.text(event.agent), event.key and self.text(event.key), self.text(event.detail)
        return event if (agent, key, detail) == (event.agent, event.key, event.detail) else replace(
            event, agent=agent, key=key, detail=detail
        )  # fmt: skip

    def text(self, text: str) -> str:
        """`text` as it may be shown."""
        try:
            return Redactor(self._scan, {}).text(text)
        except ScannerFailed:
            self._failed = True
            return _WITHHELD

    def _judged(self, memory: Memory) -> dict[str, Any]:
        changed, spots, _ = mask({name: getattr(memory, name) for name in serialization.TEXTS}, self._scan)
        self._failed = False
        self._places.pop(memory.id, None)
        if spots:
            self._places[memory.id] = len(spots)
            rules = ", ".join(sorted({spot.rule for spot in spots}))
            shown: dict[str, Any] = dict(changed)
            self._on_masked(replace(memory, **shown), rules)
        return changed

    def _scan(self, text: str) -> Sequence[validation.Finding]:
        if text in self._harmless or text in self._trusted:
            return ()
        found = self._judge(text)
        if not found and len(text) <= _SHORT:
            if len(self._harmless) >= _KEPT:
                self._harmless.clear()
            self._harmless.add(text)
        return found


def _without(text: str, found: Sequence[validation.Finding]) -> str:
    """`text` with each finding's place replaced by its rule."""
    pieces, done = [], 0
    for finding in sorted(found, key=lambda one: one.start):
        pieces += [text[done : finding.start], f"[{finding.rule} removed]"]
        done = finding.end
    return "".join(pieces) + text[done:]


def _fitted(name: str, text: str) -> str:
    """`text` within the limit of its field: a placeholder may be longer than what it stands for."""
    if name in {"text", "detail"}:
        return text.encode()[: LIMITS.text].decode(errors="ignore")
    return text[: _LONGEST.get(name, LIMITS.name)]


def _withheld(memory: Memory) -> Memory:
    """A memory of which nothing is shown but that it is there."""
    texts: dict[str, Any] = {name: _WITHHELD for name in serialization.TEXTS if isinstance(getattr(memory, name), str)}
    return replace(memory, **{**texts, "data": None, "git": None, "tags": ()})
