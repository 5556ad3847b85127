"""What a principal may do: roles by project, as pure values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from keepmum.service.team import Grant

__all__ = ["EVERY_PROJECT", "ROLES", "Principal", "Role", "joined", "narrowed"]

Role = Literal["reader", "writer", "curator", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may do
EVERY_PROJECT = "*"  # stands for every project of the organisation, and for the space of no project


class Principal(NamedTuple):
    """Who sends a request: a person or a service, as the key says."""

    id: str
    name: str  # the actor in history, activity and audit
    key: str  # the id of the key, never the key
    roles: Mapping[str, Role]  # project id to role; see EVERY_PROJECT
    agent: str = ""  # the default label of what is written

    def role_in(self, project: str | None) -> Role | None:
        """The greatest role in a project, in no project for None or ""; None without any."""
        return _held(self.roles, project or "")

    def may(self, role: Role, project: str | None) -> bool:
        """Whether the role in a project is at least `role`."""
        held = self.role_in(project)
        return held is not None and ROLES.index(held) >= ROLES.index(role)

    def may_anywhere(self, role: Role) -> bool:
        """Whether the role in any project is at least `role`."""
        return any(ROLES.index(held) >= ROLES.index(role) for held in self.roles.values())

    def within(self, project: str) -> Principal:
        """The same principal with what they may do in one project."""
        held = self.role_in(project)
        return self._replace(roles={} if held is None or project == EVERY_PROJECT else {project: held})

    def grant(self, organisation: int, writes: Role = "writer") -> Grant:
        """What the stores let this principal read, and write with the role `writes`."""
        return Grant(organisation, self._projects("reader"), self._projects(writes))

    def _projects(self, role: Role) -> frozenset[str] | None:
        """The projects in which the role is at least `role`; None for all of them."""
        if EVERY_PROJECT in self.roles and self.may(role, EVERY_PROJECT):
            return None
        return frozenset(project for project in self.roles if project != EVERY_PROJECT and self.may(role, project))


def narrowed(roles: Mapping[str, Role], most: Role | None, projects: Sequence[str] | None) -> dict[str, Role]:
    """The roles that a key gives: those of its person, up to `most`, and in `projects` only unless that is None."""
    held = {project: _held(roles, project) for project in (roles if projects is None else projects)}
    return {
        project: role if most is None else min(role, most, key=ROLES.index)
        for project, role in held.items()
        if role is not None
    }


def joined(one: Mapping[str, Role], other: Mapping[str, Role]) -> dict[str, Role]:
    """The roles of both; in a project with two, the greater one."""
    both = {**one, **other}
    return {project: max(role, one.get(project, role), key=ROLES.index) for project, role in both.items()}


def _held(roles: Mapping[str, Role], project: str) -> Role | None:
    """The greatest role in a project; None without any."""
    held = [roles[name] for name in (project, EVERY_PROJECT) if name in roles]
    return max(held, key=ROLES.index, default=None)
