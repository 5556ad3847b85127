"""Finds passwords in sentences about logging in that do not call them so: "log in as admin with …", "admin / …".

The word must be spelled like a password, since nine of ten such sentences contain none.
"""

from __future__ import annotations

from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.expressions import compiled
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
    r"(?:^|[\s\"'`(:,])(?:(?P<usual>(?:admin(?:istrator)?|root|sa|elastic|postgres|guest|demo|test|user)|"
    r"[\w.+-]+@[\w.-]{3,40})|[\w.+-]{2,40})$"
)
_PRODUCT = compiled(r"[a-z]+[0-9]{1,4}[.)]?(?:\s|$)")  # "Office365"
_INTRODUCTIONS = (
    "cred|login|account|access|log in|sign in|zugang|konto|anmeld|einlogg|connex|compte|cuenta|acced|entrar|conta|"
    "utente|inlogg|zalog|логин|вход|войти|аккаунт|giriş|hesap|登录|登錄|账号|帳號|ログイン|接続|アカウント|로그인|계정"
).split("|")
_BEFORE, _BEHIND = 60, 24  # characters before an account and after a value that may contain an introduction


def find(context: Context) -> list[Candidate]:
    """Candidates for passwords after a login or an account."""
    lower, limit = context.lower, context.case_limit
    candidates = []
    for start, end in [*values_after(lower, _LOGINS, limit), *_account_values(lower, limit)]:
        context.checks_left -= 1
        value = trimmed(context.text[start:end])
        if context.checks_left < 0:
            break
        from keepmum_scanner.composed_passwords import is_composed  # few texts need it

        if is_composed(value, certain=False):
            candidates.append(("secret.password", start, start + len(value), EXPLICIT))
    return candidates


def _account_values(lower: str, limit: int) -> Iterator[Span]:
    """Spans of the values after an account that the text introduces as one."""
    for start, end in values_after(lower, _ACCOUNTS, limit):
        before = lower[max(0, start - _BEFORE) : start]
        is_pair = before.endswith(" / ")
        around = before + lower[end : end + _BEHIND] if is_pair else before
        account = _ACCOUNT_NAME.search(before, 0, len(before) - len(" / ")) if is_pair else None
        if is_pair and (account is None or (not account["usual"] and _PRODUCT.match(lower, start, end))):
            continue
        if any(word in around for word in _INTRODUCTIONS):
            yield (start, end)
