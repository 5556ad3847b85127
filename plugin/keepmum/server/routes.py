"""The form of a route: one value describes path, parameters, bodies, role and answers of a call.

The table of these validates requests and renders the OpenAPI document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from keepmum.server.call import Answer, Call
from keepmum.server.people.roles import Role

__all__ = ["Method", "Route", "Schema"]

Schema = Mapping[str, object]  # the part of JSON Schema that `keepmum.mcp.arguments` checks
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
_NONE: Mapping[str, Schema] = MappingProxyType({})


class Route(NamedTuple):
    """One call of the API."""

    method: Method
    path: str  # such as "/api/v2/memories/{id}"; a literal segment has precedence over a parameter
    run: Callable[[Call], Answer]  # synchronous; runs in the bounded pool of threads
    role: Role | None  # the least role, anywhere; None: no key is needed. A project's role is checked by `Call.service`
    summary: str
    tag: str
    answers: Mapping[int, Schema]  # of success, by status
    errors: tuple[int, ...] = ()  # statuses of its own; those that every route can have are added
    path_parameters: Mapping[str, Schema] = _NONE
    query: Mapping[str, Schema] = _NONE  # values arrive as text; integers, numbers and booleans are converted
    required: tuple[str, ...] = ()  # of the query
    body: Schema | None = None  # of a JSON body; None: there is none
    media_type: str = "application/json"  # of the body
    produces: str = "application/json"  # the media type of a success
    largest: int = 1024 * 1024  # bytes of the body
    version: int = 2  # of the API: the first has messages and errors of its own
    name: str = ""  # the operation's id; by default that of the function
