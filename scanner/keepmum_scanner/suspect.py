"""What detectors hand to `scan`: a place in the plain text, before it becomes a `Finding` of the original."""

from __future__ import annotations

STATED = 0.88  # confidence in what a name or a phrase calls a secret: above every score, below every fact
FLOOD = 100  # suspects of one kind, after which a text is a dump: what follows is judged by its coarse look alone

TYPE_CHECKING = False
if TYPE_CHECKING:
    Suspect = tuple[str, int, int, float]  # rule, start, end, confidence


def merged(suspects: list[Suspect]) -> list[Suspect]:
    """`suspects` in order of place, overlapping ones as one under the name of the most confident.

    The widest reach is kept, so that no end of a secret outlives its redaction.
    """
    result: list[Suspect] = []
    for suspect in sorted(suspects, key=lambda one: (one[1], -one[3])):
        if result and suspect[1] < result[-1][2]:
            last = result[-1]
            best = last if last[3] >= suspect[3] else suspect
            result[-1] = (best[0], last[1], max(last[2], suspect[2]), best[3])
        else:
            result.append(suspect)
    return result
