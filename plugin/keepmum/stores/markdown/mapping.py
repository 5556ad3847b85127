"""A memory as a file, and a file as a memory.

The entries of Koi keep Koi's names and formats: `id` (`mem_` and 12 hexadecimal digits), `timestamp` in seconds,
`tags`, `git`. Other fields of a memory have their own names, and are written only when they differ from the default:
`uid` is the complete 128-bit id, times are ISO 8601. Files of other tools and older versions are read in every format
seen: ids of any form, timestamps in milliseconds, `filesChanged`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from keepmum.core import ids, serialization, validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import JsonValue, Memory
from keepmum.stores.markdown import front_matter
from keepmum.stores.markdown.front_matter import Document, NotMemoryFile
from keepmum.stores.markdown.yaml_subset import Node, PlainScalar, is_null, to_json

__all__ = ["ParsedFile", "file_names", "new_text", "parse", "parse_file", "revised_text", "short_id"]

_TEXTS = (
    "title", "key", "why", "kind", "scope", "project", "session", "user", "agent", "tier", "source", "origin",
    "status", "supersedes", "superseded_by", "created_by", "updated_by", "confirmed_by",
)  # fmt: skip
_TIMES = ("created_at", "updated_at", "expires_at", "trashed_at", "accessed_at", "confirmed_at")
_NUMBERS = ("importance", "confidence", "revision", "access_count")
_LOCAL = frozenset({"accessed_at", "access_count"})  # counted per machine; changes of them are not written
_ORDER = (
    "id", "uid", "timestamp", "tags", "git", "title", "key", "kind", "why", "scope", "project", "session", "user",
    "agent", "tier", "importance", "confidence", "data", "source", "source_kind", "origin", "status", "supersedes",
    "superseded_by", *_TIMES, "access_count", "created_by", "updated_by", "revision", "trust", "confirmed_by", "pinned",
    "citations",
)  # fmt: skip
_MILLISECONDS_FROM = 100_000_000_000  # greater timestamps are milliseconds: as seconds they would be after 5138
_ID = re.compile(r"mem_([0-9a-f]{12}|[0-9a-f]{16})")
_MAX_ID = 100
_MAX_NAMES = 100  # file names to try
_BASE_32 = str.maketrans("abcdefghjkmnpqrstvwxyz", "abcdefghijklmnopqrstuv")  # from Crockford's digits to Python's
_GIT_TEXTS = frozenset({"branch", "commit"})
_INVALID = object()


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The memory in a file."""

    memory: Memory
    file_id: str  # the `id` in the file
    problem: str = ""  # an entry that was ignored; continues a sentence that begins with the path


