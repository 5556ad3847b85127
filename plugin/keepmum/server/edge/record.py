"""What is known of one request while it is served: for its log line, its metrics and its limits."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

__all__ = ["RECORD", "Record", "record_of"]

RECORD = "keepmum.record"  # its name in an ASGI scope


@dataclass(slots=True)
class Record:
    """One request; the layers fill it in as they learn more."""

    request_id: str
    source: str  # the address of the client, behind a trusted proxy too
    route: str = "(none)"  # the pattern of the path, never the path itself
    principal: str = ""  # the id of who sent it
    status: int = 0
    size: int = 0  # bytes of the response's body


def record_of(scope: MutableMapping[str, Any]) -> Record:
    """The record of a request."""
    found: Record = scope[RECORD]
    return found
