"""Memories whose cited code has changed or gone, found once for a commit and a state of the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from keepmum.core.memory import JsonValue, Outline
from keepmum.service.context import ServiceContext
from keepmum.service.freshness import CodeReader
from keepmum.service.review.cache import CacheFile

__all__ = ["ChangedCode"]

_VALID_MS = 600_000  # files may change without a commit


class ChangedCode:
    """What is known of the code that memories cite, from the cache; `update` looks again when that is outdated."""

    def __init__(self, context: ServiceContext) -> None:
        self._context = context
        self._file = CacheFile(context, "code", everywhere=False)
        saved: Mapping[str, Any] = self._file.read()
        self._state = saved.get("state")
        found = saved.get("found")
        self._found: dict[str, Any] = dict(found) if isinstance(found, Mapping) else {}

    def changed(self, outlines: Iterable[Outline]) -> dict[str, str]:
        """By memory id, what happened to the code that it cites; only of memories that have not changed since."""
        return {
            outline.id: known[1]
            for outline in outlines
            if (known := self._found.get(outline.id)) is not None and known[0] == outline.revision
        }

    def update(self, seconds: float) -> None:
        """Look at the code again, for about `seconds`; what was not looked at in time stays as it was known."""
        context = self._context
        root = context.place.root
        if not root:
            return
        state: list[JsonValue] = [
            context.store.changes(),
            dict(context.options.checked_out(root) or {}).get("commit"),
            context.clock() // _VALID_MS,
        ]
        if state == self._state:
            return
        outdated = CodeReader(context).outdated(seconds)
        remarks = context.remarks({memory.id: freshness for memory, freshness in outdated.found})
        found: dict[str, Any] = {
            memory.id: [memory.revision, remarks[memory.id]] for memory, _ in outdated.found if memory.id in remarks
        }
        self._found = found if outdated.is_complete else self._found | found
        self._state = state if outdated.is_complete else None
        self._file.write({"state": self._state, "found": self._found})

    @property
    def version(self) -> int:
        """A number that differs after something else is known."""
        return self._file.version
