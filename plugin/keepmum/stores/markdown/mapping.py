"""A memory as a file, and a file as a memory.

The entries that Koi knows keep its names and forms: `id` (`mem_` and 12 hexadecimal digits), `timestamp` in seconds,
`tags`, `git`. What else a memory has stands beside them under its own name, and only where it differs from what a
reader would take it for: `uid` is the whole 128-bit id, times are ISO 8601. Files of other hands and older versions
are read in every spelling seen: ids of any form, milliseconds, `filesChanged`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from keepmum.core import ids, serialization, validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import JsonValue, Memory
from keepmum.stores.markdown import front_matter
from keepmum.stores.markdown.front_matter import Document, NotOurs
from keepmum.stores.markdown.nodes import Node, Plain, is_nothing, resolved

__all__ = ["Filed", "file_names", "new_text", "read", "read_file", "revised_text", "short_id"]

_TEXTS = (
    "title", "key", "why", "kind", "scope", "project", "session", "user", "agent", "tier", "source", "origin",
    "status", "supersedes", "superseded_by", "created_by", "updated_by",
)  # fmt: skip
_TIMES = ("created_at", "updated_at", "expires_at", "trashed_at", "accessed_at")
_NUMBERS = ("importance", "confidence", "revision", "access_count")
_LOCAL = frozenset({"accessed_at", "access_count"})  # counted on each machine; in a file they would be noise
_ORDER = (
    "id", "uid", "timestamp", "tags", "git", "title", "key", "kind", "why", "scope", "project", "session", "user",
    "agent", "tier", "importance", "confidence", "data", "source", "origin", "status", "supersedes", "superseded_by",
    *_TIMES, "access_count", "created_by", "updated_by", "revision",
)  # fmt: skip
_MILLISECONDS_FROM = 100_000_000_000  # a greater timestamp is in milliseconds: in seconds it would be the year 5138
_ID = re.compile(r"mem_([0-9a-f]{12}|[0-9a-f]{16})")
_LONGEST_NAME = 100
_TRIES = 100  # for a file name that is free
_BASE_32 = str.maketrans("abcdefghjkmnpqrstvwxyz", "abcdefghijklmnopqrstuv")  # from Crockford's digits to Python's
_NAMES = frozenset({"branch", "commit"})
_ODD = object()


@dataclass(frozen=True, slots=True)
class Filed:
    """A memory as its file has it: `name` is the id that the file gives, `problem` what of it could not be kept to."""

    memory: Memory
    name: str
    problem: str = ""


def read_file(content: bytes, project: str | None) -> Filed:
    """The memory that the bytes of a file hold, in a repository of `project`.

    Raises: NotOurs, NotYaml, InvalidInput saying what is wrong with it.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotOurs(f"is not UTF-8 at byte {error.start}") from None
    return read(front_matter.split(text), project)


