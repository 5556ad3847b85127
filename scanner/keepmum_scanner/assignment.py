"""Values that the text itself calls a password, secret or token, however short they are."""

from __future__ import annotations

import re

from keepmum_scanner import shapes
from keepmum_scanner.mentions import CHOSEN, CUE
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
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
_GIVEN = re.compile(f"{_SUFFIX}{_QUOTES}(?:{_SIGN}|{_TOLD}|{_OPENED}){_VALUE}")
# "use … as the password"
_GIVEN_BEFORE = re.compile(
    r"\b(?:send|use|used|using|with|enter|type|try)[ \t]+[\"'`]?(?P<value>[^\s\"'`]{6,64})[\"'`]?[ \t]+as[ \t]+"
    r"(?:the|my|our|your|a|its)?[ \t]*(?:\w+[ \t]+)?(?:password|passphrase|token|secret|api key|key|credential)"
)
# "--password …", "-Password …"
_OPTION = re.compile(
    r"--?(?:password|passwd|pass|token|secret|api-key)[ =][\"']?(?P<value>[^\s\"'`]{4,128})", re.IGNORECASE
)
# "-u name:password", as curl takes it
_USER_OPTION = re.compile(r"(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?[\w.@\\-]{1,64}:[\"']?(?P<value>[^\s\"'`]{3,128})")
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
_ABOUT = re.compile(
    r"[_-]?(?:ids?|name|names|url|uri|path|file|dir|type|kind|env|var|count|limit|size|length|len|expir\w*|ttl|max|min|"
    r"usage|budget|hash|field|label|header|prefix|provider|endpoint|manager|store|required|rotation|policy|column|index|"
    r"arn|alias|scope|version|format|input|prompt|helper|hint|reset|regex|pattern|min_length|auth)s?$",
    re.IGNORECASE,
)
# Values that only code writes; matched at the start of the value.
_CODE = re.compile(
    r"""
    [\w.\[\]]+\(                                              # get_token(
    | [A-Za-z_][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_][\w$]*)+$   # settings.password, self->key
    | \w+\[                                                   # environ[
    | https?: | \w+:// | [./~]{0,2}/ | [A-Za-z]+/[A-Za-z/]+   # links and paths
    | --?\w | [!@]\w | [\#&|] | \$[\w(]                       # options, tags, comments, variables
    | v?\d+(?:\.\d+)+\b                                       # versions
    """,
    re.VERBOSE,
)
_ARROWS = ("=>", "->")
_CONVERSIONS = ("!r", "!s", "!a")  # f"{password!r}"
_NESTED = 3  # names looked at within one value: "auth: token=…" has one, and a chain of names must not cost its square
_OPENER = {")": "(", "]": "[", "}": "{"}
_IDENTIFIER = re.compile(r"[A-Za-z]+(?:[_.:/-][A-Za-z]+)*")
_RANDOM = 6.0  # bits; letters only, and no word
_ISSUED = 4.6  # bits; what machines issue is less plain than a name with a number …
_DIGITS = 3  # … or has more of them
_WORDS = re.compile(r"[A-Za-z'\u2019,/&-]+(?: [A-Za-z0-9'\u2019,()/&-]+)*[.:!?\u2026]{0,3}")


def find(context: Context) -> Iterator[Suspect]:
    """Suspects for values that the text gives to a credential's name."""
    done = nested = 0
    for mention in context.mentions:
        nested = nested + 1 if mention.start < done else 0
        if mention.kind == CUE or nested > _NESTED:
            continue
        given = _GIVEN.match(context.text, mention.end)
        if given and _holds(mention, given):
            done = max(done, given.end())
            group = "quoted" if given["quoted"] else "bare"
            yield from _judged(given, group, chosen=mention.kind == CHOSEN, signed=given["sign"] is not None)
    for guard, expression in _TOLD_OTHERWISE:
        if guard in context.lower:
            for match in expression.finditer(context.text):
                yield from _judged(match, "value", chosen=True, signed=False)


def _judged(match: re.Match[str], group: str, *, chosen: bool, signed: bool) -> Iterator[Suspect]:
    value = match[group] if group == "quoted" else _trimmed(match[group])
    if _is_secret(value, chosen=chosen, signed=signed):
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
    return not (given["suffix"] and _ABOUT.search(given["suffix"]))


def _is_secret(value: str, *, chosen: bool, signed: bool) -> bool:
    if len(value) < 4 or _is_code(value) or shapes.is_reference(value) or shapes.is_placeholder(value):
        return False
    if _WORDS.fullmatch(value) and surprise(value) < _RANDOM:
        return chosen and signed and _is_passphrase(value)
    if _reads_as_name(value):
        return False
    return _is_chosen(value) if chosen else _is_issued(value)


def _is_chosen(value: str) -> bool:
    """Whether `value`, no word, can be what a person chose for a password."""
    return len(value) >= 6 and (_kinds(value) >= 2 or surprise(value) >= _RANDOM)


def _is_issued(value: str) -> bool:
    """Whether `value`, no word, can be what a machine issued for a key."""
    if len(value) < 8 or shapes.is_identity(value) or shapes.is_camel(value):
        return False
    if _kinds(value) < 2:
        return surprise(value) >= _RANDOM
    return surprise(value) >= _ISSUED or (value.isalnum() and sum(map(str.isdigit, value)) >= _DIGITS)


def _is_code(value: str) -> bool:
    if any(arrow in value for arrow in _ARROWS) or value.endswith(_CONVERSIONS):
        return True
    return _CODE.match(value) is not None


def _reads_as_name(value: str) -> bool:
    if " " in value or shapes.is_name(value):
        return True
    return _IDENTIFIER.fullmatch(value.strip("._-")) is not None and surprise(value) < _RANDOM


def _is_passphrase(value: str) -> bool:
    """Whether letters alone, given to a password, are likely meant: one long word that no programmer would write."""
    return value.isalpha() and value.islower() and len(value) >= 10


def _kinds(value: str) -> int:
    """How many of letters, digits and other signs `value` mixes."""
    return (value.upper() != value.lower()) + any(map(str.isdigit, value)) + (not value.isalnum())
