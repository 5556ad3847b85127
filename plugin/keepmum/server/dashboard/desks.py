"""The desks that answer sessions: a service in the chosen project, limited to what the role there allows."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from keepmum.core.errors import NotFound
from keepmum.core.memory import Trust
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.desk import Desk
from keepmum.server.call import Call
from keepmum.server.dashboard.sign_in import Asked
from keepmum.server.people.roles import EVERY_PROJECT, ROLES, Principal, Role
from keepmum.service.team import Session, Team

__all__ = ["Desks"]

_AGENT = "dashboard"  # the label of what is written; the author is the person of the key
_MOST_MEMOS = 256  # of sessions
_OF_WRITERS = frozenset({"edit", "put_back", "archive", "restore", "still_true", "forget", "tag", "undo"})
_VERBS: Mapping[Role, frozenset[str] | None] = {
    "reader": frozenset(), "writer": _OF_WRITERS, "curator": None, "admin": None,
}  # fmt: skip


class Desks:
    """Opens desks over one team's memory. Safe between threads."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._memos: dict[object, dict[str, Any]] = {}  # Any: what a dashboard remembers; the latest last
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def open(self, asked: Asked) -> Iterator[Desk]:
        """What answers the page in the project of the session.

        Raises: NotFound when the key may not read the project any more.
        """
        project = asked.session.project
        principal = _in_project(asked.principal, project)
        role = principal.role_in(project) or "reader"
        trust: Trust = "person" if principal.may("curator", project) else "team"
        call = Call(team=self._team, principal=principal)
        # Without a project, the key of every project sees all of them.
        with call.service(project or None, "reader", agent=_AGENT, trust=trust, quiet=True) as service:
            yield Desk(Dashboard(service, "server", memo=self._memo(asked.session, principal), verbs=_VERBS[role]))

    def _memo(self, session: Session, principal: Principal) -> dict[str, Any]:
        """What is remembered for a session in its project, while its roles there are the same."""
        name = session.digest, session.project, tuple(sorted(principal.roles.items()))
        with self._lock:
            memo = self._memos.pop(name, {})
            if len(self._memos) >= _MOST_MEMOS:
                del self._memos[next(iter(self._memos))]
            self._memos[name] = memo
        return memo


def _in_project(principal: Principal, project: str) -> Principal:
    """The same principal with what they may do in one project, and in the space of none.

    There they may read only, unless their role is as great as in the project. Without a project they have the role that
    counts in all projects.

    Raises: NotFound when they may not read it.
    """
    if not project and EVERY_PROJECT in principal.roles:
        return principal._replace(roles={EVERY_PROJECT: principal.roles[EVERY_PROJECT]})
    held, shared = principal.role_in(project), principal.role_in("")
    if held is None or project == EVERY_PROJECT:
        raise NotFound("this key may read no project of this name")
    roles: dict[str, Role] = {project: held}
    if project and shared is not None:
        roles[""] = shared if ROLES.index(shared) >= ROLES.index(held) else "reader"
    return principal._replace(roles=roles)
