"""A stream of what changed: the ids of memories, never their text, so that clients load what they want to see.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, read 2026-11-22.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator

import anyio.to_thread

from keepmum.core import ids
from keepmum.core.errors import InvalidInput
from keepmum.server.call import Answer, Call, HttpError
from keepmum.server.people.roles import Principal
from keepmum.server.routes import Route
from keepmum.service.team import ORGANISATION, AuditRow

__all__ = ["ROUTES"]

_COMMENT = 15.0  # seconds without an event, after which a comment keeps proxies from closing the connection
_CHECK = 2.0  # seconds after which a key is checked again
_RETRY = b"retry: 2000\n\n"  # milliseconds after which a client connects again
_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}
_LONGEST = 18  # digits of a number


def events(call: Call) -> Answer:
    """Changes after `since` or the header `Last-Event-ID`, and then as they happen; without both from now on."""
    assert call.feed is not None
    if not call.feed.may_open(call.principal.key):
        raise HttpError(429, "this key has too many streams; close one", {"retry-after": "5"})
    given = call.headers.get("last-event-id") or call.query.get("since")
    if given is None:
        return Answer(200, _stream(call, call.feed.head()), _HEADERS)
    text = str(given)
    if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST):
        raise InvalidInput("since", "must be the number of an event")
    return Answer(200, _stream(call, int(text)), _HEADERS)


async def _stream(call: Call, after: int) -> AsyncIterator[bytes]:
    feed, principal = call.feed, call.principal
    assert feed is not None
    with feed.stream(principal.key):
        yield _RETRY
        written = checked = time.monotonic()
        found, after = await feed.rows(after, _readable(principal))
        while not feed.is_stopping:
            sent = b"".join(map(_event, found))
            now = time.monotonic()
            if not sent and now - written >= _COMMENT:
                sent = b": still here\n\n"
            if sent:
                written = now
                yield sent
            await feed.wait(after, _CHECK)
            if time.monotonic() - checked >= _CHECK:
                checked = time.monotonic()
                known = await anyio.to_thread.run_sync(call.again)
                if known is None:  # the key was withdrawn
                    return
                principal = known
            found, after = await feed.rows(after, _readable(principal))


def _readable(principal: Principal) -> frozenset[str] | None:
    return principal.grant(ORGANISATION).read


def _event(row: AuditRow) -> bytes:
    """An audit row as an event; empty for one that is not about a memory."""
    if row.subject is None or not row.subject.startswith(ids.PREFIX):
        return b""
    data = {"seq": row.number, "action": row.action, "id": row.subject, "project": row.project}
    return f"id: {row.number}\nevent: change\ndata: {json.dumps(data)}\n\n".encode()


ROUTES = (
    Route("GET", "/api/v2/events", events, "reader", "Follow changes, as server-sent events", "events",
          {200: {"type": "string"}}, query={"since": {"type": "string"}}, produces="text/event-stream"),
)  # fmt: skip
