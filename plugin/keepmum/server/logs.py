"""The server's log: one JSON object a line on standard error, without bodies, addresses, titles or keys."""

from __future__ import annotations

import json
import logging
import sys
import time

from keepmum.core.memory import JsonValue

__all__ = ["log", "log_libraries"]


def log(event: str, **fields: JsonValue) -> None:
    """Write one line."""
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
    line = json.dumps({"at": f"{at}Z", "event": event, **fields}, ensure_ascii=False, separators=(",", ":"))
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # the reader of the log is gone; requests are still served


def log_libraries() -> None:
    """Write what libraries warn of in the same form."""
    logging.basicConfig(level=logging.WARNING, handlers=[_Libraries()], force=True)


class _Libraries(logging.Handler):
    """Names the place and the kind of each warning; messages may quote what a client sent."""

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        log(
            "warning", logger=record.name, place=f"{record.module}:{record.lineno}",
            error=kind.__name__ if kind else None,
        )  # fmt: skip
