"""The list of projects with memories in files, for searches in every project.

The file is Koi's `~/.koi/registry.json`, so that Koi and Keepmum see the same projects. It is replaced atomically under
a lock. Entries of other tools are kept, and projects that no longer exist are ignored.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

from keepmum.core.errors import StoreBusy
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.system import private_files

__all__ = ["Registry", "registry_of"]

_MAX_BYTES = 4 * 1024 * 1024
_LOCK_TIMEOUT = 2.0  # seconds; a memory is stored whether or not its project can be listed


def registry_of(user_home: str) -> str:
    """The path of a user's registry."""
    return os.path.join(user_home, ".koi", "registry.json")


class Registry:
    """The projects by root."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problem = ""  # why the file is not used, in a sentence; empty when it is

    def note(self, root: str, now: float) -> None:
        """List a project as used at `now` (seconds). Errors only set `problem`."""
        try:
            private_files.make_folder(os.path.dirname(self.path))
            lock = WriterLock(f"{self.path}.lock")
        except OSError as error:
            self.problem = f"{self.path} cannot be written ({error.strerror}); this project is not listed there"
            return
        with contextlib.closing(lock), contextlib.suppress(StoreBusy), lock.hold(_LOCK_TIMEOUT):
            content = self._content()
            if content is None:
                return
            known = content["projects"].get(root)
            entry = known if isinstance(known, dict) else {}
            content["projects"][root] = {**entry, "lastAccess": int(now), "name": entry.get("name") or _name(root)}
            try:
                private_files.replace_file(self.path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")
            except OSError as error:
                self.problem = f"{self.path} cannot be written ({error.strerror}); this project is not listed there"

    def projects(self) -> list[tuple[str, str]]:
        """`(root, name)` of the projects that still have memories, latest first."""
        content = self._content() or {"projects": {}}
        listed = [
            (entry.get("lastAccess"), root, entry.get("name"))
            for root, entry in content["projects"].items()
            if isinstance(entry, dict) and os.path.isabs(root) and "\0" not in root
        ]
        existing = [(at, root, name) for at, root, name in listed if os.path.isdir(os.path.join(root, ".memories"))]
        existing.sort(key=lambda each: (-each[0] if isinstance(each[0], (int, float)) else 0, each[1]))
        return [(root, name if isinstance(name, str) and name else _name(root)) for _, root, name in existing]

    def lists(self, root: str) -> bool:
        """Whether a folder is listed and still has memories."""
        wanted = os.path.realpath(root)
        return any(os.path.realpath(listed) == wanted for listed, _ in self.projects())

    def _content(self) -> dict[str, Any] | None:  # JSON of Koi, whose other fields are kept
        """The content of the registry, or that of a new one. None when it cannot be read; then `problem` says why."""
        self.problem = ""
        try:
            with open(self.path, "rb") as file:
                content = json.loads(file.read(_MAX_BYTES).decode("utf-8-sig"))
        except FileNotFoundError:
            return {"version": 1, "projects": {}}
        except (OSError, ValueError, RecursionError):
            self.problem = f"{self.path} is not JSON, and is left as it is; repair or delete it to see other projects"
            return None
        if not isinstance(content, dict) or not isinstance(content.setdefault("projects", {}), dict):
            self.problem = f"{self.path} is not a registry of projects, and is left as it is; repair or delete it"
            return None
        return content


def _name(root: str) -> str:
    return os.path.basename(root.rstrip(os.sep)) or root
