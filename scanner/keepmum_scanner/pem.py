"""Private key blocks, as files carry them and as JSON or shell quoting bends them."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.suspect import Suspect

GUARD = "PRIVATE KEY"
_LONGEST = 32768  # characters from header to footer; a 16,384-bit RSA key takes 12,700

# Source: https://www.rfc-editor.org/rfc/rfc7468, read 2026-11-21
_HEADER = re.compile(r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
_PUBLIC_GUARD = "-----BEGIN "
_ANY_HEADER = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}-----")
_FOOTER = re.compile(r"-----END [A-Z0-9 ]{0,40}-----")
# Key lines, with what quoting adds between them: escaped breaks, quotes, commas, "+", comment and diff marks.
_BODY = re.compile(r"[A-Za-z0-9+/=\s\\\"',:.#>|*-]*")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16}")


def find(text: str) -> Iterator[Suspect]:
    """Suspects for each private key block with a body; a header alone, as documentation shows it, passes."""
    if GUARD not in text:
        return
    done = 0
    for header in _HEADER.finditer(text):
        if header.start() >= done:
            done = _end(text, header.end())
            if _KEY_LINE.search(text, header.end(), done):
                yield ("private-key", header.start(), done, 0.99)


def public_spans(text: str) -> list[tuple[int, int]]:
    """The [start, end) of each certificate and public key, whose lines look like keys and are made to be shared."""
    if _PUBLIC_GUARD not in text:
        return []
    return [
        (header.start(), _end(text, header.end()))
        for header in _ANY_HEADER.finditer(text)
        if "PRIVATE" not in header.group()
    ]


def _end(text: str, start: int) -> int:
    """Where the block whose header ends at `start` ends: behind its footer, or with its last key line."""
    limit = start + _LONGEST
    footer = _FOOTER.search(text, start, limit)
    if footer:
        return footer.end()
    body = _BODY.match(text, start, limit)
    assert body is not None  # the expression also matches nothing
    lines = list(_KEY_LINE.finditer(text, start, body.end()))
    return lines[-1].end() if lines else start