def read(document: Document, project: str | None) -> Filed:
    """The memory in a file of `project`.

    Raises: NotOurs, NotYaml, InvalidInput saying what is wrong with it.
    """
    nodes = front_matter.nodes_of(document)
    name = _text(nodes.get("id")) or ""
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise NotOurs("has no id")
    second = _moment("timestamp", nodes.get("timestamp"))
    if second is None:
        raise NotOurs("has no timestamp")
    bounds = ids.id_range(_text(nodes.get("uid")) or "") or ids.id_range(name)
    uid = bounds[0] if bounds and bounds[0] == bounds[1] else _id_of(name, second)
    values: dict[str, Any] = {"id": uid, "text": _body(document)}
    odd = ""
    for word, node in nodes.items():
        reader = _READERS.get(word)
        value = reader(word, node) if reader is not None else None
        if value is _ODD:
            odd = odd or word
        elif value is not None:
            values[word] = value
    stamp = _stamp(uid)
    values.setdefault("created_at", stamp if stamp // 1000 == second // 1000 else second)
    values.setdefault("updated_at", values["created_at"])
    if "title" not in values:
        values["title"] = validation.title_of(values["text"])
    values.setdefault("tier", "long")
    for word in ("created_by", "updated_by"):
        values.setdefault(word, values.get("agent", "unknown"))
    if values.get("scope") != "global" and project is not None:
        values.setdefault("project", project)
    memory = serialization.parse(values)
    problem = f"gives a `{odd}` that no memory has, and is read without it" if odd else ""
    return Filed(memory, name, problem)


def new_text(memory: Memory, project: str | None) -> str:
    """A new file for a memory of `project`, or of another that it then names."""
    values = _values(memory, project)
    return front_matter.made({name: values[name] for name in _ORDER if values[name] is not None}, memory.text)


def revised_text(document: Document, before: Memory, after: Memory, project: str | None) -> str:
    """The file with what changed from `before` to `after`, and every other byte as it was.

    Raises: NotOurs when the front matter is written in a way that cannot be changed safely.
    """
    was, now = _values(before, project), _values(after, project)
    changes = {name: now[name] for name in _ORDER if now[name] != was[name] and name not in {*_LOCAL, "id"}}
    body = None
    if after.text != before.text:
        end = document.newline
        body = f"{end}{after.text.replace(chr(10), end)}{end}"
        if not document.closing.endswith("\n"):
            body = end + body
    return front_matter.text_of(front_matter.edited(document, changes, body))


def short_id(memory: str) -> str:
    """The id of a memory as Koi spells ids: `mem_` and 12 hexadecimal digits, the last of the UUID."""
    return ids.PREFIX + ids.to_uuid(memory)[-12:]


def file_names(memory: Memory) -> Iterator[str]:
    """Paths for a new file, best first: the writer's day and time, and digits that tell files of one second apart."""
    moment = datetime.fromtimestamp(memory.created_at / 1000, UTC).astimezone()
    yield f"{moment:%Y-%m-%d/%H%M%S}_{ids.to_uuid(memory.id)[-4:]}.md"
    for attempt in range(1, _TRIES):
        digits = hashlib.blake2b(f"{memory.id} {attempt}".encode(), digest_size=2).hexdigest()
        yield f"{moment:%Y-%m-%d/%H%M%S}_{digits}.md"


def _values(memory: Memory, project: str | None) -> dict[str, JsonValue]:
    """Every entry of a memory's file; None for what a reader takes for granted."""
    values: dict[str, Any] = {name: getattr(memory, name, None) for name in _ORDER}
    defaults = _defaults(memory, project)
    values = {name: None if value == defaults.get(name) else value for name, value in values.items()}
    values |= {name: None if values[name] is None else _iso(values[name]) for name in _TIMES}
    name, second = short_id(memory.id), memory.created_at // 1000
    derived = _id_of(name, second * 1000) == memory.id
    values |= {"id": name, "uid": None if derived else memory.id, "timestamp": second}
    values["tags"] = list(memory.tags)
    values["git"] = None if memory.git is None else _plain(memory.git)
    return values


def _defaults(memory: Memory, project: str | None) -> dict[str, Any]:
    """What a file need not say of this memory."""
    stamp = _stamp(memory.id)
    second = memory.created_at // 1000
    return {
        "title": validation.title_of(memory.text), "kind": "note", "scope": "project", "tier": "long",
        "project": None if memory.scope == "global" else project, "agent": "unknown", "importance": 0.5,
        "confidence": 0.7, "origin": "mcp", "status": "active", "revision": 1, "access_count": 0,
        "created_at": stamp if stamp // 1000 == second else second * 1000, "updated_at": memory.created_at,
        "created_by": memory.agent, "updated_by": memory.agent,
    }  # fmt: skip


def _stamp(memory: str) -> int:
    """The millisecond in which an id was made: its first ten digits."""
    return int(memory[len(ids.PREFIX) : len(ids.PREFIX) + 10].translate(_BASE_32), 32)


def _id_of(name: str, millisecond: int) -> str:
    """The id of a memory whose file has one of another form: the same for the same file, wherever it is read."""
    found = _ID.fullmatch(name)
    digits = found[1] if found else hashlib.blake2b(name.encode(), digest_size=6).hexdigest()
    value = int(digits, 16)
    uuid = (millisecond & (1 << 48) - 1) << 80 | 0x7 << 76 | value >> 62 << 64 | 0b10 << 62 | value & (1 << 62) - 1
    bounds = ids.id_range(f"{uuid:032x}")
    assert bounds is not None
    return bounds[0]


def _body(document: Document) -> str:
    """The text of a file: its body without the one line end on each side that `made` puts there."""
    return document.body.replace("\r\n", "\n").removeprefix("\n").removesuffix("\n")


def _text(node: Node) -> str | None:
    """A scalar as it is written, whatever a parser would take it for; None for none."""
    if isinstance(node, Plain):
        return None if is_nothing(node) else str(node)
    if isinstance(node, str):
        return node or None
    return None if node is None or isinstance(node, (Mapping, list)) else str(node)


def _tags(node: Node) -> list[str]:
    if isinstance(node, str):
        return [part.strip() for part in node.split(",")]
    return [word for item in node if (word := _text(item))] if isinstance(node, list) else []


def _git(node: Node) -> JsonValue:
    """The git context in today's spelling; a commit stays text whatever it looks like."""
    if not isinstance(node, Mapping):
        return None
    renamed = {"files_changed" if name == "filesChanged" else name: value for name, value in node.items()}
    words = {name: str(value) for name, value in renamed.items() if name in _NAMES and isinstance(value, str)}
    context: dict[str, JsonValue] = {name: resolved(value) for name, value in renamed.items()}
    changed = renamed.get("files_changed")
    if isinstance(changed, list):
        context["files_changed"] = [str(item) for item in changed if isinstance(item, (str, int, float))]
    return {**context, **words}


def _plain(value: Any) -> JsonValue:
    """Mappings and sequences as the dicts and lists that a reader gives."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value  # type: ignore[no-any-return]  # JSON, as every memory's data is


def _moment(name: str, node: Node) -> int | None:
    """Milliseconds since 1970 of a time written as a number of seconds or milliseconds, or in ISO 8601.

    Raises: InvalidInput when it is neither.
    """
    value = resolved(node)
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
        raise InvalidInput(name, "is no time; write seconds since 1970, or 2026-01-31T09:30:00Z") from None


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def _choice(name: str, node: Node) -> object:
    word = _text(node)
    return word if word is None or word in serialization.CHOICES[name] else _ODD


def _number(_: str, node: Node) -> object:
    value = resolved(node)
    return value if value is None or type(value) in {int, float} else _ODD


_READERS: Mapping[str, Callable[[str, Node], object]] = {
    **{name: lambda _, node: _text(node) for name in _TEXTS},
    **dict.fromkeys(serialization.CHOICES, _choice),
    **dict.fromkeys(_TIMES, _moment),
    **dict.fromkeys(_NUMBERS, _number),
    "data": lambda _, node: resolved(node),
    "tags": lambda _, node: _tags(node),
    "git": lambda _, node: _git(node),
}
