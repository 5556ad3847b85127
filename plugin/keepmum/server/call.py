"""What a route gets and gives: values, without HTTP."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import IO, NamedTuple

from keepmum.core.errors import KeepmumError, NotFound
from keepmum.core.memory import JsonValue, Trust
from keepmum.server.edge.at_once import AtOnce
from keepmum.server.feed import Feed
from keepmum.server.people.roles import Principal, Role
from keepmum.server.state import ServerState
from keepmum.service import MemoryService, Place
from keepmum.service.team import ORGANISATION, Team

__all__ = ["Answer", "Call", "Forbidden", "HttpError", "header_text"]

_NOTHING: Mapping[str, str] = MappingProxyType({})
_UNKNOWN = "nothing that this key may read has this name or id"


def _do_nothing() -> None:
    """Without a ring of keys there is nothing to forget or to save."""


def _no_principal() -> None:
    """A call that no request sent has no principal to read again."""


class HttpError(KeepmumError):
    """An answer that a route chooses itself: a status, a message, more fields and headers."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] = _NOTHING, **more: JsonValue) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers
        self.more = more


class Forbidden(KeepmumError):
    """The key does not allow this; another key is needed."""


class Answer(NamedTuple):
    """A response: JSON, bytes, or parts of a stream."""

    status: int
    body: JsonValue | bytes | Iterator[bytes] | AsyncIterator[bytes] = None
    headers: Mapping[str, str] = _NOTHING


def header_text(value: str) -> str:
    """A header's value as UTF-8, which clients send, although HTTP says Latin-1."""
    return value.encode("latin-1").decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One validated request: its sender, and the values in path, query and body."""

    team: Team
    principal: Principal
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, JsonValue] = field(default_factory=dict)
    body: Mapping[str, JsonValue] = field(default_factory=dict)
    raw: IO[bytes] = field(default_factory=io.BytesIO)  # the body of a route that takes no JSON
    headers: Mapping[str, str] = field(default_factory=dict)  # by name in lower case
    request_id: str = ""
    secret: bytes = b""  # of the server: signs what clients carry for it
    metrics: Callable[[], bytes] = bytes  # the figures of this process, as text
    forget_keys: Callable[[], None] = _do_nothing  # makes this process read all keys again
    save_uses: Callable[[], None] = _do_nothing  # saves when this process saw each key last
    current_principal: Callable[[], Principal | None] = _no_principal  # read again, for answers that take long
    state: ServerState = field(default_factory=ServerState)
    feed: Feed | None = None  # what changes, for streams
    exports: AtOnce = field(default_factory=lambda: AtOnce(1, "exports"))  # those that are running
    hides: bool = True  # whether a project that may not be read is answered as one that does not exist

    def service(  # noqa: PLR0913 - who asks, where, and how
        self,
        project: str | None,
        role: Role,
        *,
        agent: str = "",
        place: Place | None = None,
        trust: Trust = "team",
        quiet: bool = False,
    ) -> AbstractContextManager[MemoryService]:
        """A service in a project, or in all that the key may read for None; the key needs at least `role` there.

        `agent` labels what is written. `place` names more than the project, such as session and user. With `trust`
        "person" a curator decides, and can write only where they are one; what others write to guide agents waits for
        a review. With `quiet`, showing a memory logs nothing.

        In a project, an id means the memory there: where projects share ids, the service sees no other project. Nor
        does it with "", which stands for the memories of no project.

        Raises: NotFound or Forbidden, according to the version of the API.
        """
        grant = self.principal.grant(ORGANISATION, "curator" if trust == "person" else "writer")
        if project is not None:
            self.require(project, role)
            grant = grant.among({project, ""}) if self.team.shared.shares_ids or not project else grant
        return self.team.service(
            grant,
            actor=self.principal.name,
            agent=agent or self.principal.agent,
            place=place or Place(project=project or None, name=project or ""),
            origin="rest",
            trust=trust,
            curates=partial(self.principal.may, "curator"),
            quiet=quiet,
        )

    @property
    def is_permitted(self) -> bool:
        """Whether the key still gives what it gave when the request began; for what takes long."""
        return self.current_principal() == self.principal

    def with_header(self, name: str, value: str) -> Call:
        """The same call with another value of a header."""
        return replace(self, headers={**self.headers, name: value})

    def require(self, project: str, role: Role) -> None:
        """Check the role in a project.

        Raises: NotFound or Forbidden, according to the version of the API.
        """
        if self.principal.may(role, project):
            return
        if self.hides and not self.principal.may("reader", project):
            raise NotFound(_UNKNOWN)
        raise Forbidden(
            f"this key does not have the role {role} in that project" if self.hides else "Access denied for project"
        )
