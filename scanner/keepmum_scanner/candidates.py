"""What detectors return to `scan`: positions in the normalised text, before they become `Finding`s of the original."""

from __future__ import annotations

# Confidence where a name or a phrase calls the value a secret: above every score, below every structure and prefix.
EXPLICIT = 0.88
# Candidates of one kind, after which a text counts as a dump of secrets: the rest gets a rough check only.
DUMP_SIZE = 100

# More cases of one kind than any note or source file has. A text made of borderline cases would otherwise take half a
# second per megabyte; what follows this many cases gets a rough check.
MIN_CASE_LIMIT = 400
_CHARACTERS_PER_CASE = 160  # raises the limit of a longer text

TYPE_CHECKING = False
if TYPE_CHECKING:
    Candidate = tuple[str, int, int, float]  # rule, start, end, confidence
    # A candidate that is judged, and how many detectors proposed it; 0 when only its spelling did.
    Unit = tuple[Candidate, int]


def case_limit(text: str) -> int:
    """How many cases of one kind are checked in detail in `text`."""
    limit = len(text) // _CHARACTERS_PER_CASE
    return limit if limit > MIN_CASE_LIMIT else MIN_CASE_LIMIT  # noqa: FURB136 - called several times a scan; `max` is slower


def merged(candidates: list[Candidate]) -> list[Candidate]:
    """`candidates` in order of position, overlapping ones merged under the rule of the most confident.

    A merged candidate spans all of its parts, so that redaction leaves no end of a secret.
    """
    result: list[Candidate] = []
    reach = -1
    for candidate in sorted(candidates, key=lambda one: one[1]):
        _, start, end, confidence = candidate
        if start < reach:
            last = result[-1]
            reach = end if end > reach else reach  # noqa: FURB136 - twice as fast as a call of `max`
            rule, _, _, highest = candidate if confidence > last[3] else last
            result[-1] = (rule, last[1], reach, highest)
        else:
            reach = end
            result.append(candidate)
    return result
