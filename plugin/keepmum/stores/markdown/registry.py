"""The list of projects that have memories in files, so that a question can go to all of them.

Koi's file in Koi's place, `~/.koi/registry.json`: an installation of it and Keepmum see the same projects. It is
written under a lock and in one step, entries of others are kept, and a folder that is gone is passed over.
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

_LARGEST = 4 * 1024 * 1024  # bytes
_PATIENCE = 2.0  # seconds; a memory is kept whether or not its project could be listed


def registry_of(user_home: str) -> str:
    """Where the registry lies for a user."""
    return os.path.join(user_home, ".koi", "registry.json")


class Registry:
    """The projects by root."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problem = ""  # why it is not used, as a sentence; empty when nothing is wrong

    def note(self, root: str, now: float) -> None:
        """List a project, or that it was used at `now` (seconds); whatever goes wrong is told in `problem`."""
        try:
            private_files.make_folder(os.path.dirname(self.path))
            lock = WriterLock(f"{self.path}.lock")
        except OSError as error:
            self.problem = f"{self.path} cannot be written ({error.strerror}); this project is not listed there"
            return
        with contextlib.closing(lock), contextlib.suppress(StoreBusy), lock.hold(_PATIENCE):
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
        """`(root, name)` of the projects whose memories are there, latest first; dead entries are passed over."""
        content = self._content() or {"projects": {}}
        found = [
            (entry.get("lastAccess"), root, entry.get("name"))
            for root, entry in content["projects"].items()
            if isinstance(entry, dict) and os.path.isabs(root) and "\0" not in root
        ]
        alive = [(at, root, name) for at, root, name in found if os.path.isdir(os.path.join(root, ".memories"))]
        alive.sort(key=lambda each: (-each[0] if isinstance(each[0], (int, float)) else 0, each[1]))
        return [(root, name if isinstance(name, str) and name else _name(root)) for _, root, name in alive]

    def _content(self) -> dict[str, Any] | None:
        """The registry, a new one where there is none; None, and `problem` says why, when it cannot be read."""
        self.problem = ""
        try:
            with open(self.path, "rb") as file:
                content = json.loads(file.read(_LARGEST).decode("utf-8-sig"))
        except FileNotFoundError:
            return {"version": 1, "projects": {}}
        except (OSError, ValueError, RecursionError):
            self.problem = f"{self.path} is not JSON, and is left as it is; mend or delete it to see other projects"
            return None
        if not isinstance(content, dict) or not isinstance(content.setdefault("projects", {}), dict):
            self.problem = f"{self.path} is no registry of projects, and is left as it is; mend or delete it"
            return None
        return content


def _name(root: str) -> str:
    return os.path.basename(root.rstrip(os.sep)) or root
