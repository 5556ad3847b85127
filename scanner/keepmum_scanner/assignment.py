"""Values that the text itself calls a password, secret or token, however short they are."""

from __future__ import annotations

import re

from keepmum_scanner import shapes
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.suspect import Suspect

# Cheap test before the expressions run; each hit of theirs contains one of these.
GUARDS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "cred",
    "auth",
    "pw",
    "pin",
    "비밀번호",
    "パスワード",
    "密码",
    "密碼",
)

_LOGIN = r"pass(?:word|wd|phrase|code)?s?|pwd|pw|비밀번호|パスワード|密码|密碼|пароль"
_OTHER = r"secret|token|api[_ -]?key|access[_ -]?key|private[_ -]?key|credentials?|authorization|auth|key"

# name = value, "name": "value", name => value, name: value, also `name value` after "is" or "to" in prose.
_ASSIGNED = re.compile(
    rf"(?:\b|(?<=[a-z_])|_)(?:(?P<password>{_LOGIN})|(?:{_OTHER}))(?P<rest>[\w-]{{0,24}})"
    r"[\"'`\])*]{0,4}"
    r"(?P<told>(?: (?:for|of|on|to|the|a|our|my|this|in|[\w./-]{1,24})){0,6}? (?:is|was|to)(?: now| set to)?"
    r"(?: |: ?)|)"
    r"[ \t]{0,4}(?:(?P<sign>=>|:=|={1,2}|:{1,2}=?)[ \t]{0,4})?(?:bearer |basic |b|r|u)?"
    r"(?:(?P<quote>[\"'`]{1,3})(?P<quoted>[^\"'`\n]{4,256})[\"'`]|(?P<bare>[^\s\"'`,;<>(){}\[\]|]{4,256}))",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[\w.\]\[]+\(|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^https?://|^[./~]?/|^\w+\[|^--|^[A-Z][A-Z0-9_]*$|->|=>"
)
_WORDY = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*[.:!?]?")


def find(text: str) -> Iterator[Suspect]:
    """Suspects for values assigned to, or told of, a credential name."""
    lower = text.lower()
    if not any(guard in lower for guard in GUARDS):
        return
    for match in _ASSIGNED.finditer(text):
        if not match["sign"] and not match["told"]:
            continue
        group = "quoted" if match["quoted"] else "bare"
        value = match[group].rstrip(".:!?") if group == "bare" else match[group]
        if _is_secret(value, password=match["password"] is not None):
            rule = "secret.password" if match["password"] else "secret.named"
            yield (rule, match.start(group), match.start(group) + len(value), 0.75)


def _is_secret(value: str, *, password: bool) -> bool:
    if len(value) < 4 or shapes.is_reference(value) or shapes.is_placeholder(value) or _CODE.search(value):
        return False
    kinds = _kinds(value)
    if password:
        if _WORDY.fullmatch(value):
            return False
        return kinds >= 2 and len(value) >= 6
    return kinds >= 2 and len(value) >= 10 and (surprise(value) >= 5.0) and not shapes.is_identity(value)


def _kinds(value: str) -> int:
    """How many of letters, digits and other signs `value` mixes."""
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    return letters + digits + any(not character.isalnum() for character in value)
