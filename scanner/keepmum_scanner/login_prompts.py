"""Finds passwords in sentences about logging in that do not call them so: "log in as admin with …", "admin / …".

The word must be spelled like a password, since nine of ten such sentences contain none.
"""

from __future__ import annotations

from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.expressions import compiled
from keepmum_scanner.password_spelling import looks_like_password
from keepmum_scanner.phrases import values_after
from keepmum_scanner.values import trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

    Span = tuple[int, int]

_VALUE = r"[\"'`(]?(?P<value>[^\s\"'`]{6,64})"
_SAME_SENTENCE = r"(?:[^\n.;]|\.(?=\S)){0,60}?"
# "log in to the router as admin with …", "ssh root@10.0.4.7 and type …"
_WITH = rf"{_SAME_SENTENCE} (?:(?:with|using|mit)(?: (?:the )?(?:password|pw|code))?|type|enter) {_VALUE}"
# "user kolja, pass …", but no verb and no end of another word. Routers write a digit in front of the password.
_PASS = rf"(?<![a-z]pass )(?:[057] )?{_VALUE}"
# "Credentials: admin / …", "our account: me@example.org / …"
_AFTER_ACCOUNT = r"(?P<value>[^\s\"'`:/|]{6,64})"
_LOGINS = (
    ("log", ("login", "log in", "logged in"), rf"\b{_WITH}"),
    ("ssh ", ("ssh ",), _WITH),
    ("pass ", ("pass ",), _PASS),
)
_ACCOUNTS = (
    ("admin", ("admin:", "admin/"), _AFTER_ACCOUNT),
    (" / ", (" / ",), _AFTER_ACCOUNT),
)
_ACCOUNT_NAME = compiled(
    r"(?:\b(?:admin(?:istrator)?|root|sa|elastic|postgres|guest|demo|test|user)|[\w.+-]@[\w.-]{3,40})$"
)
_INTRODUCTIONS = ("cred", "login", "log in", "sign in", "account", "access", "zugang", "konto")
_BEFORE = 60  # characters before an account that may contain an introduction


def find(context: Context) -> list[Candidate]:
    """Candidates for passwords after a login or an account."""
    lower, limit = context.lower, context.case_limit
    candidates = []
    for start, end in [*values_after(lower, _LOGINS, limit), *_account_values(lower, limit)]:
        context.checks_left -= 1
        value = trimmed(context.text[start:end])
        if context.checks_left >= 0 and looks_like_password(value):
            candidates.append(("secret.password", start, start + len(value), EXPLICIT))
    return candidates


def _account_values(lower: str, limit: int) -> Iterator[Span]:
    """Spans of the values after an account that the text introduces as one."""
    for start, end in values_after(lower, _ACCOUNTS, limit):
        before = lower[max(0, start - _BEFORE) : start]
        if any(word in before for word in _INTRODUCTIONS) and (
            not before.endswith(" / ") or _ACCOUNT_NAME.search(before, 0, len(before) - len(" / "))
        ):
            yield (start, end)
