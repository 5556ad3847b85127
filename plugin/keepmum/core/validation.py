"""Checks a write before it is stored: cleans its text, enforces the limits and refuses secrets."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, Required, TypedDict, TypeVar, cast, runtime_checkable

from keepmum.core.errors import InvalidInput, ScannerFailed, SecretFound
from keepmum.core.memory import (
    KINDS,
    LIMITS,
    SCOPES,
    SOURCE_KINDS,
    TIERS,
    JsonValue,
    Kind,
    Memory,
    Scope,
    SourceKind,
    Tier,
    default_tier,
)

__all__ = [
    "CleanFields",
    "Fields",
    "Finding",
    "Related",
    "Scan",
    "Scanner",
    "clean",
    "clean_data",
    "clean_fields",
    "clean_tags",
    "clean_text",
    "fraction",
    "locate_related",
    "locate_secrets",
    "one_of",
    "refuse_secrets",
    "revise",
    "scan_of",
    "scan_text",
    "scannable_texts",
    "title_of",
    "written",
]

_Choice = TypeVar("_Choice", bound=str)
_MAX_TTL_SECONDS = 100 * 366 * 86_400


class Fields(TypedDict, total=False):
    """The optional fields of a write; a missing field or None leaves the memory's value as it is."""

    title: str | None
    key: str | None
    why: str | None
    kind: str | None
    tags: Iterable[str] | None
    scope: str | None
    tier: str | None
    importance: float | None
    confidence: float | None
    ttl_seconds: float | None
    endless: bool | None  # True removes the expiry
    unexplained: bool | None  # True removes the reason
    data: JsonValue
    source: str | None
    source_kind: str | None
    session: str | None
    project: str | None
    agent: str | None


class CleanFields(TypedDict, total=False):
    """The text and the given fields of a write, cleaned and within their limits."""

    text: Required[str]
    kind: Kind
    tier: Tier
    scope: Scope
    title: str
    key: str
    source: str
    source_kind: SourceKind
    session: str
    project: str
    agent: str
    why: str
    tags: tuple[str, ...]
    data: JsonValue
    importance: float
    confidence: float
    ttl_seconds: float
    endless: bool
    unexplained: bool


# Invisible characters that can hide instructions or reorder the displayed text: the tag block, bidirectional overrides
# and isolates, the byte-order mark, and control characters other than tab and line feed.
# Joiners and direction marks are kept: scripts need them.
_INVISIBLE = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069\ufeff\x01-\x08\x0b-\x1f\x7f-\x9f]")
_PLAIN = re.compile(r"[\t\n -~]*")  # the common case: nothing to normalise or remove
_ZERO_WIDTH_SPACES = re.compile("[\u200b\u2060]")
_ORDERS = frozenset({"ttl_seconds", "endless", "unexplained"})  # fields that say what to do with another
_MAX_DEPTH = 32
_CONTENT = ("title", "text", "why", "key", "tags", "data", "source")
# Fields that hold ids, which look random: only keys of a known format count there. Other rules begin with `secret.`.
_ID_FIELDS = frozenset({"session", "project", "user"})
_GUESSES = "secret."
_LONGEST_NAME = 32  # characters of a name in data that is shown
_as_json = json.JSONEncoder(ensure_ascii=False).encode


class Finding(Protocol):
    """One suspected secret by its position, as the scanner reports it."""

    @property
    def rule(self) -> str:
        """The id of the rule, such as github.token."""

    @property
    def start(self) -> int:
        """The index of its first character."""

    @property
    def end(self) -> int:
        """The index after its last character."""

    @property
    def fingerprint(self) -> str:
        """The fingerprint by which a person can allow it; empty when there is none."""


Scan = Callable[[str], Sequence[Finding]]
# The findings in the fields of a record that other fields name a credential: path and text of the field, and the
# finding. A path is names and indices; None is the step into a string that is JSON.
Related = Callable[[Mapping[str, JsonValue]], Sequence[tuple[tuple[str | int | None, ...], str, Finding]]]


@runtime_checkable
class Scanner(Protocol):
    """A scanner of texts that also knows the fields of a record that name each other."""

    def __call__(self, text: str) -> Sequence[Finding]:
        """The findings in `text`."""

    def related(self, record: Mapping[str, JsonValue]) -> Sequence[tuple[tuple[str | int | None, ...], str, Finding]]:
        """The findings in the fields of `record` that other fields name."""


def clean(name: str, value: str, limit: int, *, in_bytes: bool = False, one_line: bool = False) -> str:
    """`value` as stored: NFC, without invisible characters and without white space at its ends.

    Raises: InvalidInput for the field `name` when the value is invalid or longer than `limit` characters (or bytes).
    """
    printable = value.isascii() and value.isprintable()
    text = value.strip() if printable or _PLAIN.fullmatch(value) else _normalised(name, value)
    if one_line and not (printable and "  " not in text):
        text = " ".join(text.split())
    size = len(text) if text.isascii() or not in_bytes else len(text.encode())
    if size > limit:
        unit = "bytes" if in_bytes else "characters"
        advice = "store one concept per memory" if name == "text" else "shorten it"
        raise InvalidInput(name, f"has {size:,} {unit}, the limit is {limit:,}; {advice}")
    return text


