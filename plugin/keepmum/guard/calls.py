"""Decides on a line that may be a tool call.

Servers parse JSON differently: a message counts as a call if some server could take it for one, and a line that servers
could parse differently is refused.
"""

from __future__ import annotations

from keepmum.core import jsonrpc
from keepmum.core.errors import report_unexpected
from keepmum.guard import message, refusal
from keepmum.guard.verdict import LONGEST, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    Json = dict[str, object]

__all__ = ["judge"]


def judge(line: bytes) -> Verdict:
    """The verdict. Never raises: if the scanner fails, the call is refused."""
    if len(line) > jsonrpc.MAX_LINE:
        limit = LONGEST if len(line) > LONGEST else jsonrpc.MAX_LINE
        return _unreadable(line, f"has more than {limit:,} bytes")
    try:
        text = line.decode()
        value = message.decode(text)
    except (ValueError, RecursionError):
        return _unreadable(line, "is not plain JSON on one line")
    if "\r" in text.rstrip("\r\n"):  # some servers also end lines there
        return _unreadable(line, "contains a carriage return")
    try:
        return _batch(line, text) if isinstance(value, list) else _single(line, value)
    except Exception as error:  # noqa: BLE001 - an unscanned call must not pass
        report_unexpected("the guard", error)
        return _unreadable(line, "broke the scanner")


def _single(line: bytes, value: object) -> Verdict:
    answer = _refused(value)
    return Verdict(line) if answer is None else Verdict(b"", answer or None)


def _batch(line: bytes, text: str) -> Verdict:
    """The verdict on a batch: refused messages are removed, the others pass unchanged."""
    places = list(message.elements(text))
    answers = [_refused(value) for _, _, value in places]
    kept = [place for place, answer in zip(places, answers, strict=True) if answer is None]
    if len(kept) == len(places):
        return Verdict(line)
    refused = [answer for answer in answers if answer] or None
    if not kept:
        return Verdict(b"", refused)
    inside = ",".join(text[start:end] for start, end, _ in kept)
    whole = text[: places[0][0]] + inside + text[places[-1][1] :]
    return Verdict(whole.encode(), refused)


def _refused(value: object) -> Json | None:
    """The response to a refused call, empty for a notification; None for a message that passes."""
    if not isinstance(value, message.Members) or not message.is_call(value):
        return None
    from keepmum.guard.fields import secrets  # imported here: a damaged scanner then refuses the call

    places = secrets(value)
    if not places:
        return None
    request_id = message.request_id(value)
    return {} if request_id is None else refusal.holds_secret(request_id, places)


def _unreadable(line: bytes, reason: str) -> Verdict:
    return Verdict(b"", refusal.unreadable(line, reason))
