"""A stream of what changed: the ids of memories, never their text, so that clients load what they want to see.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, read 2026-11-22.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import AsyncIterator

import anyio.to_thread

from keepmum.core.errors import InvalidInput
from keepmum.server.call import Answer, Call
from keepmum.server.people.roles import Principal
from keepmum.server.routes import Route
from keepmum.service.team import AuditRow

__all__ = ["ROUTES"]

_COMMENT = 15.0  # seconds without an event, after which a comment keeps proxies from closing the connection
_RETRY = b"retry: 2000\n\n"  # milliseconds after which a client connects again
_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}
_LONGEST = 18  # digits of a number


def events(call: Call) -> Answer:
    """Changes after `since` or the header `Last-Event-ID`, and then as they happen; without both from now on."""
    assert call.feed is not None
    call.feed.streams.check(call.principal.key)
    given = call.headers.get("last-event-id") or call.query.get("since")
    if given is None:
        return Answer(200, _stream(call, call.feed.head()), _HEADERS)
    text = str(given)
    if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST):
        raise InvalidInput("since", "must be the number of an event")
    return Answer(200, _stream(call, int(text)), _HEADERS)


async def _stream(call: Call, after: int) -> AsyncIterator[bytes]:
    assert call.feed is not None

    async def current_principal() -> Principal | None:
        return await anyio.to_thread.run_sync(call.current_principal)

    with call.feed.stream(call.principal.key):
        yield _RETRY
        written = time.monotonic()
        async with contextlib.aclosing(call.feed.follow(call.principal, current_principal, after)) as followed:
            async for changes in followed:
                sent = b"".join(map(_event, changes.rows))
                now = time.monotonic()
                if not sent and now - written >= _COMMENT:
                    sent = b": still here\n\n"
                if sent:
                    written = now
                    yield sent


def _event(row: AuditRow) -> bytes:
    """A change of a memory as an event."""
    data = {"seq": row.number, "action": row.action, "id": row.subject, "project": row.project}
    return f"id: {row.number}\nevent: change\ndata: {json.dumps(data)}\n\n".encode()


ROUTES = (
    Route("GET", "/api/v2/events", events, "reader", "Follow changes, as server-sent events", "events",
          {200: {"type": "string"}}, query={"since": {"type": "string"}}, produces="text/event-stream"),
)  # fmt: skip