def _normalised(name: str, value: str) -> str:
    if "\x00" in value:
        raise InvalidInput(name, "contains a NUL character; only text can be remembered")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(name, "contains half of a surrogate pair; send valid Unicode") from None
    text = unicodedata.normalize("NFC", value).replace("\r\n", "\n").replace("\r", "\n")
    return _INVISIBLE.sub("", _ZERO_WIDTH_SPACES.sub(" ", text)).strip()


def one_of(name: str, value: str, allowed: tuple[_Choice, ...]) -> _Choice:
    """`value` if it is allowed.

    Raises: InvalidInput with the allowed values.
    """
    for choice in allowed:
        if choice == value:
            return choice
    raise InvalidInput(name, f"is none of the allowed values: {', '.join(allowed)}")


def clean_fields(text: str, fields: Fields) -> CleanFields:
    """The text and the fields of a write, cleaned and checked.

    Raises: InvalidInput for the first field that is invalid or over its limit.
    """
    given: dict[str, Any] = {"text": clean_text(text)}
    for name, check in _CHECKS.items():
        value = fields.get(name)
        if value is not None and (cleaned := check(value)) is not None:
            given[name] = cleaned
    return cast("CleanFields", given)


def revise(base: Memory, given: CleanFields) -> Memory:
    """`base` with the text and the fields of a write; other fields stay, except a title made from the old text."""
    kind = given.get("kind", base.kind)
    has_own_title = base.title not in {"", title_of(base.text)}
    values: dict[str, Any] = {
        "title": base.title if has_own_title else title_of(given["text"]),
        "tier": base.tier if kind == base.kind else default_tier(kind),
        "expires_at": base.expires_at,
    }
    values |= {name: value for name, value in given.items() if name not in _ORDERS}
    if given.get("unexplained"):
        values["why"] = None
    if values["text"] != base.text:
        values |= {"citations": None, "confirmed_at": None, "confirmed_by": None}  # they were of the old text
    if "ttl_seconds" in given:
        values["expires_at"] = base.updated_at + int(given["ttl_seconds"] * 1000)
    elif given.get("endless"):
        values["expires_at"] = None
    return replace(base, **values)


def clean_text(text: str) -> str:
    """The text of a memory as stored.

    Raises: InvalidInput when it is empty or too long.
    """
    cleaned = clean("text", text, LIMITS.text, in_bytes=True)
    if not cleaned:
        raise InvalidInput("text", "is empty; give the text to remember")
    return cleaned


def fraction(name: str, value: float) -> float:
    """A number from 0 to 1.

    Raises: InvalidInput for any other number, including NaN.
    """
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(name, f"is {value}, it must be between 0 and 1")
    return float(value)


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in lower case, without duplicates, in the given order.

    Raises: InvalidInput when there are too many or one is too long.
    """
    cleaned = (clean("tags", tag, LIMITS.tag, one_line=True).lower() for tag in tags)
    unique = tuple(dict.fromkeys(tag for tag in cleaned if tag))
    if len(unique) > LIMITS.tags:
        raise InvalidInput("tags", f"there are {len(unique)}, the limit is {LIMITS.tags}")
    return unique


def clean_data(value: JsonValue) -> JsonValue:
    """JSON data as stored: every string in it is cleaned.

    Raises: InvalidInput when it is too large, nested too deeply, or not JSON.
    """
    cleaned = _cleaned(value, _MAX_DEPTH)
    size = len(_as_json(cleaned).encode())
    if size > LIMITS.data:
        raise InvalidInput("data", f"has {size:,} bytes, the limit is {LIMITS.data:,}")
    return cleaned


def title_of(text: str) -> str:
    """The default title of a text: its first line that is not blank, cut at a word; never empty."""
    lines = (" ".join(line.split()).strip(" #*->") for line in text.splitlines())
    line = next(filter(None, lines), "untitled")
    if len(line) <= LIMITS.title:
        return line
    return line[: LIMITS.title - 1].rsplit(" ", 1)[0] + "…"


def refuse_secrets(fields: Mapping[str, JsonValue], scan: Scan, related: Related | None = None) -> None:
    """Check that no string in `fields` contains a secret, also by what another field says; keys of JSON data too.

    Raises: SecretFound with field, rule, line and fingerprint of every finding; ScannerFailed.
    """
    found = [
        ((name, finding.rule, line), finding.fingerprint)
        for name, value in fields.items()
        for finding, line, _ in locate_secrets(value, scan_of(name, scan))
    ]
    if related is not None:
        found += [
            ((field, finding.rule, line), finding.fingerprint)
            for field, finding, line, _ in locate_related(fields, scan, related)
        ]
    if found:
        places = list(dict.fromkeys(place for place, _ in found))
        raise SecretFound(places, list(dict.fromkeys(name for _, name in found if name)))


def locate_related(
    fields: Mapping[str, JsonValue], scan: Scan, related: Related
) -> Iterator[tuple[str, Finding, int, str]]:
    """The findings that other fields name, each with its field, its line there (from 1) and the secret; never show it.

    Only fields that agents write can name a value: project, session and agent are ids.

    Raises: ScannerFailed.
    """
    try:
        found = related(written(fields))
    except Exception:  # noqa: BLE001 - whatever the reason, an unscanned text is treated as a secret
        raise ScannerFailed from None
    for path, text, finding in found:
        line = text.count("\n", 0, finding.start) + 1
        yield _shown_path(path, scan), finding, line, text[finding.start : finding.end]


def locate_secrets(value: JsonValue, scan: Scan) -> Iterator[tuple[Finding, int, str]]:
    """The findings in a field, each with its line (from 1) and the secret itself, for redaction; never show it.

    Raises: ScannerFailed.
    """
    for text in scannable_texts(value):
        for finding in scan_text(text, scan):
            yield finding, text.count("\n", 0, finding.start) + 1, text[finding.start : finding.end]


def written(fields: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The fields that agents write and that can name a value."""
    return {name: value for name in _CONTENT if (value := fields.get(name))}


