"""Reports unexpected errors by type and place; never by message, which may contain a secret."""

from __future__ import annotations

import sys

from keepmum.core import jsonrpc

__all__ = ["internal_error", "report"]


def internal_error(subject: str, error: BaseException) -> jsonrpc.RpcError:
    """The error for the client; type and place go to standard error, the server's log."""
    report(subject, error)
    return jsonrpc.RpcError(jsonrpc.INTERNAL_ERROR, f"internal error in {subject}; nothing was stored")


def report(subject: str, error: BaseException) -> None:
    """Write the type and place of an error to standard error, on one line."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" at {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    try:  # noqa: SIM105 - contextlib would be imported for this only
        sys.stderr.write(f"keepmum: internal error in {subject}: {type(error).__name__}{where}\n")
    except (AttributeError, OSError, ValueError):
        pass  # there is no standard error, or the client closed it
