"""Unexpected errors: where they were raised is told, what they say is not, since it may hold a secret."""

from __future__ import annotations

import sys

from keepmum.core import jsonrpc

__all__ = ["internal_error", "report"]


def internal_error(subject: str, error: BaseException) -> jsonrpc.RpcError:
    """What the client is told; the server's own log is told where."""
    report(subject, error)
    return jsonrpc.RpcError(jsonrpc.INTERNAL_ERROR, f"internal error in {subject}; nothing was stored")


def report(subject: str, error: BaseException) -> None:
    """Write type and place of an error to standard error, on one line."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" at {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    try:  # noqa: SIM105 - contextlib would be imported for this alone
        sys.stderr.write(f"keepmum: internal error in {subject}: {type(error).__name__}{where}\n")
    except (AttributeError, OSError, ValueError):
        pass  # there is no standard error, or the client closed it: nobody is left to be told
