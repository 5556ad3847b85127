"""Scores how likely a token is a secret, from its features alone.

The weights are trained by scanner/train_scorer.py; scanner/score_report.md compares them with a scorer set by hand.
"""

from __future__ import annotations

from keepmum_scanner.context import ASSIGNED, NEAR
from keepmum_scanner.score_table import BIAS, WEIGHTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    Scorer = Callable[["Features"], float]

_INPUTS = 17  # numbers in an input vector
if len(WEIGHTS) != _INPUTS:
    raise ImportError("the table of weights is damaged")

_E = 2.718281828459045  # importing `math` for one number is too slow
THRESHOLD = 0.5
MAX_SCORE = 0.85  # below every explicit candidate, whose rule says more


class Features:
    """What a scorer gets about a token."""

    __slots__ = ("identity", "length", "mixed", "naming", "path", "run", "surprise", "switches")

    def __init__(  # noqa: PLR0913 - named, one per feature
        self,
        *,
        surprise: float,
        length: int,
        run: int,
        switches: int,
        mixed: bool,
        naming: int,
        identity: bool,
        path: bool,
    ) -> None:
        self.surprise = surprise  # mean bits per character
        self.length = length
        self.run = run  # longest run of letters and digits
        self.switches = switches  # changes between letters and digits
        self.mixed = mixed  # contains letters and digits
        self.naming = naming  # context.UNNAMED, NEAR or ASSIGNED
        self.identity = identity  # a UUID, a bare hexadecimal number, a ULID
        self.path = path  # part of a link or a path


def inputs(features: Features) -> list[float]:
    """The input vector of the trained scorer; all numbers are near 1."""
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
        float(features.path),
        float(features.length < 16),
    ]


def trained_score(features: Features) -> float:
    """Confidence of the trained scorer, a logistic regression over `inputs`."""
    if features.path or (features.identity and not is_named_key(features)):
        return 0.1  # more certain than any weight: paths and ids are public
    odds: float = _E ** (-BIAS - sum(map(float.__mul__, WEIGHTS, inputs(features))))
    return min(MAX_SCORE, 1.0 / (1.0 + odds))


_SHORTEST_KEY = 13  # hexadecimal digits; an abbreviated commit has up to 12


def is_named_key(features: Features) -> bool:
    """Whether an id is assigned to a credential word and long enough to be a key."""
    return features.naming == ASSIGNED and features.length >= _SHORTEST_KEY
