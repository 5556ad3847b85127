"""Finds files that a text contains as lines of base64, as mail does: images and archives pass, private keys do not.

Only headers say what such a block holds, and a note seldom quotes them. It is recognised by its lines: four or more of
the same length with nothing else in them.
"""

from __future__ import annotations

from keepmum_scanner.context import UNNAMED
from keepmum_scanner.expressions import compiled
from keepmum_scanner.pem import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner.context import Context

_WIDTH = 60  # shortest line in characters; mail has 76, PEM 64, uuencode 60
_LINES = 4  # a key of 64 bytes fits into two lines
_LINE = r"[ \t>]{0,8}[A-Za-z0-9+/]"
_BLOCK = compiled(rf"(?m)^(?:{_LINE}{{{_WIDTH},80}}\r?\n){{{_LINES - 1},}}{_LINE}{{1,80}}={{0,2}}[ \t]*\r?$")
_MARGIN = " \t\r>"


def base64_blocks(context: Context) -> list[Block]:
    """The base64 blocks of a text, without those that hold text or that the surroundings name a credential."""
    blocks = []
    for match in _BLOCK.finditer(context.text):
        if any(block.start <= match.start() < block.end for block in context.blocks):
            continue
        lines = [line.strip(_MARGIN) for line in match.group().split("\n")]
        if len({len(line) for line in lines[:-1]}) > 1 or len(lines[-1]) > len(lines[0]):
            continue
        private = _is_private("".join(lines))
        if private is not None and (private or context.naming(match.start(), match.end()) == UNNAMED):
            blocks.append(Block(match.start(), match.end(), private=private))
    return blocks


def _is_private(data: str) -> bool | None:
    """Whether the base64 `data` is a private key; None for text, which is judged by its content."""
    import binascii  # an extension module, and few texts need it

    head = binascii.a2b_base64(data[:_WIDTH])
    if head.startswith(b"openssh-key-v1"):
        return True
    if head.isascii():
        return None
    # A sequence that begins with a version (RFC 5208, RFC 8017, RFC 7292); a certificate begins with another sequence.
    length = 2 + (head[1] & 0x7F) if head[1] & 0x80 else 2
    return head[0] == 0x30 and head[length : length + 2] == b"\x02\x01"
