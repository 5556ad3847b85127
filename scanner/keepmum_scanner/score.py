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

    __slots__ = ("identity", "length", "mixed", "naming", "place", "run", "surprise", "switches")

    def __init__(  # noqa: PLR0913 - named, one a feature
        self,
        *,
        surprise: float,
        length: int,
        run: int,
        switches: int,
        mixed: bool,
        naming: int,
        identity: bool,
        place: bool,
    ) -> None:
        self.surprise = surprise  # mean bits a character
        self.length = length
        self.run = run  # longest stretch of letters and digits
        self.switches = switches  # changes between letters and digits
        self.mixed = mixed  # letters and digits both
        self.naming = naming  # context.UNNAMED, NEAR or ASSIGNED
        self.identity = identity  # a UUID, a bare hexadecimal number, a ULID
        self.place = place  # part of a link or a path


# By how its surroundings name a token: fewest characters, shortest longest stretch, least surprise in bits.
_LEAST = {UNNAMED: (16, 10, 5.8), NEAR: (16, 8, 5.4), ASSIGNED: (10, 6, 4.8)}
_LETTERS = 1.1  # bits more that letters, or letters with a number, must surprise: most are identifiers
_SWITCHES = {UNNAMED: 4, NEAR: 3, ASSIGNED: 3}  # or this many changes of kind, which words do not make
_SHORTEST_ID = 13  # digits; a commit is named by up to 12
_LONG_RUN = 15  # or, where named, letters and digits in so long a stretch


def by_hand(features: Features) -> float:
    """Confidence from hand-set points; each was chosen on the development corpus and can be read here."""
    if features.place:
        return 0.1
    if features.identity:
        return 0.7 if features.naming == ASSIGNED and features.length >= _SHORTEST_ID else 0.1
    length, run, surprise = _LEAST[features.naming]
    if features.length < length or features.run < run:
        return 0.2
    excess = features.surprise - surprise - (0 if features.switches > 1 else _LETTERS)
    if excess >= 0:
        return min(0.85, 0.55 + 0.1 * excess)
    named = features.naming != UNNAMED
    switched = features.switches >= _SWITCHES[features.naming] and (named or features.run >= 2 * run)
    long_run = named and features.mixed and features.run >= _LONG_RUN
    return 0.55 if switched or long_run else 0.3
