"""The description of the API for programs and for people: `/openapi.json`, and Swagger UI at `/docs`.

Swagger UI's files are those of its npm package, compressed; no page of this server loads anything from elsewhere.
"""

from __future__ import annotations

import functools
import os

from keepmum.server.call import Answer, Call, HttpError
from keepmum.server.routes import Route, Schema

__all__ = ["OPENAPI", "ROUTES", "VENDORED"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))
OPENAPI = os.path.join(_FOLDER, "openapi.json")
VENDORED = {  # by name, the SHA-256 of the file in swagger-ui-dist 5.35.0
    "swagger-ui-bundle.js": "e6a898692f2d768e807c3ba4626068a69a2c5dd960dd6c76f3e4d3a3de180af2",
    "swagger-ui.css": "5ed08757e53da3e026d6cbecc61fe5d43585c9560b302d534ad56692519a273d",
}
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css", ".html": "text/html; charset=utf-8"}
_OWN = ("index.html", "start.js")
_CACHED = "public, max-age=3600"
# Swagger UI sets style attributes and shows pictures that are in its style sheet.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def document(_: Call) -> Answer:
    """The OpenAPI document."""
    return Answer(200, _read(OPENAPI), {"content-type": "application/json; charset=utf-8"})


def page(_: Call) -> Answer:
    """The page with Swagger UI."""
    return _file("index.html")


def part(call: Call) -> Answer:
    """One file of that page."""
    return _file(call.path["name"])


def _file(name: str) -> Answer:
    headers = {"content-type": _TYPES.get(os.path.splitext(name)[1], ""), "cache-control": _CACHED}
    if name in VENDORED:
        return Answer(
            200, _read(os.path.join(_FOLDER, "swagger", f"{name}.gz")), {**headers, "content-encoding": "gzip"}
        )
    if name not in _OWN:
        raise HttpError(404, "there is no such file")
    return Answer(200, _read(os.path.join(_FOLDER, "swagger", name)), {**headers, "content-security-policy": _POLICY})


@functools.cache
def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


_NAME: dict[str, Schema] = {"name": {"type": "string"}}
_ANY: Schema = {"type": "object"}
_TAG = "documentation"

ROUTES = (
    Route("GET", "/openapi.json", document, None, "This document", _TAG, {200: _ANY}, name="openapi"),
    Route("GET", "/docs/json", document, None, "This document, where version 1 has it", _TAG, {200: _ANY}),
    Route("GET", "/docs", page, None, "This document as a page", _TAG, {200: {}}, produces="text/html"),
    Route(
        "GET", "/docs/{name}", part, None, "A file of that page", _TAG, {200: {}}, errors=(404,),
        path_parameters=_NAME, produces="*/*",
    ),
)  # fmt: skip
