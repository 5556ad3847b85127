"""The second stage: decides which uncertain candidates become findings, from the value and its surroundings.

Detectors propose; trees over `evidence` judge. They are trained by tests/bench/scanner/train.py.
"""

from __future__ import annotations

from keepmum_scanner.candidates import merged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner.candidates import Candidate, Unit
    from keepmum_scanner.context import Context

MOST = 48  # candidates of one text that are judged; a text with more is a list of secrets
POSSIBLE = "secret.possible"
_POSSIBLE_CONFIDENCE = 0.5
LENIENCE = 1.5  # log odds by which what a detector proposes may miss the threshold: a leaked secret costs more


def judged(certain: list[Candidate], proposed: list[Candidate], context: Context) -> list[Candidate]:
    """The findings among `proposed`, and among words that may be passwords and overlap no other candidate."""
    if len(proposed) > MOST or context.is_dump:
        return proposed
    return [
        candidate if votes else _named(candidate, context)
        for candidate, votes in units(certain, proposed, context)
        if not _is_known(candidate, certain) and _margin((candidate, votes), context) >= (-LENIENCE if votes else 0.0)
    ]


def _is_known(candidate: Candidate, certain: list[Candidate]) -> bool:
    """Whether a certain candidate spans `candidate` with as much confidence, so that its verdict changes nothing."""
    _, start, end, confidence = candidate
    return bool([one for one in certain if one[1] <= start and end <= one[2] and confidence <= one[3]])


def units(certain: list[Candidate], proposed: list[Candidate], context: Context) -> list[Unit]:
    """What is judged: `proposed`, merged, each with its votes, and the possible passwords."""
    from keepmum_scanner.possible import find

    known = merged(proposed)
    found = [(one, sum(one[1] <= start < one[2] for _, start, _, _ in proposed)) for one in known]
    taken = [(start, end) for _, start, end, _ in [*certain, *known]]
    found += [((POSSIBLE, start, end, _POSSIBLE_CONFIDENCE), 0) for start, end in find(context, taken)]
    return found


def _named(candidate: Candidate, context: Context) -> Candidate:
    """A possible password as a finding."""
    _, start, end, confidence = candidate
    return ("secret.password" if context.naming(start, end) else "secret.unnamed", start, end, confidence)


def _margin(unit: Unit, context: Context) -> float:
    from keepmum_scanner.evidence import evidence  # few texts have a candidate
    from keepmum_scanner.trees import margin

    return margin(evidence(unit, context))