def scan_of(name: str, scan: Scan) -> Scan:
    """The scan of the field `name`: `scan`, or for an id only the keys of a known format that it finds."""
    if name not in _ID_FIELDS:
        return scan
    return lambda text: [finding for finding in scan(text) if not finding.rule.startswith(_GUESSES)]


def scan_text(text: str, scan: Scan) -> Sequence[Finding]:
    """The findings in `text`.

    Raises: ScannerFailed when `scan` raises anything; without the cause, which may quote the text.
    """
    try:
        return scan(text)
    except Exception:  # noqa: BLE001 - whatever the reason, an unscanned text is treated as a secret
        raise ScannerFailed from None


def scannable_texts(value: JsonValue) -> Iterator[str]:
    """The texts of a field to be scanned; JSON data as `name: value` lines, so that the name is context for the value.

    The names of objects and lists are separate texts, so that they are not context for unrelated lines.
    """
    if isinstance(value, str):
        yield value
    elif value is not None:
        yield "\n".join(_lines(value, ""))
        yield from dict.fromkeys(_container_names(value))


def _shown_path(path: Sequence[str | int | None], scan: Scan) -> str:
    """The path as text, such as `data.rows[1][1]`; a name that could be a secret is not shown."""
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif step is not None:
            plain = len(step) <= _LONGEST_NAME and step.isascii() and step.replace("_", "").isalpha()
            shown += f".{step}" if plain and not scan_text(step, scan) else ".(a name)"
    return shown.removeprefix(".")


def _positive(value: float) -> float:
    if not 0.0 < value <= _MAX_TTL_SECONDS:
        raise InvalidInput("ttl_seconds", f"is {value}, it is a number of seconds above 0 and up to 100 years")
    return value


def _lines(value: JsonValue, name: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _lines(item, key)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _lines(item, name)
    else:
        yield f"{name}: {value}" if name else str(value)


def _container_names(value: JsonValue) -> Iterator[str]:
    """The names of objects and lists at any depth."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, (Mapping, Sequence)) and not isinstance(item, str):
                yield name
                yield from _container_names(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _container_names(item)


def _cleaned(value: JsonValue, depth: int) -> JsonValue:
    if depth == 0:
        raise InvalidInput("data", f"is nested more than {_MAX_DEPTH} deep")
    if isinstance(value, str):
        return clean("data", value, LIMITS.data, in_bytes=True)
    if isinstance(value, Mapping):
        return {clean("data", str(key), LIMITS.key): _cleaned(item, depth - 1) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_cleaned(item, depth - 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput("data", "contains a number that JSON cannot represent (NaN or infinity)")
    return value


def _line(name: str, limit: int) -> Callable[[str], str | None]:
    return lambda value: clean(name, value, limit, one_line=True) or None


# How each field of a write is checked and cleaned, in the order in which errors are reported. None means "not given".
_CHECKS: Mapping[str, Callable[[Any], object]] = {  # Any: each takes the type that `Fields` gives
    "kind": lambda value: one_of("kind", value, KINDS),
    "tier": lambda value: one_of("tier", value, TIERS),
    "scope": lambda value: one_of("scope", value, SCOPES),
    "source_kind": lambda value: one_of("source_kind", value, SOURCE_KINDS),
    "title": _line("title", LIMITS.title),
    "key": _line("key", LIMITS.key),
    "source": _line("source", LIMITS.source),
    "session": _line("session", LIMITS.name),
    "project": _line("project", LIMITS.name),
    "agent": _line("agent", LIMITS.name),
    "why": lambda value: clean("why", value, LIMITS.why) or None,
    "tags": clean_tags,
    "data": clean_data,
    "importance": lambda value: fraction("importance", value),
    "confidence": lambda value: fraction("confidence", value),
    "ttl_seconds": _positive,
    "endless": bool,
    "unexplained": bool,
}
