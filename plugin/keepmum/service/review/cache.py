"""Files below `cache/review/` with what took long to find out about a place; they hold ids and numbers, no text."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping

from keepmum.core.memory import JsonValue
from keepmum.service.context import ServiceContext
from keepmum.system import private_files

__all__ = ["CacheFile"]


class CacheFile:
    """One JSON object about the memories of a place, or of all projects; nothing is kept without a home."""

    def __init__(self, context: ServiceContext, name: str, *, everywhere: bool) -> None:
        home, place = context.options.home, context.place
        owner = "\x1f".join(("*" if everywhere else place.project or "", place.user or ""))
        digest = hashlib.blake2b(owner.encode(), digest_size=8).hexdigest()
        self._path = os.path.join(home, "cache", "review", f"{digest}.{name}.json") if home else ""

    @property
    def version(self) -> int:
        """A number that differs after the file was written; 0 when there is none."""
        try:
            return os.stat(self._path).st_mtime_ns
        except OSError:
            return 0

    def read(self) -> Mapping[str, JsonValue]:
        """The object; empty when there is none, or it is damaged."""
        try:
            with open(self._path, encoding="utf-8") as file:
                found: JsonValue = json.load(file)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, Mapping) else {}

    def write(self, values: Mapping[str, JsonValue]) -> None:
        """Replace the object; a failure leaves what was there."""
        if self._path:
            with contextlib.suppress(OSError):
                private_files.replace_file(self._path, json.dumps(values))
