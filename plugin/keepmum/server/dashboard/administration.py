"""What an administrator does on the page: operations of the API, in the name of the session's person.

The page has no power of its own. A call names an operation of the table of routes with its parameters, which are
checked against that table; roles, audit and messages are the route's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from keepmum.core.errors import InvalidInput, NotFound
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.server import audit
from keepmum.server.call import Answer, Call, Forbidden
from keepmum.server.edge import validation
from keepmum.server.people import routes as people
from keepmum.server.people.roles import EVERY_PROJECT, Principal
from keepmum.server.routes import Route
from keepmum.server.v2 import overview, projects

__all__ = ["OPERATIONS", "described", "operation_of", "run"]

OPERATIONS: Mapping[str, Route] = {
    route.run.__name__: route
    for route in (*people.ROUTES, *audit.ROUTES, *overview.ROUTES, *projects.ROUTES)
    if route.role == "admin" or route.run in {people.list_keys, people.withdraw_key, people.rotate_key,
                                              overview.count_activity, projects.list_projects}
}  # fmt: skip


def described(principal: Principal) -> JsonObject | None:
    """What the page must know about an administrator; None for anybody else, whose page shows no trace of this."""
    if not principal.may_anywhere("admin"):
        return None
    return {"every": principal.may("admin", EVERY_PROJECT), "person": principal.id, "key": principal.key}


def operation_of(principal: Principal, given: Arguments) -> Route:
    """The operation that a call of the page names.

    Raises: NotFound for anybody but an administrator, and for any other name; Forbidden.
    """
    route = OPERATIONS.get(given.text("call"))
    if route is None or not principal.may_anywhere("admin"):
        raise NotFound("there is no such call")
    if route.role and not principal.may_anywhere(route.role):
        raise Forbidden(f"this key has no project in which it is {route.role}")
    return route


def run(route: Route, call: Call, given: Arguments) -> Answer:
    """What the operation answers.

    Raises: KeepmumError, as the route.
    """
    path, query = (Arguments(given.members(name)) for name in ("path", "query"))
    for name, declared in (("path", route.path_parameters), ("query", route.query)):
        if unknown := set(given.members(name)) - set(declared):
            raise InvalidInput(name, f"has {len(unknown)} parameters that this call does not have")
    named = {name: path.text(name, required=True) for name in route.path_parameters}
    asked = [(name, query.text(name)) for name in given.members("query")]
    return route.run(
        replace(
            call,
            path=validation.path_parameters(route, named),
            query=validation.parameters(route, asked),
            body={} if route.body is None else validation.body(given.members("body"), route.body),
        )
    )
