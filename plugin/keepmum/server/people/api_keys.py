"""Keys in the variable API_KEYS, in the form of Shared Agent Memory: a JSON list of `{"key", "name", "projects"}`.

Each entry is a writer of its projects; `null` stands for all. Messages name the index of an entry, never its key.
Source: https://github.com/rbrcurtis/shared-agent-memory (src/api/middleware/auth.ts), read 2026-11-22.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping

from keepmum.core.errors import SettingsError
from keepmum.server.people.keys import digest_of
from keepmum.server.people.roles import EVERY_PROJECT, Principal, Role

__all__ = ["ApiKeys"]

_FIELDS = {"key", "name", "projects"}


class ApiKeys:
    """The keys of the variable; their digests are kept, not the keys."""

    def __init__(self, text: str, secret: bytes) -> None:
        """Read the variable, whose keys are digested under the server's secret; an empty one has no keys.

        Raises: SettingsError with the index of the entry that is wrong.
        """
        items = _parsed(text) if text.strip() else []
        self._known = [_entry(index, item, secret) for index, item in enumerate(items)]
        self._secret = secret

    def __len__(self) -> int:
        return len(self._known)

    def find(self, token: str) -> Principal | None:
        """The owner of a key; every key is compared in constant time."""
        digest = digest_of(token, self._secret)
        found = None
        for known, principal in self._known:
            if hmac.compare_digest(known, digest):
                found = principal
        return found

    @property
    def names(self) -> frozenset[str]:
        """The names in the entries."""
        return frozenset(principal.name for _, principal in self._known)

    def answers_at_once(self, _: str) -> bool:
        """True: the keys are in memory."""
        return True

    def holder(self, ident: str, _: Mapping[str, Role]) -> Principal | None:
        """The owner of the key with this id; None when the variable has another key in its place by now."""
        return next((principal for _, principal in self._known if principal.key == ident), None)


def _parsed(text: str) -> list[object]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        raise SettingsError("API_KEYS is not JSON; it is a list of entries with key, name and projects") from None
    if not isinstance(items, list) or not items:
        raise SettingsError("API_KEYS must be a list with at least one entry with key, name and projects")
    return items


def _entry(index: int, item: object, secret: bytes) -> tuple[bytes, Principal]:
    where = f"API_KEYS[{index}]"
    if not isinstance(item, Mapping):
        raise SettingsError(f"{where} must be an object with key, name and projects")
    if unknown := {str(name) for name in item} - _FIELDS:
        raise SettingsError(f"{where} has {len(unknown)} unknown fields; it may have key, name and projects")
    key, name, projects = item.get("key"), item.get("name"), item.get("projects")
    if not isinstance(key, str) or not key:
        raise SettingsError(f"{where}.key must be text that is not empty")
    if not isinstance(name, str) or not name:
        raise SettingsError(f"{where}.name must be text that is not empty")
    roles: dict[str, Role] = {}
    if projects is None:
        roles = {EVERY_PROJECT: "writer"}
    elif isinstance(projects, list) and all(
        isinstance(project, str) and project not in {"", EVERY_PROJECT} for project in projects
    ):
        roles = dict.fromkeys(projects, "writer")
    else:
        raise SettingsError(f"{where}.projects must be null, for all projects, or a list of names; * is none")
    digest = digest_of(key, secret)
    principal = Principal(id=f"api-key-{index}", name=name, key=f"api-key-{index}-{digest.hex()[:16]}", roles=roles)
    return digest, principal