def parse_file(content: bytes, project: str | None) -> ParsedFile:
    """The memory in the content of a file, in a repository of `project`.

    Raises: NotMemoryFile, InvalidYaml, InvalidInput.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotMemoryFile(f"is not UTF-8 at byte {error.start}") from None
    return parse(front_matter.split(text), project)


def parse(document: Document, project: str | None) -> ParsedFile:
    """The memory in a file, in a repository of `project`.

    Raises: NotMemoryFile, InvalidYaml, InvalidInput.
    """
    nodes = front_matter.nodes_of(document)
    file_id = _text(nodes.get("id")) or ""
    if not file_id or len(file_id) > _MAX_ID or not file_id.isprintable():
        raise NotMemoryFile("has no id")
    timestamp = _milliseconds("timestamp", nodes.get("timestamp"))
    if timestamp is None:
        raise NotMemoryFile("has no timestamp")
    bounds = ids.id_range(_text(nodes.get("uid")) or "") or ids.id_range(file_id)
    uid = bounds[0] if bounds and bounds[0] == bounds[1] else _derived_id(file_id, timestamp)
    values: dict[str, Any] = {"id": uid, "text": _body(document)}
    invalid = ""
    for name, node in nodes.items():
        reader = _READERS.get(name)
        value = reader(name, node) if reader is not None else None
        if value is _INVALID:
            invalid = invalid or name
        elif value is not None:
            values[name] = value
    stamp = _time_of_id(uid)
    values.setdefault("created_at", stamp if stamp // 1000 == timestamp // 1000 else timestamp)
    values.setdefault("updated_at", values["created_at"])
    if "title" not in values:
        values["title"] = validation.title_of(values["text"])
    values.setdefault("tier", "long")
    for name in ("created_by", "updated_by"):
        values.setdefault(name, values.get("agent", "unknown"))
    if values.get("scope") != "global" and project is not None:
        values.setdefault("project", project)
    memory = serialization.parse(values)
    problem = f"has an invalid `{invalid}`, which is ignored" if invalid else ""
    return ParsedFile(memory, file_id, problem)


def new_text(memory: Memory, project: str | None) -> str:
    """The text of a new file in a repository of `project`."""
    values = _values(memory, project)
    return front_matter.new_text({name: values[name] for name in _ORDER if values[name] is not None}, memory.text)


def revised_text(document: Document, before: Memory, after: Memory, project: str | None) -> str:
    """The text of the file with the differences between `before` and `after`; every other byte stays.

    Raises: NotMemoryFile when the front matter cannot be changed safely.
    """
    old, new = _values(before, project), _values(after, project)
    changes = {name: new[name] for name in _ORDER if new[name] != old[name] and name not in {*_LOCAL, "id"}}
    body = None
    if after.text != before.text:
        newline = document.newline
        body = f"{newline}{after.text.replace(chr(10), newline)}{newline}"
        if not document.closing.endswith("\n"):
            body = newline + body
    return front_matter.text_of(front_matter.edit(document, changes, body))


def short_id(memory: str) -> str:
    """The id of a memory in Koi's form: `mem_` and the last 12 hexadecimal digits of the UUID."""
    return ids.PREFIX + ids.to_uuid(memory)[-12:]


def file_names(memory: Memory) -> Iterator[str]:
    """Paths for a new file, preferred first: local day and time, and digits that make it unique within a second."""
    moment = datetime.fromtimestamp(memory.created_at / 1000, UTC).astimezone()
    yield f"{moment:%Y-%m-%d/%H%M%S}_{ids.to_uuid(memory.id)[-4:]}.md"
    for attempt in range(1, _MAX_NAMES):
        digits = hashlib.blake2b(f"{memory.id} {attempt}".encode(), digest_size=2).hexdigest()
        yield f"{moment:%Y-%m-%d/%H%M%S}_{digits}.md"


def _values(memory: Memory, project: str | None) -> dict[str, JsonValue]:
    """Every entry of a memory's file; None for defaults, which are not written."""
    values: dict[str, Any] = {name: getattr(memory, name, None) for name in _ORDER}
    defaults = _defaults(memory, project)
    values = {name: None if value == defaults.get(name) else value for name, value in values.items()}
    values |= {name: None if values[name] is None else _iso(values[name]) for name in _TIMES}
    file_id, second = short_id(memory.id), memory.created_at // 1000
    is_derived = _derived_id(file_id, second * 1000) == memory.id
    values |= {"id": file_id, "uid": None if is_derived else memory.id, "timestamp": second}
    values["tags"] = list(memory.tags)
    if memory.citations is not None:
        values["citations"] = [_without_none(asdict(each)) for each in memory.citations]
    values["git"] = None if memory.git is None else _as_json(memory.git)
    return values


def _defaults(memory: Memory, project: str | None) -> dict[str, object]:
    """The values that `parse` assumes for entries that are missing."""
    stamp = _time_of_id(memory.id)
    second = memory.created_at // 1000
    return {
        "title": validation.title_of(memory.text), "kind": "note", "scope": "project", "tier": "long",
        "project": None if memory.scope == "global" else project, "agent": "unknown", "importance": 0.5,
        "confidence": 0.7, "origin": "mcp", "status": "active", "revision": 1, "access_count": 0,
        "created_at": stamp if stamp // 1000 == second else second * 1000, "updated_at": memory.created_at,
        "created_by": memory.agent, "updated_by": memory.agent, "pinned": False,
        # No file says of itself that it is from outside; the ledger does.
        "trust": memory.trust if memory.trust == "outside" else "agent",
    }  # fmt: skip


