"""How likely a token is a secret, from features alone: the seam where a trained scorer takes the place of this one.

A scorer sees `Features`, never the text; `scan` compares its answer with `THRESHOLD`.
"""

from __future__ import annotations

from keepmum_scanner.context import ASSIGNED, NEAR, UNNAMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    Scorer = Callable[["Features"], float]

THRESHOLD = 0.5


class Features:
    """What a scorer may know of a token."""

    __slots__ = ("identity", "in_link", "length", "naming", "run", "surprise", "switches")

    def __init__(  # noqa: PLR0913 - named, one a feature
        self, *, surprise: float, length: int, run: int, switches: int, naming: int, identity: bool, in_link: bool
    ) -> None:
        self.surprise = surprise  # mean bits a character
        self.length = length
        self.run = run  # longest stretch of letters and digits
        self.switches = switches  # changes between letters and digits within that stretch
        self.naming = naming  # context.UNNAMED, NEAR or ASSIGNED
        self.identity = identity  # a UUID, a bare hexadecimal number, a ULID
        self.in_link = in_link


# Least surprise, in bits, at which a token counts as spelled like a key, by how its surroundings name it.
_SURPRISE = {UNNAMED: 6.3, NEAR: 5.7, ASSIGNED: 5.2}
_LENGTH = {UNNAMED: 18, NEAR: 16, ASSIGNED: 12}
_RUN = {UNNAMED: 12, NEAR: 8, ASSIGNED: 6}


def by_hand(features: Features) -> float:
    """Confidence from hand-set points; every number was chosen on the development corpus and can be read here."""
    naming = UNNAMED if features.in_link and features.naming < ASSIGNED else features.naming
    if features.identity:
        return 0.7 if naming == ASSIGNED else 0.1
    if features.in_link and naming == UNNAMED:
        return 0.1
    if features.length < _LENGTH[naming] or features.run < _RUN[naming]:
        return 0.2
    excess = features.surprise - _SURPRISE[naming]
    mixed = features.switches - (5 if naming == UNNAMED else 3)
    return min(0.85, 0.5 + 0.1 * max(excess, 0.25 * mixed)) if excess >= 0 or mixed >= 0 else 0.3
