"""The table of routes as an OpenAPI 3.1 document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from keepmum.core.version import VERSION
from keepmum.server.routes import Route, Schema

__all__ = ["document", "rendered"]

_ALWAYS = (400, 405, 408, 415, 421, 431)  # what the edge answers
_KEYED = (401, 403, 404, 409, 422, 429, 503)  # with a key: who, which project, which state, which secret, how often
_PUBLIC = (404,)
_REASONS = {
    400: "a parameter, the body or a header is not what it must be",
    401: "no valid key",
    403: "the key does not allow this, or another origin asks",
    404: "it does not exist, or the key may not know of it",
    405: "the path has no such method",
    408: "the request took too long to arrive",
    409: "it was changed meanwhile, or must be confirmed",
    412: "it has another revision",
    413: "the body is too large",
    415: "the body has another media type or is compressed",
    421: "the server has another name",
    422: "a secret was found, or it cannot be done",
    429: "too many requests; `Retry-After` says how long to wait",
    431: "too many headers",
    503: "the database does not answer; try again",
}
_ERROR: Schema = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "integer"},
                "message": {"type": "string"},
                "rule": {"type": "string"},
                "field": {"type": "string"},
                "line": {"type": "integer"},
            },
            "required": ["code", "message"],
        }
    },
    "required": ["error"],
}
_PROJECT: Schema = {
    "name": "X-Keepmum-Project",
    "in": "header",
    "description": "Answers as if the key were for this project alone.",
    "schema": {"type": "string"},
}
_UNAUTHORIZED: Schema = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def rendered(routes: Sequence[Route]) -> str:
    """The document as it is committed."""
    return json.dumps(document(routes), indent=1, ensure_ascii=False) + "\n"


def document(routes: Sequence[Route]) -> dict[str, object]:
    """The document of these routes."""
    paths: dict[str, dict[str, object]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Keepmum server",
            "version": VERSION,
            "description": "One memory for a team's agents. Version 1 is the API of Shared Agent Memory.",
        },
        "paths": dict(sorted(paths.items())),
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "parameters": {"Project": _PROJECT},
            "schemas": {"Error": _ERROR, "Unauthorized": _UNAUTHORIZED},
            "responses": {str(status): _response(status) for status in sorted(_REASONS)},
        },
    }


def _operation(route: Route) -> dict[str, object]:
    found: dict[str, object] = {
        "operationId": route.name or f"{route.run.__name__}_v{route.version}" if route.role else _plain_name(route),
        "summary": route.summary,
        "tags": [route.tag],
        "responses": {
            **{str(status): _success(route, schema) for status, schema in route.answers.items()},
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in _errors(route)},
        },
    }
    if parameters := _parameters(route):
        found["parameters"] = parameters
    if route.role:
        found["security"] = [{"key": []}]
        found["description"] = f"Needs the role {route.role}."
    if route.body is not None or route.media_type != "application/json":
        found["requestBody"] = {"required": True, "content": {route.media_type: {"schema": route.body or {}}}}
    return found


def _plain_name(route: Route) -> str:
    return route.name or re.sub(r"[^a-z]+", "_", f"{route.method} {route.path}".lower()).strip("_")


def _parameters(route: Route) -> list[dict[str, object]]:
    text: Schema = {"type": "string"}
    inside = {name: route.path_parameters.get(name, text) for name in re.findall(r"\{(\w+)\}", route.path)}
    return [
        *({"name": name, "in": "path", "required": True, "schema": schema} for name, schema in inside.items()),
        *(
            {"name": name, "in": "query", "required": name in route.required, "schema": schema}
            for name, schema in route.query.items()
        ),
        *([{"$ref": "#/components/parameters/Project"}] if route.role else []),
    ]


def _errors(route: Route) -> list[int]:
    body = (413,) if route.body is not None or route.media_type != "application/json" else ()
    found: Iterable[int] = {*_ALWAYS, *body, *(_KEYED if route.role else _PUBLIC), *route.errors} - {*route.answers}
    return sorted(status for status in found if status in _REASONS)


def _success(route: Route, schema: Schema) -> dict[str, object]:
    return {"description": route.summary, "content": {route.produces: {"schema": schema}}}


def _response(status: int) -> dict[str, object]:
    schema = "Unauthorized" if status == 401 else "Error"
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"description": _REASONS[status], "content": content}
