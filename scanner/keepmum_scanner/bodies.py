"""Files that were put into a text as lines of base64, as mail does: images and archives pass, private keys do not.

Such a body says of itself what it is only in headers, which a note seldom quotes. What gives it away are its lines:
four or more of one length, and nothing else in them.
"""

from __future__ import annotations

from keepmum_scanner.context import UNNAMED
from keepmum_scanner.expressions import compiled
from keepmum_scanner.pem import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner.context import Context

_WIDTH = 60  # characters of a line at least: mail has 76, PEM 64, uuencode's kin 60
_LINES = 4  # a key of 64 bytes is told in two
_LINE = r"[ \t>]{0,8}[A-Za-z0-9+/]"
_BODY = compiled(rf"(?m)^(?:{_LINE}{{{_WIDTH},80}}\r?\n){{{_LINES - 1},}}{_LINE}{{1,80}}={{0,2}}[ \t]*\r?$")
_MARKS = " \t\r>"


def bodies(context: Context) -> list[Block]:
    """Bodies in a text, those of private keys marked so; none where something names them a credential."""
    blocks = []
    for match in _BODY.finditer(context.text):
        if any(block.start <= match.start() < block.end for block in context.blocks):
            continue
        lines = [line.strip(_MARKS) for line in match.group().split("\n")]
        if len({len(line) for line in lines[:-1]}) > 1 or len(lines[-1]) > len(lines[0]):
            continue
        private = _is_private("".join(lines))
        if private is not None and (private or context.naming(match.start(), match.end()) == UNNAMED):
            blocks.append(Block(match.start(), match.end(), private=private))
    return blocks


def _is_private(data: str) -> bool | None:
    """Whether the base64 `data` is a private key; None where it is a text, which is judged by what it says."""
    import binascii  # a library of its own, and few texts come so far

    head = binascii.a2b_base64(data[:_WIDTH])
    if head.startswith(b"openssh-key-v1"):
        return True
    if head.isascii():
        return None
    # A sequence whose first part is a version (RFC 5208, RFC 8017, RFC 7292): a certificate's is a sequence again.
    length = 2 + (head[1] & 0x7F) if head[1] & 0x80 else 2
    return head[0] == 0x30 and head[length : length + 2] == b"\x02\x01"
