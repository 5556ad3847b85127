"""Passwords told beside the door that they open, where no word calls them so: "log in as admin with …", "admin / …".

The word must be spelled as a password (`spelled`), since of ten such sentences nine tell something else.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import places
from keepmum_scanner.spelled import is_spelled
from keepmum_scanner.suspect import STATED
from keepmum_scanner.values import trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect

    Span = tuple[int, int]
    Row = tuple[str, tuple[str, ...], str]  # a piece that most texts lack, pivots that have it, what follows these

_VALUE = r"[\"'`(]?(?P<value>[^\s\"'`]{6,64})"
_WAY = r"(?:[^\n.;]|\.(?=\S)){0,60}?"  # within the sentence
# "log in to the router as admin with …", "ssh root@10.0.4.7 and type …"
_WITH = rf"{_WAY} (?:(?:with|using|mit)(?: (?:the )?(?:password|pw|code))?|type|enter) {_VALUE}"
# "user kolja, pass …": more often verbs, and the ends of other words. A digit in front is how routers write it.
_NOTED = rf"(?<![a-z]pass )(?:[057] )?{_VALUE}"
# "Credentials: admin / …", "our account: me@example.org / …"
_BEHIND_ACCOUNT = r"(?P<value>[^\s\"'`:/|]{6,64})"
# A piece that most texts lack; what stands before the word, in lower case; and the way to it.
DOORS = (
    ("log", ("login", "log in", "logged in"), rf"\b{_WITH}"),
    ("ssh ", ("ssh ",), _WITH),
    ("pass ", ("pass ",), _NOTED),
)
ACCOUNTS = (
    ("admin", ("admin:", "admin/"), _BEHIND_ACCOUNT),
    (" / ", (" / ",), _BEHIND_ACCOUNT),
)
_PARTED = compiled(r"(?:\b(?:admin(?:istrator)?|root|sa|elastic|postgres|guest|demo|test|user)|[\w.+-]@[\w.-]{3,40})$")
_INTRODUCED = ("cred", "login", "log in", "sign in", "account", "access", "zugang", "konto")
_BEFORE = 60  # characters before it that introduce an account


def find(context: Context) -> list[Suspect]:
    """Suspects for words beside a door or an account."""
    lower, most = context.lower, context.crowd
    spans = [span for row in DOORS if row[0] in lower for span in _behind(lower, row, most)]
    spans += [span for row in ACCOUNTS if row[0] in lower for span in _accounts(lower, row, most)]
    suspects = []
    for start, end in spans:
        context.looks -= 1
        value = trimmed(context.text[start:end])
        if context.looks >= 0 and is_spelled(value):
            suspects.append(("secret.password", start, start + len(value), STATED))
    return suspects


def _behind(lower: str, row: Row, most: int) -> Iterator[Span]:
    """Where words stand behind the pivots of `row`, `most` for each."""
    _, pivots, expression = row
    for pivot in pivots:
        if pivot not in lower:
            continue
        value_behind = compiled(expression).match
        for place in places(pivot, lower)[:most]:
            match = value_behind(lower, place + len(pivot))
            if match:
                yield match.span("value")


def _accounts(lower: str, row: Row, most: int) -> Iterator[Span]:
    """Where words stand behind an account that is introduced as one."""
    for start, end in _behind(lower, row, most):
        before = lower[max(0, start - _BEFORE) : start]
        if any(word in before for word in _INTRODUCED) and (
            not before.endswith(" / ") or _PARTED.search(before, 0, len(before) - len(" / "))
        ):
            yield (start, end)
