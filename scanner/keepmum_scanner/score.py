"""How likely a token is a secret, from features alone.

A scorer sees `Features`, never the text; `scan` compares its answer with `THRESHOLD`. The learned one is in use; the
one set by hand can be read, and is what training has to beat (scanner/score_report.md has the figures).
"""

from __future__ import annotations

from keepmum_scanner.context import ASSIGNED, NEAR, UNNAMED
from keepmum_scanner.score_table import BIAS, WEIGHTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    Scorer = Callable[["Features"], float]

_INPUTS = 17  # numbers that a learned scorer weighs
if len(WEIGHTS) != _INPUTS:
    raise ImportError("the table of weights is damaged")

_E = 2.718281828459045  # not from `math`: a library to load for one number
THRESHOLD = 0.5
SUREST = 0.85  # below every stated fact: a finding bears the provider's name where one is known


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


def inputs(features: Features) -> list[float]:
    """The numbers that a learned scorer weighs, all near 1."""
    assigned, near = float(features.naming == ASSIGNED), float(features.naming == NEAR)
    bits = features.surprise - 5.5
    run = min(features.run, 40) / 20
    switches = min(features.switches, 12) / 6
    return [
        bits,
        max(0.0, bits),
        bits * assigned,
        bits * near,
        min(features.length, 64) / 32,
        run,
        min(1.0, run) * bits,
        switches,
        switches * bits,
        switches * run,
        float(features.mixed),
        assigned,
        near,
        float(features.identity),
        float(features.identity) * assigned,
        float(features.place),
        float(features.length < 16),
    ]


def learned(features: Features) -> float:
    """Confidence of the trained scorer: a logistic sum of what is known of the token."""
    if features.place or (features.identity and not is_governed(features)):
        return 0.1  # no weight says it as surely: places are made to be shared, and ids to be told
    odds: float = _E ** (-BIAS - sum(map(float.__mul__, WEIGHTS, inputs(features))))
    return min(SUREST, 1.0 / (1.0 + odds))


# By how its surroundings name a token: fewest characters, shortest longest stretch, least surprise in bits.
_LEAST = {UNNAMED: (16, 10, 5.8), NEAR: (16, 8, 5.4), ASSIGNED: (10, 6, 4.8)}
_LETTERS = 1.1  # bits more that letters, or letters with a number, must surprise: most are identifiers
_SWITCHES = {UNNAMED: 4, NEAR: 3, ASSIGNED: 3}  # or this many changes of kind, which words do not make
_SHORTEST_ID = 13  # digits; a commit is named by up to 12
_LONG_RUN = 15  # or, where named, letters and digits in so long a stretch


def is_governed(features: Features) -> bool:
    """Whether a credential word is given a name of things that is long enough to be a key."""
    return features.naming == ASSIGNED and features.length >= _SHORTEST_ID


def by_hand(features: Features) -> float:
    """Confidence from hand-set points; each was chosen on the development corpus and can be read here."""
    if features.place:
        return 0.1
    if features.identity:
        return 0.7 if is_governed(features) else 0.1
    length, run, surprise = _LEAST[features.naming]
    if features.length < length or features.run < run:
        return 0.2
    excess = features.surprise - surprise - (0 if features.switches > 1 else _LETTERS)
    if excess >= 0:
        return min(SUREST, 0.55 + 0.1 * excess)
    named = features.naming != UNNAMED
    switched = features.switches >= _SWITCHES[features.naming] and (named or features.run >= 2 * run)
    long_run = named and features.mixed and features.run >= _LONG_RUN
    return 0.55 if switched or long_run else 0.3