def _time_of_id(memory: str) -> int:
    """The time in an id, in milliseconds: its first ten digits."""
    return int(memory[len(ids.PREFIX) : len(ids.PREFIX) + 10].translate(_BASE_32), 32)


def _derived_id(file_id: str, millisecond: int) -> str:
    """The id of a memory whose file has an id of another form: the same on every machine."""
    match = _ID.fullmatch(file_id)
    digits = match[1] if match else hashlib.blake2b(file_id.encode(), digest_size=6).hexdigest()
    value = int(digits, 16)
    uuid = (millisecond & (1 << 48) - 1) << 80 | 0x7 << 76 | value >> 62 << 64 | 0b10 << 62 | value & (1 << 62) - 1
    return ids.from_uuid(f"{uuid:032x}")


def _body(document: Document) -> str:
    """The text of a memory: the body without the line end that `new_text` adds on each side."""
    return document.body.replace("\r\n", "\n").removeprefix("\n").removesuffix("\n")


def _text(node: Node) -> str | None:
    """A scalar as it is written, whatever its type; None for no value."""
    if isinstance(node, PlainScalar):
        return None if is_null(node) else str(node)
    if isinstance(node, str):
        return node or None
    return None if node is None or isinstance(node, (Mapping, list)) else str(node)


def _tags(node: Node) -> list[str]:
    if isinstance(node, str):
        return [part.strip() for part in node.split(",")]
    return [tag for item in node if (tag := _text(item))] if isinstance(node, list) else []


def _git(node: Node) -> JsonValue:
    """The git context with today's names. A commit stays text, also when it looks like a number."""
    if not isinstance(node, Mapping):
        return None
    renamed = {"files_changed" if name == "filesChanged" else name: value for name, value in node.items()}
    texts = {name: str(value) for name, value in renamed.items() if name in _GIT_TEXTS and isinstance(value, str)}
    context: dict[str, JsonValue] = {name: to_json(value) for name, value in renamed.items()}
    changed = renamed.get("files_changed")
    if isinstance(changed, list):
        context["files_changed"] = [str(item) for item in changed if isinstance(item, (str, int, float))]
    return {**context, **texts}


def _without_none(values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in values.items() if value is not None}


def _as_json(value: Any) -> JsonValue:  # JSON, in any kind of mapping and sequence
    """Mappings and sequences as dicts and lists."""
    if isinstance(value, Mapping):
        return {str(name): _as_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    return value  # type: ignore[no-any-return]  # a JSON scalar


def _milliseconds(name: str, node: Node) -> int | None:
    """Milliseconds since 1970, from a number of seconds or milliseconds or from ISO 8601; None for no value.

    Raises: InvalidInput when it is none of these.
    """
    value = to_json(node)
    if value is None:
        return None
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:20])
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return int(value if value > _MILLISECONDS_FROM else value * 1000)
        moment = datetime.fromisoformat(str(value).replace(" Z", "Z"))
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise InvalidInput(name, "is not a time; write seconds since 1970, or 2026-01-31T09:30:00Z") from None


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def _choice(name: str, node: Node) -> object:
    text = _text(node)
    return text if text is None or text in serialization.CHOICES[name] else _INVALID


def _pinned(_: str, node: Node) -> object:
    value = to_json(node)
    return value if value is None or isinstance(value, bool) else _INVALID


def _citations(_: str, node: Node) -> object:
    value = to_json(node)
    try:
        serialization.citations(value or ())
    except InvalidInput:
        return _INVALID
    return value


def _number(_: str, node: Node) -> object:
    value = to_json(node)
    return value if value is None or type(value) in {int, float} else _INVALID


_READERS: Mapping[str, Callable[[str, Node], object]] = {
    **{name: lambda _, node: _text(node) for name in _TEXTS},
    **dict.fromkeys(serialization.CHOICES, _choice),
    **dict.fromkeys(_TIMES, _milliseconds),
    **dict.fromkeys(_NUMBERS, _number),
    "data": lambda _, node: to_json(node),
    "tags": lambda _, node: _tags(node),
    "git": lambda _, node: _git(node),
    "pinned": _pinned,
    "citations": _citations,
}
