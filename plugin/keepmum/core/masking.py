"""Masks secrets in memories before they are shown: an older version, another tool or an edit may have stored them.

The store is not changed; `keepmum audit` does that. A secret found in one field of a memory is masked in all its
fields, since another mention may lack the context by which the scanner recognises it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keepmum.core import serialization, validation
from keepmum.core.errors import ScannerFailed
from keepmum.core.memory import LIMITS, Activity, JsonValue, Memory, Revision

__all__ = ["CleanMemories", "Masker", "Redactor", "SecretLocation", "mask", "without_related"]

_HASHABLE = operator.attrgetter(*(name for name in serialization.TEXTS if name not in {"data", "git"}))
_LIMITS = {"title": LIMITS.title, "key": LIMITS.key, "why": LIMITS.why, "source": LIMITS.source}
_MIN_SECRET = 4  # characters, of a PIN
_MIN_PIECE = 5  # characters; a shorter piece of a secret reveals nothing
_MAX_CACHED_TEXT = 255  # characters; names of agents and projects recur with every memory
_CACHE_SIZE = 10_000  # entries, of memories with findings and of short texts each
_MOST_CLEAN = 20_000  # memories without findings; 5 MB
_WITHHELD = "[withheld: the scanner failed; run `keepmum doctor`]"


@dataclass(frozen=True, slots=True)
class SecretLocation:
    """Where a secret was found in a memory, and by which rule; never the secret."""

    field: str
    rule: str
    line: int
    fingerprint: str


def mask(
    values: Mapping[str, JsonValue], scan: validation.Scan, related: validation.Related | None = None
) -> tuple[dict[str, JsonValue], list[SecretLocation], Redactor]:
    """The masked values of the fields with secrets, their locations, and a redactor that knows these secrets.

    Raises: ScannerFailed.
    """
    texts = {
        name: value
        for name in serialization.TEXTS
        if (value := values.get(name)) and not serialization.is_link(name, value)
    }
    locations: list[SecretLocation] = []
    secrets: dict[str, str] = {}
    for name, value in texts.items():
        for finding, line, secret in validation.locate_secrets(value, validation.scan_of(name, scan)):
            locations.append(SecretLocation(name, finding.rule, line, finding.fingerprint))
            secrets[secret] = finding.rule
    for name, finding, line, secret in validation.locate_related(texts, scan, related) if related else ():
        locations.append(SecretLocation(name, finding.rule, line, finding.fingerprint))
        secrets[secret] = finding.rule
    redactor = Redactor(scan, secrets)
    if not locations:
        return {}, locations, redactor
    cleaned = {name: redactor.field(name, value) for name, value in texts.items()}
    if related:
        cleaned = without_related(cleaned, scan, related)
    return {name: value for name, value in cleaned.items() if value != texts[name]}, locations, redactor


def without_related(
    values: dict[str, JsonValue], scan: validation.Scan, related: validation.Related
) -> dict[str, JsonValue]:
    """`values` without the fields that others still name a secret, as when it is spelled differently there.

    Raises: ScannerFailed.
    """
    for path, finding, _, _ in validation.locate_related(values, scan, related):
        name = path.partition(".")[0].partition("[")[0]
        value = values[name]
        values[name] = f"[{finding.rule} removed]" if isinstance(value, str) else () if name == "tags" else {}
    return values


class Redactor:
    """Replaces secrets in texts by placeholders: known secrets, also when cut off at the end, and those it finds."""

    def __init__(self, scan: validation.Scan, secrets: Mapping[str, str]) -> None:
        self._scan = scan
        self._secrets = {secret: f"[{rule} removed]" for secret, rule in secrets.items() if len(secret) >= _MIN_SECRET}

    def field(self, name: str, value: JsonValue) -> JsonValue:
        """A field's value without secrets, of the same type and within its limit."""
        if isinstance(value, str):
            text = self.text(value, validation.scan_of(name, self._scan))
            return value if text == value else _fitted(name, text)
        cleaned = self._json(value, "")
        if any(validation.scan_text(text, self._scan) for text in validation.scannable_texts(cleaned)):
            cleaned = {} if isinstance(value, Mapping) else []  # a secret spread over several values
        return tuple(str(tag) for tag in cleaned) if isinstance(cleaned, list) and name == "tags" else cleaned

    def text(self, text: str, scan: validation.Scan | None = None) -> str:
        """`text` without what `scan` finds; only the placeholder if the result still looks like a secret.

        Raises: ScannerFailed.
        """
        scan = scan or self._scan
        found = validation.scan_text(text, scan)
        cleaned = self._without_known(_without(text, found))
        remaining = validation.scan_text(cleaned, scan) if cleaned != text else ()
        return f"[{remaining[0].rule} removed]" if remaining else cleaned

    def _without_known(self, text: str) -> str:
        for secret, placeholder in self._secrets.items():
            text = text.replace(secret, placeholder)
            whole = text.rstrip("… ")
            for length in range(min(len(secret), len(whole)), _MIN_PIECE - 1, -1):
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
        line = f"{name}: {value}" if name else str(value)  # the name may identify the value as a secret
        cleaned = self.text(line)
        return value if cleaned == line else cleaned.removeprefix(f"{name}: ")


_Content = tuple[str, int, int]  # of a memory: its id, its revision, and the hash of all its texts


class CleanMemories:
    """The memories in which a scanner found nothing, by their content, for all maskers of a program."""

    def __init__(self, allowed: Callable[[], object]) -> None:
        """`allowed` returns another value after the findings that the scanner allows have changed."""
        self._allowed = allowed
        self._state = allowed()
        self._known: set[_Content] = set()

    def known(self) -> set[_Content]:
        """The set, for one masker to read and add to; another one when more findings may be secrets since."""
        state = self._allowed()
        if state != self._state:
            self._state, self._known = state, set()
        return self._known


