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

_VALUE = r"[\"'`(]?(?P<value>[^\s\"'`]{6,64})"
_WAY = r"(?:[^\n.;]|\.(?=\S)){0,60}?"  # within the sentence
# "log in to the router as admin with …", "ssh root@10.0.4.7 and type …"
_WITH = rf"{_WAY} (?:(?:with|using|mit)(?: (?:the )?(?:password|pw|code))?|type|enter) {_VALUE}"
# "user kolja, pass …": more often verbs, and the ends of other words. A digit in front is how routers write it.
_NOTED = rf"(?<![a-z]pass )(?<![a-z]pwd )(?:[057] )?{_VALUE}"
# "Credentials: admin / …", "our account: me@example.org / …"
_BEHIND_ACCOUNT = r"(?P<value>[^\s\"'`:/|]{6,64})"
# A piece that most texts lack; what stands before the word, in lower case; and the way to it.
DOORS = (
    ("log", ("login", "log in", "log on", "logged in", "einloggen"), rf"\b{_WITH}"),
    ("sign in", ("sign in",), _WITH),
    ("unlock", ("unlock",), _WITH),
    ("ssh ", ("ssh ",), _WITH),
    ("pass", ("pass ",), _NOTED),
    ("pwd ", ("pwd ",), _NOTED),
)
ACCOUNTS = (
    ("admin", ("admin:", "admin/"), _BEHIND_ACCOUNT),
    (" / ", (" / ",), _BEHIND_ACCOUNT),
)
_PARTED = compiled(r"(?:\b(?:admin(?:istrator)?|root|sa|elastic|postgres|guest|demo|test|user)|[\w.+-]@[\w.-]{3,40})$")
_INTRODUCED = ("cred", "login", "log in", "sign in", "account", "access", "zugang", "konto")
_BEFORE = 60  # characters before it that introduce an account


def find(context: Context) -> Iterator[Suspect]:
    """Suspects for words beside a door or an account."""
    for start, end in (*_behind(context.lower, DOORS, context.crowd), *_accounts(context.lower, context.crowd)):
        context.looks -= 1
        if context.looks < 0:
            return
        value = trimmed(context.text[start:end])
        if is_spelled(value):
            yield ("secret.password", start, start + len(value), STATED)


def _behind(lower: str, rows: tuple[tuple[str, tuple[str, ...], str], ...], most: int) -> Iterator[Span]:
    """Where words stand behind the pivots of `rows`, `most` for each."""
    for piece, pivots, expression in rows:
        for pivot in pivots if piece in lower else ():
            if pivot not in lower:
                continue
            value_behind = compiled(expression).match
            for place in places(pivot, lower)[:most]:
                match = value_behind(lower, place + len(pivot))
                if match:
                    yield match.span("value")


def _accounts(lower: str, most: int) -> Iterator[Span]:
    """Where words stand behind an account that is introduced as one."""
    for start, end in _behind(lower, ACCOUNTS, most):
        before = lower[max(0, start - _BEFORE) : start]
        if any(word in before for word in _INTRODUCED) and (
            not before.endswith(" / ") or _PARTED.search(before, 0, len(before) - len(" / "))
        ):
            yield (start, end)
