"""What becomes of one line from the client: it passes as it is, in part, or not at all. No I/O."""

from __future__ import annotations

from keepmum.guard import message, refusal
from keepmum.mcp import faults, rpc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    Json = dict[str, object]

__all__ = ["LONGEST", "Verdict", "judge"]

LONGEST = 64 * 1024 * 1024  # bytes of a line that are held back until it ends; a longer one is refused unread


class Verdict:
    """What is passed on, what the client is answered, and which requests the server now owes an answer to."""

    __slots__ = ("answer", "asked", "forward")

    def __init__(
        self, forward: bytes, answer: Json | list[Json] | None = None, asked: Sequence[rpc.RequestId] = ()
    ) -> None:
        self.forward: Final = forward
        self.answer: Final = answer
        self.asked: Final = asked


def judge(line: bytes) -> Verdict:  # noqa: PLR0911 - one rule, one line, the strictest first
    """The verdict on a line, which comes with its line feed. Never raises: what cannot be checked is no call or stays.

    Only the server decides what it makes of a line, so everything that some server could take for a call is one.
    """
    if len(line) > LONGEST:
        return _unreadable(line, f"has more than {LONGEST:,} bytes")
    calls = message.may_call(line)
    if len(line) > rpc.MAX_LINE:
        return _unreadable(line, f"has more than {rpc.MAX_LINE:,} bytes") if calls else Verdict(line)
    try:
        text = line.decode()
        value = message.decode(text)
    except (ValueError, RecursionError):
        return _unreadable(line, "is not plain JSON on one line") if calls else Verdict(line)
    if not calls:
        return Verdict(line, asked=_requests(value if isinstance(value, list) else [value]))
    if "\r" in text.rstrip("\r\n"):  # some servers end lines there too, and would read other messages than we did
        return _unreadable(line, "has a carriage return in it")
    try:
        return _batch(line, text) if isinstance(value, list) else _single(line, value)
    except Exception as error:  # noqa: BLE001 - whatever breaks the scanner, an unchecked call must not pass
        faults.report("the guard", error)
        return _unreadable(line, "broke the scanner")


def _single(line: bytes, value: object) -> Verdict:
    answer = _refused(value)
    if answer is None:
        return Verdict(line, asked=_requests([value]))
    return Verdict(b"", answer or None)


def _batch(line: bytes, text: str) -> Verdict:
    """The verdict on a batch: what is refused is cut out, the others pass in their own spelling."""
    places = list(message.elements(text))
    answers = [_refused(value) for _, _, value in places]
    if all(answer is None for answer in answers):
        return Verdict(line, asked=_requests([value for _, _, value in places]))
    kept = [place for place, answer in zip(places, answers, strict=True) if answer is None]
    refused = [answer for answer in answers if answer]
    if not kept:
        return Verdict(b"", refused or None)
    inside = ",".join(text[start:end] for start, end, _ in kept)
    whole = text[: places[0][0]] + inside + text[places[-1][1] :]
    return Verdict(whole.encode(), refused or None, _requests([value for _, _, value in kept]))


def _refused(value: object) -> Json | None:
    """The answer to a call that is refused, empty when it wants none; None for a message that passes."""
    if not isinstance(value, message.Members) or not message.is_call(value):
        return None
    from keepmum.guard.fields import secrets  # with it comes the scanner, 20 ms that no handshake should wait for

    places = secrets(value)
    if not places:
        return None
    request_id = message.request_id(value)
    return {} if request_id is None else refusal.holds_secret(request_id, places)


def _requests(messages: Sequence[object]) -> list[rpc.RequestId]:
    ids = [message.request_id(one) for one in messages if message.named(one, "method")]
    return [one for one in ids if one is not None]


def _unreadable(line: bytes, reason: str) -> Verdict:
    return Verdict(b"", refusal.unreadable(line, reason))
