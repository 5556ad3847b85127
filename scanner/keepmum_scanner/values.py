"""Whether a value that a text gives to a credential's name can be one."""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.expressions import compiled
from keepmum_scanner.surprise import surprise

# Values that only code writes; matched at the start of the value.
_CODE = compiled(
    r"""(?x)
    [\w.\[\]]+\(                                              # get_token(
    | [A-Za-z_][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_][\w$]*)+$   # settings.password, self->key
    | \w+\[ | [A-Z][a-z]\w*\{                                  # environ[, Color{
    | https?: | \w+:// | [./~]{0,2}/ | [A-Za-z]+/[A-Za-z/]+   # links and paths
    | --?\w | [!@]\w | [\#&|] | \$[\w(]                       # options, tags, comments, variables
    | v?\d+(?:\.\d+)+\b                                       # versions
    """
)
_ENDS = ".:?,"  # not "!": passwords like to end with it
_OPENER = {")": "(", "]": "[", "}": "{"}
_OPERATORS = ("=>", "->", "==", "!=", ">=", "<=")
_CONVERSIONS = ("!r", "!s", "!a")  # f"{password!r}"
_IDENTIFIER = compiled(r"[A-Za-z]+(?:[_.:/-][A-Za-z]+)*")
_NUMBERED = compiled(r"[A-Za-z]+(?:[_-][A-Za-z]+)+[_-]?[0-9]{1,3}")  # "api_key_2"
_RANDOM = 6.0  # bits; letters only, and no word
_ISSUED = 4.6  # bits; what machines issue is less plain than a name with a number …
_DIGITS = 3  # … or has more of them
_SIGNS = 5  # different ones
_SLOT = compiled(r"[{<\[(]\s*\w{2,}\s*[}>\])]")  # "{name}", "<key>", "(value)"
_RARE = compiled(r"[A-Za-z0-9][!$^*][A-Za-z0-9]")  # "super$ecret"; no path, link or name has these
_WORDS = compiled(r"[A-Za-z'\u2019,/&-]+(?: [A-Za-z0-9'\u2019,()/&-]+)*[.:!?\u2026]{0,3}")


def trimmed(value: str) -> str:
    """`value` without the sentence's end and the brackets that were opened before it."""
    value = value.rstrip(_ENDS)
    while value and value[-1] in _OPENER and value.count(_OPENER[value[-1]]) < value.count(value[-1]):
        value = value[:-1].rstrip(_ENDS)
    return value


def is_secret(value: str, *, chosen: bool, signed: bool) -> bool:
    """Whether `value` can be a credential.

    Args:
        value: what stands behind the name, without quotes.
        chosen: people choose such values, which may then be short; else machines issue them.
        signed: a sign such as "=" gives the value, so that even one long word counts as a password.
    """
    if len(value) < 4 or _is_code(value) or shapes.is_reference(value) or shapes.is_placeholder(value):
        return False
    if _WORDS.fullmatch(value) and surprise(value) < _RANDOM:
        return chosen and signed and _is_passphrase(value)
    if _reads_as_name(value):
        return False
    return _is_chosen(value) if chosen else _is_issued(value)


def _is_chosen(value: str) -> bool:
    """Whether `value`, no word, can be what a person chose for a password."""
    if not any(map(str.isalpha, value)):
        return False  # "tests pass: 120/120", a date, a telephone number
    return len(value) >= 6 and (_kinds(value) >= 2 or surprise(value) >= _RANDOM)


def _is_issued(value: str) -> bool:
    """Whether `value`, no word, can be what a machine issued for a key."""
    if len(value) < 8 or shapes.is_identity(value) or shapes.is_camel(value):
        return False
    if _is_scrambled(value):
        return True
    if _kinds(value) < 2 or _NUMBERED.fullmatch(value):
        return surprise(value) >= _RANDOM
    return surprise(value) >= _ISSUED or (value.isalnum() and sum(map(str.isdigit, value)) >= _DIGITS)


def _is_scrambled(value: str) -> bool:
    """Whether signs stand between the letters of `value` as only a password has them: no template, no expression."""
    if not value[0].isalnum() or "\\" in value or _SLOT.search(value):
        return False
    signs = {sign for sign in value if not sign.isalnum()}
    return len(signs) >= _SIGNS or (_RARE.search(value) is not None and value.isascii())


def _is_code(value: str) -> bool:
    if any(operator in value.rstrip("=") for operator in _OPERATORS) or value.endswith(_CONVERSIONS):
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
