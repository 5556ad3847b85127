"""What the guard decides on one line from the client. Imported before the handshake: no dependencies."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    Json = dict[str, object]

__all__ = ["LONGEST", "Verdict"]

LONGEST = 64 * 1024 * 1024  # bytes of a line that are buffered until it ends; a longer one is refused unread


class Verdict:
    """The bytes to forward to the server, and the answer to the client."""

    __slots__ = ("answer", "forward")

    def __init__(self, forward: bytes, answer: Json | list[Json] | None = None) -> None:
        self.forward: Final = forward
        self.answer: Final = answer
