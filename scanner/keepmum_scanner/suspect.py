"""What detectors hand to `scan`: a place in the plain text, before it becomes a `Finding` of the original."""

from __future__ import annotations

STATED = 0.88  # confidence in what a name or a phrase calls a secret: above every score, below every fact
FLOOD = 100  # suspects of one kind, after which a text is a dump: what follows is judged by its coarse look alone

# More cases of one kind than any note and any source has: a text that is made of borderline cases would cost its reader
# half a second a megabyte. What follows them is judged by its coarse look.
CROWD = 400
_CROWD_EACH = 160  # characters of a longer text for each

TYPE_CHECKING = False
if TYPE_CHECKING:
    Suspect = tuple[str, int, int, float]  # rule, start, end, confidence


def crowd_of(text: str) -> int:
    """How many cases of one kind are a crowd in `text`."""
    long = len(text) // _CROWD_EACH
    return long if long > CROWD else CROWD  # noqa: FURB136 - asked several times a scan, and a call takes longer


def merged(suspects: list[Suspect]) -> list[Suspect]:
    """`suspects` in order of place, overlapping ones as one under the name of the most confident.

    The widest reach is kept, so that no end of a secret outlives its redaction.
    """
    result: list[Suspect] = []
    reach = -1
    for suspect in sorted(suspects, key=_place):
        _, start, end, confidence = suspect
        if start < reach:
            last = result[-1]
            reach = end if end > reach else reach  # noqa: FURB136 - twice as fast as a call of `max`
            rule, _, _, most = suspect if confidence > last[3] else last
            result[-1] = (rule, last[1], reach, most)
        else:
            reach = end
            result.append(suspect)
    return result


def _place(suspect: Suspect) -> int:
    return suspect[1]
