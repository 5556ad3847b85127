"""The server's log: one JSON object a line on standard error, without bodies, addresses, titles or keys."""

from __future__ import annotations

import json
import sys
import time

from keepmum.core.memory import JsonValue

__all__ = ["log"]


def log(event: str, **fields: JsonValue) -> None:
    """Write one line."""
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
    line = json.dumps({"at": f"{at}Z", "event": event, **fields}, ensure_ascii=False, separators=(",", ":"))
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody reads the log any more; requests are still served
