"""One request over a service of the team's memory: the same calls, over the same handlers, as on standard input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, cast

from keepmum.core import jsonrpc
from keepmum.core.errors import KeepmumError, SecretFound
from keepmum.mcp import calls
from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.surface import Context
from keepmum.server.call import Forbidden
from keepmum.server.edge.rates import Kind
from keepmum.server.mcp.caller import Caller
from keepmum.server.people.roles import Role
from keepmum.service import Place
from keepmum.service.team import ORGANISATION, Team

__all__ = ["Edge", "RemoteCall"]

Json = dict[str, object]

_WITHOUT_PROJECT = frozenset({"hackathon", "per-user"})  # dialects whose memories belong to no project
_OF_ALL_PROJECTS = frozenset({"shared"})  # dialects whose searches are over all projects
# Tools that need more than their annotations say: they remove for good.
_ROLES: Mapping[tuple[str, str], Role] = {
    ("per-user", "MemoryErase"): "admin",
    ("hackathon", "cleanup"): "curator",
}


class Edge(NamedTuple):
    """What the server counts of calls."""

    take: Callable[[str, Kind], None]  # one request of a key; raises HttpError when there were too many
    refused: Callable[[str], None] = lambda _: None  # a secret, by the id of its rule


class RemoteCall(NamedTuple):
    """A request for tools/call, resources/read or prompts/get."""

    dialect: str
    method: str
    params: Mapping[str, object]  # as they were sent
    caller: Caller
    protocol: str  # its version

    def answer(self, team: Team, edge: Edge) -> Json:
        """The result.

        Raises: jsonrpc.RpcError when the request is invalid, or fails and its result cannot say so.
        """
        call = calls.plan(DIALECTS[self.dialect][0], self.method, self.params)
        if call is None:
            raise jsonrpc.RpcError(jsonrpc.METHOD_NOT_FOUND, "method not found")
        try:
            return self._run(team, call, edge)
        except KeepmumError as error:
            for _, rule, _ in error.places if isinstance(error, SecretFound) else ():
                edge.refused(rule)
            return call.refuse(error)
        except jsonrpc.RpcError:
            raise
        except Exception as error:  # noqa: BLE001 - its message might hold a secret
            raise jsonrpc.internal_error(call.subject, error) from None

    def _run(self, team: Team, call: calls.Call, edge: Edge) -> Json:
        meta = _mapping(self.params.get("_meta"))
        client, principal = self.caller.client(meta, self.protocol), self.caller.principal
        role = self._role(call.subject)
        edge.take(principal.key, "read" if role == "reader" else "write")
        place = self.place(role)
        context = Context(
            agent=client.agent,
            agent_version=client.agent_version,
            client_name=client.name,
            protocol=self.protocol,
            session=place.session or "",
            meta=meta,
        )
        with team.service(
            principal.grant(ORGANISATION),
            actor=principal.name,
            agent=client.agent,
            place=place,
            origin="mcp",
            curates=partial(principal.may, "curator"),
        ) as service:
            return call.run(DIALECTS.over(self.dialect, service, context), context)

    def _role(self, tool: str) -> Role:
        """The least role that the request needs."""
        if self.method != "tools/call":
            return "reader"
        if (self.dialect, tool) in _ROLES:
            return _ROLES[self.dialect, tool]
        if self.dialect == "keepmum" and tool == "forget" and self._arguments.get("undo"):
            return "curator"  # as for every way to restore
        tools = DIALECTS[self.dialect][0].tools
        reads = next(each.annotations.get("readOnlyHint") for each in tools if each.name == tool)
        return "reader" if reads else "writer"

    def place(self, role: Role) -> Place:
        """Where the request reads and writes, for which the key must have a role.

        Raises: InvalidInput when that is not clear; Forbidden when the key has not the role there.
        """
        reads_all = role == "reader" and self.dialect in _OF_ALL_PROJECTS
        needs_project = not reads_all and self.dialect not in _WITHOUT_PROJECT
        place = self.caller.place(self._arguments, _mapping(self.params.get("_meta")), needs_project=needs_project)
        principal = self.caller.principal
        if not reads_all and not principal.may(role, place.project):
            where = f"the project {place.project}" if place.project else "memories of no project"
            held = principal.role_in(place.project)
            has = f"is {held} of" if held else "may not use"
            raise Forbidden(f"this key {has} {where}, and this needs the role {role}; nothing was done")
        return place

    @property
    def _arguments(self) -> Mapping[str, object]:
        return _mapping(self.params.get("arguments"))


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}