class Masker:
    """Masks memories, revisions and log entries, and counts the masked places.

    The result for a memory is cached by its content; `on_masked` is called when it is computed, with the masked memory
    and the rules. When the scanner fails, texts are withheld.
    """

    def __init__(
        self,
        scan: validation.Scan,
        on_masked: Callable[[Memory, str], None],
        related: validation.Related | None = None,
        clean: set[_Content] | None = None,
    ) -> None:
        """`clean` are memories without findings that this masker shares with others (see `CleanMemories`)."""
        self._scanner = scan
        self._related = related
        self._on_masked = on_masked
        self._counts: dict[str, int] = {}  # masked places by memory id
        self._failed = False
        self._masked: dict[_Content, dict[str, JsonValue]] = {}  # changed fields
        self._clean: set[_Content] = set() if clean is None else clean
        self._clean_texts: set[str] = set()  # short texts without findings
        self._trusted: Collection[str] = ()  # texts that the last write scanned
        self._trusted_record: Mapping[str, JsonValue] = {}  # and its fields

    @property
    def notice(self) -> str:
        """A notice for the user: the number of masked places, or that the scanner failed; empty for neither."""
        if self._failed:
            return "the scanner failed, so texts are withheld; run `keepmum doctor`"
        count = sum(self._counts.values())
        return f"{count} {'place' if count == 1 else 'places'} masked: run `keepmum audit`" if count else ""

    def memory(self, memory: Memory) -> Memory:
        """The memory without secrets."""
        # The key includes the content, since an edit of the store does not change the revision.
        key = (memory.id, memory.revision, hash((_HASHABLE(memory), repr((memory.data, memory.git)))))
        if key in self._clean:
            self._counts.pop(memory.id, None)
            return memory
        changed = self._masked.get(key)
        if changed is None:
            try:
                changed = self._mask(memory)
            except ScannerFailed:
                self._failed = True
                return _withheld(memory)
            if memory.id not in self._counts:
                if len(self._clean) >= _MOST_CLEAN:
                    self._clean.clear()
                self._clean.add(key)
                return memory
            if len(self._masked) >= _CACHE_SIZE:
                self._masked.clear()
            self._masked[key] = changed
        return _with_values(memory, changed)

    def trust(self, texts: Collection[str], record: Mapping[str, JsonValue]) -> None:
        """Skip the scan of these texts and this record, which a write has just scanned; replaces those before."""
        self._trusted = texts
        self._trusted_record = record

    def revision(self, revision: Revision) -> Revision:
        """The revision without secrets."""
        try:
            changed = mask(revision.before, self._scan, self._related)[0]
        except ScannerFailed:
            self._failed = True
            changed = {name: _WITHHELD for name in serialization.TEXTS if isinstance(revision.before.get(name), str)}
            changed |= {"data": None, "git": None, "tags": ()}
        agent = self.text(revision.agent)
        if not changed and agent == revision.agent:
            return revision
        return replace(revision, before={**revision.before, **changed}, agent=agent)

    def activity(self, event: Activity) -> Activity:
        """The log entry without secrets."""
        agent, key, detail = self.text(event.agent), event.key and self.text(event.key), self.text(event.detail)
        return event if (agent, key, detail) == (event.agent, event.key, event.detail) else replace(
            event, agent=agent, key=key, detail=detail
        )  # fmt: skip

    def text(self, text: str) -> str:
        """The text without secrets."""
        try:
            return Redactor(self._scan, {}).text(text)
        except ScannerFailed:
            self._failed = True
            return _WITHHELD

    def _mask(self, memory: Memory) -> dict[str, JsonValue]:
        values = {name: getattr(memory, name) for name in serialization.TEXTS}
        is_trusted = validation.written(values) == validation.written(self._trusted_record)
        changed, locations, _ = mask(values, self._scan, None if is_trusted else self._related)
        self._failed = False
        self._counts.pop(memory.id, None)
        if locations:
            self._counts[memory.id] = len(locations)
            rules = ", ".join(sorted({location.rule for location in locations}))
            self._on_masked(_with_values(memory, changed), rules)
        return changed

    def _scan(self, text: str) -> Sequence[validation.Finding]:
        if text in self._clean_texts or text in self._trusted:
            return ()
        found = self._scanner(text)
        if not found and len(text) <= _MAX_CACHED_TEXT:
            if len(self._clean_texts) >= _CACHE_SIZE:
                self._clean_texts.clear()
            self._clean_texts.add(text)
        return found


def _with_values(memory: Memory, values: Mapping[str, JsonValue]) -> Memory:
    """The memory with the masked values of some fields."""
    fields: dict[str, Any] = dict(values)  # the redactor keeps the type of each field
    return replace(memory, **fields) if fields else memory


def _without(text: str, found: Sequence[validation.Finding]) -> str:
    """`text` with each finding replaced by a placeholder."""
    pieces, done = [], 0
    for finding in sorted(found, key=lambda one: one.start):
        pieces += [text[done : finding.start], f"[{finding.rule} removed]"]
        done = finding.end
    return "".join(pieces) + text[done:]


def _fitted(name: str, text: str) -> str:
    """`text` cut to the limit of its field, since a placeholder may be longer than the secret."""
    if name in {"text", "detail"}:
        return text.encode()[: LIMITS.text].decode(errors="ignore")
    return text[: _LIMITS.get(name, LIMITS.name)]


def _withheld(memory: Memory) -> Memory:
    """The memory with all its texts withheld."""
    texts = {name: _WITHHELD for name in serialization.TEXTS if isinstance(getattr(memory, name), str)}
    return _with_values(memory, {**texts, "data": None, "git": None, "tags": ()})
