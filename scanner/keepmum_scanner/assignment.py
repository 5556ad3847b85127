"""Values that the text itself calls a password, secret or token, however short they are."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import CHOSEN, CUE
from keepmum_scanner.values import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.mentions import Mention
    from keepmum_scanner.suspect import Suspect

# What may follow the name inside an identifier: "password_prod", "tokenV2", "secrets".
_SUFFIX = r"(?P<plural>s)?(?P<suffix>[_-][\w-]{0,24}|[A-Z0-9]\w{0,20})?"
_QUOTES = r"[\"'`\\\])*>]{0,6}"
_SIGN = r"[ \t]{0,16}(?P<sign>=>|:=|\?=|={1,3}|!={1,2}|:{1,3}=?|,(?=[ \t]*[\"'])|->|<-)[ \t]{0,16}"
_TOLD = r"(?P<told>(?: [\w./'-]{1,24}){0,5}? (?:is|was|to)(?: now| set to)?:? )"
_OPENED = r"(?P<opened> (?:value )?(?=[(`\"'])|\((?=[\"']))"
_VALUE = (
    r"(?:[Bb]earer |[Bb]asic |[Tt]oken |@|[bru](?=[\"']))?[\[({\\]{0,3}"
    r"(?:(?P<quote>[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){4,256})(?P=quote)(?!\s*:)|(?P<bare>[^\s\"'`,;<>|\\]{4,256}))"
)
_GIVEN = f"{_SUFFIX}{_QUOTES}(?:{_SIGN}|{_TOLD}|{_OPENED}){_VALUE}"
# "use … as the password"
_GIVEN_BEFORE = (
    r"\b(?:send|use|used|using|with|enter|type|try)[ \t]+[\"'`]?(?P<value>[^\s\"'`]{6,64})[\"'`]?[ \t]+as[ \t]+"
    r"(?:the|my|our|your|a|its)?[ \t]*(?:\w+[ \t]+)?(?:password|passphrase|token|secret|api key|key|credential)"
)
# "--password …", "-Password …"
_OPTION = r"(?i)--?(?:password|passwd|pass|token|secret|api-key)[ =][\"']?(?P<value>[^\s\"'`]{4,128})"
# "-u name:password", as curl takes it
_USER_OPTION = r"(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?[\w.@\\-]{1,64}:[\"']?(?P<value>[^\s\"'`]{3,128})"
# Guard, in lower case, and the expression that runs where it is found.
_TOLD_OTHERWISE = (
    (" as ", _GIVEN_BEFORE),
    ("-pass", _OPTION),
    ("-token", _OPTION),
    ("-secret", _OPTION),
    ("-api-key", _OPTION),
    ("-u", _USER_OPTION),
)

# An identifier that ends so holds a fact about a credential, not the credential.
_ABOUT = (
    r"(?i)[_-]?(?:ids?|name|names|url|uri|path|file|dir|type|kind|env|var|count|limit|size|length|len|expir\w*|ttl|max|min|"
    r"usage|budget|hash|field|label|header|prefix|provider|endpoint|manager|store|required|rotation|policy|column|index|"
    r"arn|alias|scope|version|format|input|prompt|helper|hint|reset|regex|pattern|min_length|auth)s?$"
)
_NESTED = 3  # names looked at within one value: "auth: token=…" has one, and a chain of names must not cost its square
_OPENER = {")": "(", "]": "[", "}": "{"}


def find(context: Context) -> Iterator[Suspect]:
    """Suspects for values that the text gives to a credential's name."""
    done = nested = 0
    for mention in context.mentions:
        nested = nested + 1 if mention.start < done else 0
        if mention.kind == CUE or nested > _NESTED:
            continue
        given = compiled(_GIVEN).match(context.text, mention.end)
        if given and _holds(mention, given):
            done = max(done, given.end())
            group = "quoted" if given["quoted"] else "bare"
            yield from _judged(given, group, chosen=mention.kind == CHOSEN, signed=given["sign"] is not None)
    for guard, expression in _TOLD_OTHERWISE:
        if guard in context.lower:
            for match in compiled(expression).finditer(context.text):
                yield from _judged(match, "value", chosen=True, signed=False)


def _judged(match: re.Match[str], group: str, *, chosen: bool, signed: bool) -> Iterator[Suspect]:
    value = match[group] if group == "quoted" else _trimmed(match[group])
    if is_secret(value, chosen=chosen, signed=signed):
        start = match.start(group)
        yield ("secret.password" if chosen else "secret.named", start, start + len(value), 0.75)


def _trimmed(value: str) -> str:
    """`value` without the sentence's end and the brackets that were opened before it."""
    value = value.rstrip(".:!?")
    while value and value[-1] in _OPENER and value.count(_OPENER[value[-1]]) < value.count(value[-1]):
        value = value[:-1].rstrip(".:!?")
    return value


def _holds(mention: Mention, given: re.Match[str]) -> bool:
    """Whether the identifier around `mention` holds a credential and is given one."""
    if (mention.short or given["plural"]) and not given["sign"]:
        return False  # "pass `verify=…`", "keys `[a-z]*`": verbs and kinds far more often than names
    return not (given["suffix"] and compiled(_ABOUT).search(given["suffix"]))
