"""What is done to a write before anything is kept: clean the text, hold it to the limits, refuse secrets."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypedDict, TypeVar

from keepmum.core.errors import InvalidInput, ScannerFailed, SecretFound
from keepmum.core.memory import KINDS, LIMITS, SCOPES, TIERS, JsonValue, Kind, Memory, Scope, Tier, default_tier

__all__ = [
    "Draft",
    "Fields",
    "Finding",
    "Scan",
    "clean",
    "clean_data",
    "clean_tags",
    "clean_text",
    "draft",
    "fraction",
    "locate_secrets",
    "one_of",
    "refuse_secrets",
    "revise",
    "scan_text",
    "scannable_texts",
    "title_of",
]

_Choice = TypeVar("_Choice", bound=str)
_MAX_TTL_SECONDS = 100 * 366 * 86_400


class Fields(TypedDict, total=False):
    """What a write may say of a memory besides its text; what it does not say stays as it is."""

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
    endless: bool | None  # whether it expires no longer
    data: JsonValue
    source: str | None
    session: str | None
    project: str | None
    agent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The text and the fields of a write, cleaned and within their limits; None for a field that was not given."""

    text: str
    kind: Kind | None = None
    tier: Tier | None = None
    scope: Scope | None = None
    title: str | None = None
    key: str | None = None
    source: str | None = None
    session: str | None = None
    project: str | None = None
    agent: str | None = None
    why: str | None = None
    tags: tuple[str, ...] | None = None
    data: JsonValue = None
    importance: float | None = None
    confidence: float | None = None
    ttl_seconds: float | None = None
    endless: bool = False


# Characters that a reader does not see and that carry hidden instructions or reorder what is shown: the tag block,
# bidirectional overrides and isolates, the byte-order mark, and control characters other than tab and line feed.
# Joiners and direction marks stay: scripts need them.
_UNSEEN = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069\ufeff\x01-\x08\x0b-\x1f\x7f-\x9f]")
_PLAIN = re.compile(r"[\t\n -~]*")  # as most texts are: nothing to normalise, nothing unseen
_ZERO_WIDTH_SPACES = re.compile("[\u200b\u2060]")
_MAX_DEPTH = 32
_as_json = json.JSONEncoder(ensure_ascii=False).encode


class Finding(Protocol):
    """One suspected secret by place, as the scanner reports it."""

    @property
    def rule(self) -> str:
        """Which kind of secret."""

    @property
    def start(self) -> int:
        """Where it begins, in characters."""

    @property
    def end(self) -> int:
        """Where it ends, in characters."""

    @property
    def fingerprint(self) -> str:
        """What it is known by where it may be allowed; empty where that cannot be."""


Scan = Callable[[str], Sequence[Finding]]


def clean(name: str, value: str, limit: int, *, in_bytes: bool = False, one_line: bool = False) -> str:
    """`value` as it is kept: NFC, without unseen characters, without blanks at its ends.

    Raises: InvalidInput naming the field when it cannot be kept, or is longer than `limit` characters (or bytes).
    """
    printable = value.isascii() and value.isprintable()
    text = value.strip() if printable or _PLAIN.fullmatch(value) else _normalised(name, value)
    if one_line and not (printable and "  " not in text):
        text = " ".join(text.split())
    size = len(text) if text.isascii() or not in_bytes else len(text.encode())
    if size > limit:
        unit = "bytes" if in_bytes else "characters"
        advice = "keep one concept a memory" if name == "text" else "shorten it"
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
    return _UNSEEN.sub("", _ZERO_WIDTH_SPACES.sub(" ", text)).strip()


def one_of(name: str, value: str, allowed: tuple[_Choice, ...]) -> _Choice:
    """`value`, when it is one of those allowed.

    Raises: InvalidInput that lists them.
    """
    for choice in allowed:
        if choice == value:
            return choice
    raise InvalidInput(name, f"is none of those allowed: {', '.join(allowed)}")


def draft(text: str, fields: Fields) -> Draft:
    """The text and the fields of a write, cleaned and checked.

    Raises: InvalidInput naming the first field that is missing, of a wrong value, or past its limit.
    """
    given: dict[str, Any] = {"text": clean_text(text)}
    for name, check in _CHECKS.items():
        value = fields.get(name)
        if value is not None:
            given[name] = check(value)
    return Draft(**given)


def revise(base: Memory, draft: Draft) -> Memory:
    """`base` with the text and the fields of a write; a field that was not given stays."""
    kind = draft.kind or base.kind
    named_itself = base.title not in {"", title_of(base.text)}
    values: dict[str, Any] = {
        "title": base.title if named_itself else title_of(draft.text),
        "tier": base.tier if kind == base.kind else default_tier(kind),
        "expires_at": base.expires_at,
    }
    values |= {name: value for name in _KEPT if (value := getattr(draft, name)) is not None}
    if draft.ttl_seconds is not None:
        values["expires_at"] = base.updated_at + int(draft.ttl_seconds * 1000)
    elif draft.endless:
        values["expires_at"] = None
    return replace(base, **values)


