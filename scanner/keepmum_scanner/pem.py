"""Finds PEM blocks, also inside JSON or shell quoting: private keys, and public blocks that are not secrets."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_LONGEST = 32768  # characters from header to footer; a 16,384-bit RSA key takes 12,700

# Source: https://rfcinfo.com/rfc-7468/10-textual-encoding-of-pkcs-8, read 2026-11-21
_BOUNDARY = compiled(r"-----(?P<side>BEGIN|END) (?P<label>[A-Z0-9 ]{1,40})-----")
# A body without footer: key lines, and what quoting adds between them (escaped breaks, quotes, commas, comment marks).
_BODY = compiled(r"[A-Za-z0-9+/=\s\\\"',:.#>|*-]*")
_KEY_LINE = compiled(r"[A-Za-z0-9+/=]{16,}")

_LAST_LINE = compiled(
    r"(?:\\[nr]|[\s\"',:.#>|*+-]){1,16}(?P<last>[A-Za-z0-9+/]{1,15}={0,2})(?=[\"'\\,;)`]*\s*(?:\n|$))"
)


class Block:
    """One block at [start, end); without a footer it ends with its last key line."""

    __slots__ = ("end", "private", "start")

    def __init__(self, start: int, end: int, *, private: bool) -> None:
        self.start = start
        self.end = end
        self.private = private


def blocks(text: str) -> list[Block]:
    """The blocks of `text` that have a body, in order; documentation often shows a header alone."""
    boundaries = list(_BOUNDARY.finditer(text))
    found = []
    for index, boundary in enumerate(boundaries):
        if boundary["side"] == "BEGIN":
            following = boundaries[index + 1] if index + 1 < len(boundaries) else None
            end = _end(text, boundary.end(), following)
            if end > boundary.end():
                found.append(Block(boundary.start(), end, private="PRIVATE KEY" in boundary["label"]))
    return found


def _end(text: str, start: int, following: re.Match[str] | None) -> int:
    """The end of the block whose header ends at `start`; `start` itself when there is no body."""
    limit = min(start + _LONGEST, following.start() if following else len(text))
    if following is not None and following["side"] == "END" and following.start() == limit:
        return following.end() if _KEY_LINE.search(text, start, limit) else start
    body = _BODY.match(text, start, limit)
    assert body is not None  # the expression also matches the empty string
    end = max((line.end() for line in _KEY_LINE.finditer(text, start, body.end())), default=start)
    last = _LAST_LINE.match(text, end, limit) if end > start else None
    return last.end("last") if last else end
