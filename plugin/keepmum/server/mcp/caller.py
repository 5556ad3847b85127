"""Which project a call is about, and which agent sends it: from its arguments, headers, session and key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from keepmum.core.errors import InvalidInput
from keepmum.mcp.client import Client, session_of_call
from keepmum.server.mcp.session_token import SessionToken
from keepmum.server.people.roles import EVERY_PROJECT, Principal
from keepmum.service import Place

__all__ = ["Caller", "FindPrincipal"]

FindPrincipal = Callable[[Mapping[str, str]], Awaitable[Principal | None]]  # by the headers of a request

CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
"""Where a request of 2026-07-28 says who sends it.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/index, read 2026-11-22.
"""

_UNKNOWN = "unknown"


class Caller(NamedTuple):
    """Who sends a request, as its key and its headers say."""

    principal: Principal
    project: str = ""  # of X-Keepmum-Project, or of the address
    agent: str = ""  # of X-Keepmum-Agent
    session: SessionToken | None = None

    def client(self, meta: Mapping[str, object], protocol: str) -> Client:
        """The client, from its session, this request, its header, or its key; the first that names one."""
        named = [
            {"name": self.session.client, "version": self.session.version} if self.session else {},
            meta.get(CLIENT_INFO),
            {"name": self.agent},
            {"name": self.principal.agent},
        ]
        clients = [Client({"clientInfo": info, "protocolVersion": protocol}) for info in named]
        return next((one for one in clients if one.name != _UNKNOWN), clients[-1])

    def place(self, arguments: Mapping[str, object], meta: Mapping[str, object], *, needs_project: bool) -> Place:
        """Where a call reads and writes.

        Raises: InvalidInput when it names no project and its key has several, or a project that its key has not.
        """
        session = session_of_call(meta)[0] or (self.session.session if self.session else "")
        if arguments.get("scope") == "session" and not session:
            raise InvalidInput("scope", "names the session, and this request belongs to none; use project")
        project = self._project(arguments, needs_project=needs_project)
        # Clients choose the ids of their sessions, and those of two people must not meet.
        return Place(project=project, name=project or "", session=f"{self.principal.id} {session}" if session else None)

    def _project(self, arguments: Mapping[str, object], *, needs_project: bool) -> str | None:
        named = arguments.get("project")
        wanted = named if isinstance(named, str) and named not in {"", EVERY_PROJECT} else self.project
        own = sorted(project for project in self.principal.roles if project not in {EVERY_PROJECT, ""})
        if wanted:
            if self.principal.may("reader", wanted):
                return wanted
            raise InvalidInput("project", f"is none that this key may use; it has {_listed(own)}")
        if len(own) == 1 and EVERY_PROJECT not in self.principal.roles:
            return own[0]
        if not needs_project:
            return None
        has = "may use every project" if EVERY_PROJECT in self.principal.roles else f"has {_listed(own)}"
        raise InvalidInput(
            "project", f"is not named, and this key {has}; name one in the header X-Keepmum-Project, or as ?project= "
            "at the end of the server's address"
        )  # fmt: skip


def _listed(projects: list[str]) -> str:
    return ", ".join(projects) or "none"