def clean_text(text: str) -> str:
    """The text of a memory as it is kept.

    Raises: InvalidInput when it is empty or too long.
    """
    cleaned = clean("text", text, LIMITS.text, in_bytes=True)
    if not cleaned:
        raise InvalidInput("text", "is empty; say what is to be remembered")
    return cleaned


def fraction(name: str, value: float) -> float:
    """A number from 0 to 1.

    Raises: InvalidInput for any other, NaN among them.
    """
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(name, f"is {value}, it lies between 0 and 1")
    return float(value)


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in lower case, each once, in the order given.

    Raises: InvalidInput when there are too many, or one is too long.
    """
    cleaned = (clean("tags", tag, LIMITS.tag, one_line=True).lower() for tag in tags)
    unique = tuple(dict.fromkeys(tag for tag in cleaned if tag))
    if len(unique) > LIMITS.tags:
        raise InvalidInput("tags", f"there are {len(unique)}, the limit is {LIMITS.tags}")
    return unique


def clean_data(value: JsonValue) -> JsonValue:
    """JSON data as it is kept: the same, with every string in it cleaned.

    Raises: InvalidInput when it is too large, too deep, or not JSON.
    """
    cleaned = _cleaned(value, _MAX_DEPTH)
    size = len(_as_json(cleaned).encode())
    if size > LIMITS.data:
        raise InvalidInput("data", f"has {size:,} bytes, the limit is {LIMITS.data:,}")
    return cleaned


def title_of(text: str) -> str:
    """The title of a text that came without one: its first line that is not blank, cut at a word; never empty."""
    lines = (" ".join(line.split()).strip(" #*->") for line in text.splitlines())
    line = next(filter(None, lines), "untitled")
    if len(line) <= LIMITS.title:
        return line
    return line[: LIMITS.title - 1].rsplit(" ", 1)[0] + "…"


def refuse_secrets(fields: Mapping[str, JsonValue], scan: Scan) -> None:
    """Nothing, when no string in `fields` holds a secret; keys of JSON data count as strings too.

    Raises: SecretFound naming every finding by field, rule, line and fingerprint; ScannerFailed.
    """
    found = [
        ((name, finding.rule, line), finding.fingerprint)
        for name, value in fields.items()
        for finding, line, _ in locate_secrets(value, scan)
    ]
    if found:
        places = list(dict.fromkeys(place for place, _ in found))
        raise SecretFound(places, list(dict.fromkeys(name for _, name in found if name)))


def locate_secrets(value: JsonValue, scan: Scan) -> Iterator[tuple[Finding, int, str]]:
    """Each finding in a field, its line (from 1 on), and the text it found: for who takes that out, never to be shown.

    Raises: ScannerFailed.
    """
    for text in scannable_texts(value):
        for finding in scan_text(text, scan):
            yield finding, text.count("\n", 0, finding.start) + 1, text[finding.start : finding.end]


def scan_text(text: str, scan: Scan) -> Sequence[Finding]:
    """What `scan` finds in `text`.

    Raises: ScannerFailed for whatever it raises; the cause is not told on, since it may quote the text.
    """
    try:
        return scan(text)
    except Exception:  # noqa: BLE001 - a text that could not be judged is taken for a secret, whatever the reason
        raise ScannerFailed from None


def scannable_texts(value: JsonValue) -> Iterator[str]:
    """The text of a field; JSON data as `name: value` lines, so that a name can tell what its value is.

    A name of what is no single value stands on no such line. It is a text of its own, so that it tells nothing of what
    happens to stand below it.
    """
    if isinstance(value, str):
        yield value
    elif value is not None:
        yield "\n".join(_lines(value, ""))
        yield from dict.fromkeys(_names(value))


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


def _names(value: JsonValue) -> Iterator[str]:
    """The names of objects and lists, however deep."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, (Mapping, Sequence)) and not isinstance(item, str):
                yield name
                yield from _names(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _names(item)


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
        raise InvalidInput("data", "holds a number that JSON cannot carry (NaN or infinity)")
    return value


def _line(name: str, limit: int) -> Callable[[str], str | None]:
    return lambda value: clean(name, value, limit, one_line=True) or None


# How each field of a write is cleaned, in the order in which errors are reported. None is "not given".
_CHECKS: Mapping[str, Callable[[Any], object]] = {  # Any: each takes the type that `Fields` gives
    "kind": lambda value: one_of("kind", value, KINDS),
    "tier": lambda value: one_of("tier", value, TIERS),
    "scope": lambda value: one_of("scope", value, SCOPES),
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
}
_KEPT = ("text", *(name for name in _CHECKS if name not in {"ttl_seconds", "endless"}))
