"""What an importer yields: an item for each memory that it reads, and what it reads and cannot keep."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepmum.core import ids, validation
from keepmum.core.memory import LIMITS, Action, JsonValue

__all__ = ["Former", "ImportItem", "NotKept", "build_item", "stable_id"]


@dataclass(frozen=True, slots=True)
class Former:
    """A former state of a memory: when and by whom it was replaced, and the fields that differed."""

    at: int
    by: str
    values: Mapping[str, JsonValue]
    action: Action = "updated"


@dataclass(frozen=True, slots=True)
class ImportItem:
    """A memory in the form of an export, or the problem with it; the problem quotes nothing of the text."""

    place: str  # a line of a file, a row of a table, or a file in a folder
    values: Mapping[str, JsonValue] | None
    problem: str = ""
    project: str = ""  # the project as the source names it, by a name or a folder; empty: that of this place
    past: tuple[Former, ...] = ()  # latest first
    not_kept: tuple[str, ...] = ()  # what of this memory has no place here


@dataclass(frozen=True, slots=True)
class NotKept:
    """Something in a source that is not imported, and its number."""

    what: str
    count: int


def build_item(  # noqa: PLR0913 - the fields that most sources have
    place: str,
    tool: str,
    name: object,
    text: object,
    created: int,
    *,
    updated: int | None = None,
    tags: Iterable[str] = (),
    title: object = None,
    author: object = None,
    project: object = None,
    past: Sequence[Former] = (),
    not_kept: Iterable[str] = (),
    **fields: JsonValue,
) -> ImportItem:
    """An item for a memory that `tool` calls `name`; titles and tags beyond the limits are cut, and counted as such.

    A name that is a UUID or an id of ours stays its id. `created` and `updated` are in milliseconds.
    Without a tier in `fields` it does not fade: most tools forget nothing, so that an old memory must not vanish here.
    """
    if not isinstance(text, str) or not text.strip():
        return ImportItem(place, None, "has no text")
    lost = list(not_kept)
    kept_tags = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if len(kept_tags) > LIMITS.tags or any(len(tag) > LIMITS.tag for tag in kept_tags):
        lost.append(f"tags beyond {LIMITS.tags}, or longer than {LIMITS.tag} characters")
        kept_tags = [tag for tag in kept_tags if len(tag) <= LIMITS.tag][: LIMITS.tags]
    heading = " ".join(title.split()) if isinstance(title, str) else ""
    who = (" ".join(author.split()) if isinstance(author, str) else "")[: LIMITS.name] or tool
    values: dict[str, Any] = {
        "id": ids.complete_id(str(name)) or stable_id(tool, str(name)), "text": text.strip(),
        "title": heading if 0 < len(heading) <= LIMITS.title else validation.title_of(heading or text),
        "tags": kept_tags, "created_at": created, "updated_at": max(created, updated or 0), "agent": who,
        "created_by": who, "updated_by": who, "tier": "long", "origin": "import", "source": tool,
    }  # fmt: skip
    values |= {name: value for name, value in fields.items() if value is not None}
    why = values.get("why")
    if isinstance(why, str) and len(why) > LIMITS.why:
        lost.append(f"reasons beyond {LIMITS.why:,} characters")
        values["why"] = why[: LIMITS.why - 1] + "…"
    where = project.strip() if isinstance(project, str) else ""
    return ImportItem(place, values, project=where, past=tuple(past), not_kept=tuple(lost))


def stable_id(*parts: str) -> str:
    """An id derived from `parts`: importing the same source again gives the same ids, and links can name them."""
    digits = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=14).hexdigest()
    # The first 48 bits of an id are a time; these are before 2005, so that no new memory gets the same.
    return ids.from_uuid(f"00{digits[:10]}7{digits[10:13]}8{digits[13:28]}")
