"""Errors as JSON for a page: a kind to act on, and the message of the service."""

from __future__ import annotations

from typing import NamedTuple

from keepmum.core.errors import (
    Ambiguous,
    ConfirmationNeeded,
    InvalidInput,
    KeepmumError,
    NotFound,
    SecretFound,
    StoreBusy,
    StoreReadOnly,
    StoreUnavailable,
    SwitchedOff,
    report_unexpected,
)
from keepmum.dashboard.arguments import JsonObject

__all__ = ["Changed", "CountNeeded", "Failure", "Forbidden", "failure"]


class Changed(KeepmumError):
    """A memory was changed after the page read it; nothing was done."""

    def __init__(self, present: JsonObject) -> None:
        super().__init__("this memory was changed meanwhile; look at both versions and decide again")
        self.present = present


class CountNeeded(KeepmumError):
    """Many memories would be removed; the call must say how many."""

    def __init__(self, count: int) -> None:
        super().__init__(f"this would move {count:,} memories to the trash; confirm the number")
        self.count = count


class Forbidden(KeepmumError):
    """This view or verb is not offered here."""


class Failure(NamedTuple):
    """An error as JSON, with its HTTP status."""

    status: int
    body: JsonObject


def failure(error: BaseException) -> Failure:
    """The answer to a call that raised `error`. An unexpected one is reported on standard error, without its text."""
    if not isinstance(error, KeepmumError):
        report_unexpected("the dashboard", error)
        message = f"internal error ({type(error).__name__}); look at what has changed, then try again"
        return _failure(500, "failed", message)
    known = ((status, name) for kind, status, name in _KINDS if isinstance(error, kind))
    status, name = next(known, (500, "failed"))
    return _failure(status, name, str(error), **_details(error))


def _details(error: KeepmumError) -> JsonObject:
    """What a page needs in addition to the message."""
    if isinstance(error, SecretFound):
        return {"places": [{"field": field, "rule": rule, "line": line} for field, rule, line in error.places]}
    if isinstance(error, InvalidInput):
        return {"field": error.field, "problem": error.problem}
    if isinstance(error, Changed):
        return {"present": error.present}
    return {"count": error.count} if isinstance(error, CountNeeded) else {}


_KINDS: tuple[tuple[type[KeepmumError], int, str], ...] = (
    (SecretFound, 422, "refused"),
    (InvalidInput, 422, "invalid"),
    (Changed, 409, "changed"),
    (CountNeeded, 409, "confirm"),
    (NotFound, 404, "not-found"),
    (Ambiguous, 422, "invalid"),
    (StoreReadOnly, 409, "read-only"),
    (StoreBusy, 503, "busy"),
    (StoreUnavailable, 503, "unavailable"),
    (SwitchedOff, 409, "off"),
    (ConfirmationNeeded, 409, "confirm"),
    (Forbidden, 403, "forbidden"),
)


def _failure(status: int, kind: str, message: str, **more: object) -> Failure:
    return Failure(status, {"error": {"kind": kind, "message": message, **more}})
