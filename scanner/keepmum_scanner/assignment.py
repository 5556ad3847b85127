"""Values that the text itself calls a password, secret or token, however short they are."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import CHOSEN, CUE
from keepmum_scanner.suspect import FLOOD, STATED
from keepmum_scanner.values import is_secret, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect

# What may follow the name inside an identifier: "password_prod", "tokenV2", "secrets".
_SUFFIX = r"(?P<plural>s)?(?P<suffix>[_-][\w-]{0,24}|[A-Z0-9]\w{0,20})?"
_QUOTES = r"[\"'`\\\])*]{0,6}"
_SIGN = (
    r"[ \t]{0,16}(?P<sign>=>|:=|\?=|={1,3}|!={1,2}|:{1,3}=?|,(?=[ \t]*[\"'])|->|<-|>(?=[^\s<>]{4,256}</))[ \t]{0,16}"
)
_TOLD = r"(?P<told>(?: [\w./'-]{1,24}){0,5}? (?:is|was|to)(?: now| set to)?:? )"
_OPENED = r"(?P<opened> (?:value )?(?=[(`\"'])|\((?=[\"']))"
_VALUE = (
    r"(?:[Bb]earer |[Bb]asic |[Tt]oken |@|[bru](?=[\"']))?[\[({\\]{0,3}"
    r"(?:(?P<quote>[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){4,256})(?P=quote)(?!\s*:)|(?P<bare>[^\s\"'`,;<>|\\]{4,256}))"
)
_GIVEN = f"{_SUFFIX}{_QUOTES}(?:{_SIGN}|{_TOLD}|{_OPENED}){_VALUE}"

# An identifier that ends so holds a fact about a credential, not the credential.
_ABOUT = (
    r"(?i)[_-]?(?:ids?|name|names|url|uri|path|file|dir|type|kind|env|var|count|limit|size|length|len|expir\w*|ttl|max|min|"
    r"usage|budget|hash|field|label|header|prefix|provider|endpoint|manager|store|required|rotation|policy|column|index|"
    r"arn|alias|scope|version|format|input|prompt|helper|hint|reset|regex|pattern|min_length|auth)s?$"
)
_NESTED = 3  # names looked at within one value: "auth: token=…" has one, and a chain of names must not cost its square


def find(context: Context) -> Iterator[Suspect]:
    """Suspects for values that the text gives to a credential's name."""
    if not context.mentions:
        return
    given_behind = compiled(_GIVEN).match
    judged: dict[tuple[str, bool, bool], bool] = {}  # a text can say the same thing thousands of times
    done = nested = count = 0
    for end, start, kind, short in context.mentions:
        nested = nested + 1 if start < done else 0
        if kind == CUE or nested > _NESTED:
            continue
        given = given_behind(context.text, end)
        if given and _holds(given, short=short):
            done = max(done, given.end())
            # Behind a comma stands an argument, or the next name of a list: only what looks issued counts.
            for suspect in _judged(
                given, chosen=kind == CHOSEN and given["sign"] != ",", judged=judged if count < FLOOD else None
            ):
                count += 1
                yield suspect


def _judged(
    given: re.Match[str], *, chosen: bool, judged: dict[tuple[str, bool, bool], bool] | None
) -> Iterator[Suspect]:
    """The value of `given`, if it is a secret; `judged` holds earlier answers, and is None in a dump."""
    group = "quoted" if given["quoted"] else "bare"
    value = given[group] if group == "quoted" else trimmed(given[group])
    if not chosen:
        value = value.split("&", 1)[0]  # the next parameter of a link; what machines issue has no such sign
    if judged is not None:
        case = (value, chosen, given["sign"] is not None)
        if case not in judged:
            judged[case] = is_secret(value, chosen=chosen, signed=case[2])
        if not judged[case]:
            return
    start = given.start(group)
    yield ("secret.password" if chosen else "secret.named", start, start + len(value), STATED)


def _holds(given: re.Match[str], *, short: bool) -> bool:
    """Whether the identifier that `given` begins in holds a credential and is given one."""
    if (short or given["plural"]) and not given["sign"]:
        return False  # "pass `verify=…`", "keys `[a-z]*`": verbs and kinds far more often than names
    return not (given["suffix"] and compiled(_ABOUT).search(given["suffix"]))
