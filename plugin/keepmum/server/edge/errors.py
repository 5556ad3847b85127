"""Errors as HTTP answers: the one place where they get a status."""

from __future__ import annotations

from collections.abc import Mapping

from keepmum.core.errors import (
    Ambiguous,
    ConfirmationNeeded,
    Incomplete,
    InvalidInput,
    KeepmumError,
    KeyRefused,
    NotFound,
    QuotaExceeded,
    ScannerFailed,
    SecretFound,
    StoreBusy,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
    Unsupported,
)
from keepmum.core.memory import JsonValue
from keepmum.server.call import Answer, Forbidden, HttpError
from keepmum.server.edge.at_once import TooManyAtOnce
from keepmum.service import StaleWrite

__all__ = ["STATUSES", "UNAUTHORIZED", "answer_to", "error_body"]

STATUSES: Mapping[type[KeepmumError], int] = {  # the first that fits, in this order
    InvalidInput: 400,
    Ambiguous: 400,
    SecretFound: 422,
    NotFound: 404,
    TooManyAtOnce: 429,
    Forbidden: 403,
    KeyRefused: 403,
    QuotaExceeded: 403,
    ConfirmationNeeded: 409,
    StaleWrite: 409,
    Unsupported: 422,
    Incomplete: 503,
    StoreBusy: 503,
    StoreReadOnly: 503,
    StoreUnavailable: 503,
    ScannerFailed: 503,
    StoreError: 503,
    KeepmumError: 409,
}
_RETRY_SECONDS = "2"
UNAUTHORIZED = Answer(401, {"error": "Unauthorized"}, {"www-authenticate": "Bearer"})


def answer_to(error: Exception, version: int = 2) -> Answer:
    """The answer to a request that failed, in the form of this version of the API."""
    if isinstance(error, HttpError):
        return Answer(
            error.status, error_body(error.status, str(error), **(error.more if version > 1 else {})), error.headers
        )
    if not isinstance(error, KeepmumError):
        return Answer(500, error_body(500, "internal error; the server's log has its place"))
    status = next(status for kind, status in STATUSES.items() if isinstance(error, kind))
    more: dict[str, JsonValue] = {}
    if version == 1:
        status = 400 if status == 422 else status
    elif isinstance(error, SecretFound) and error.places:
        field, rule, line = error.places[0]
        more = {"rule": rule, "field": field, "line": line}
    elif isinstance(error, InvalidInput):
        more = {"field": error.field}
    headers = {"retry-after": _RETRY_SECONDS} if status in {429, 503} else {}
    return Answer(status, error_body(status, str(error), **more), headers)


def error_body(status: int, message: str, **more: JsonValue) -> JsonValue:
    """The body of an error, in the form of both APIs; version 2 adds fields."""
    return {"error": {"code": status, "message": message, **more}}
