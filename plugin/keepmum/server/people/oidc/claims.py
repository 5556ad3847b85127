"""Name, roles and projects of a person, from the claims of a token, as the settings map them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, cast

from keepmum.server.people.roles import EVERY_PROJECT, ROLES, Role, joined, narrowed

__all__ = ["Claims", "Identity", "Rules", "Target", "parse_target"]

Claims = Mapping[str, object]
_MOST = 1_000  # values of a claim
_LONGEST_PROJECT = 255  # characters, as for roles that an administrator gives
_LISTS = frozenset({"scope", "scp"})  # claims with values between spaces (RFC 8693, section 4.2)
_READ, _WRITE = "memories:read", "memories:write"


class Target(NamedTuple):
    """What a value of a claim stands for: a role, in one project or in all of the person, or a project."""

    kind: Role | Literal["project"]
    project: str = ""


class Identity(NamedTuple):
    """The person of a token, with the roles that the provider gives."""

    subject: str
    name: str
    roles: Mapping[str, Role]  # by project id; "*" for every project


class Rules(NamedTuple):
    """How claims become a name, roles and projects. A name with dots may lead into objects: `realm_access.roles`."""

    name: str
    roles: str
    projects: str  # "" when the provider does not limit people to projects
    targets: Mapping[str, Target]  # by value of the claims `roles` and `projects`

    def identity(self, claims: Claims) -> Identity:
        """The person of these verified claims. Values that `targets` does not name give no role."""
        subject = str(claims["sub"])
        name = next(iter(_values(claims, self.name)), subject)
        most: Role | None = "reader" if _may_only_read(claims) else None
        return Identity(subject, name, narrowed(self._roles(claims), most, None))

    def _roles(self, claims: Claims) -> Mapping[str, Role]:
        own = list(_values(claims, self.projects)) if self.projects else []
        named = [*_values(claims, self.roles), *own]
        found = [self.targets[value] for value in named if value in self.targets]
        projects = {each.project for each in found if each.kind == "project"}
        projects |= {value for value in own if value not in self.targets and _is_project(value)}
        theirs = sorted(projects) if self.projects else [EVERY_PROJECT]
        roles: Mapping[str, Role] = {}
        for kind, project in found:
            if kind != "project":
                roles = joined(roles, dict.fromkeys([project] if project else theirs, kind))
        return roles


def parse_target(text: str) -> Target:
    """A target as settings write it: `writer`, `writer github.com/acme/api`, or `project github.com/acme/api`.

    Raises: ValueError with what it must be.
    """
    kind, _, project = text.strip().partition(" ")
    project = project.strip()
    if kind not in {*ROLES, "project"} or (kind == "project" and not project):
        raise ValueError(f"must be a role ({', '.join(ROLES)}), a role and a project, or `project` and a project")
    if len(project) > _LONGEST_PROJECT or not project.isprintable():
        raise ValueError(f"must name a project of at most {_LONGEST_PROJECT} printable characters")
    return Target(cast("Role", kind), project)


def _values(claims: Claims, name: str) -> Iterator[str]:
    """The texts in a claim; none in an email address that the provider has not verified."""
    if name == "email" and claims.get("email_verified") is not True:
        return
    found = _claim(claims, name)
    if isinstance(found, str):
        found = found.split() if name in _LISTS else [found]
    if isinstance(found, Sequence):
        yield from (value for value in found[:_MOST] if isinstance(value, str) and value)


def _claim(claims: Claims, name: str) -> object:
    """The claim of this name; with dots, also the value in objects that its parts name."""
    if name in claims:
        return claims[name]
    value: object = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _is_project(value: str) -> bool:
    return value != EVERY_PROJECT and len(value) <= _LONGEST_PROJECT and value.isprintable()


def _may_only_read(claims: Claims) -> bool:
    """Whether the person let the client read only."""
    scopes = {*_values(claims, "scope"), *_values(claims, "scp")}
    return _READ in scopes and _WRITE not in scopes
