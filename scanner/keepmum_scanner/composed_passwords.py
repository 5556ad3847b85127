"""Recognises passwords that people compose where a text assigns them: "Kick_Engine1662", "ridge.tulip.mango.sofa".

Such values are spelled like identifiers and names of resources. So this applies only behind a grammar that assigns a
value to a credential (`named_values`), and words that identifiers consist of exclude a value.
"""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.expressions import compiled
from keepmum_scanner.password_spelling import DESCRIPTIVE, looks_like_password
from keepmum_scanner.surprise import surprise

_CAPITALISED = "[A-Z][a-z]{2,11}"
_ANY_WORD = "[A-Za-z]{3,12}"
# Two or three words and a number: "Kick_Engine1662", "ObtainOcean1633", "smart22step!", "Whip&Place4113*".
_WORDS_AND_NUMBER = compiled(
    rf"(?:{_CAPITALISED}(?:[-_.+@#$%&*!~^=]?{_CAPITALISED}){{1,2}}[-_.]?[0-9]{{2,6}}|"
    rf"{_ANY_WORD}[-_.+@#$%&*!~^=]{_ANY_WORD}[0-9]{{1,6}}|[a-z]{{3,12}}[+@#$%&*!~^=][a-z]{{3,12}}[0-9]{{1,6}}|"
    rf"[a-z]{{3,12}}[0-9]{{2,4}}[a-z]{{3,12}}|{_CAPITALISED}[0-9]{{2,4}}{_CAPITALISED})[!?#$%&*+.@~]{{0,2}}"
)
_SYMBOL = compiled(r"[+@#$%&*!~^=]|[0-9][a-z]")
_DATED = compiled(rf"{_ANY_WORD}[-_.@#!]?(?:19[4-9]|20[0-4])[0-9][!?#$%&*+.@~-]{{0,2}}")  # "jonas2019", "Roma1980."
_NUMBERED = compiled(r"[A-Za-z]?[a-z]{3,14}[0-9]{3,6}[!?#$%&*+.@~]{0,2}")
# Words drawn from a list: "ridge.tulip.mango.sofa".
_DRAWN = compiled(
    r"[A-Z]?[a-z]{2,9}(?:(?P<joint>[-_.+])[A-Z]?[a-z]{2,9})(?:(?P=joint)[A-Z]?[a-z]{2,9}){1,8}[0-9]{0,4}[!?]?"
)
_FEWEST_HYPHENATED, _FEWEST_JOINED = 3, 4  # words
_PARTS = compiled("[A-Za-z]+")
# Letters replaced by digits and symbols: "D3spa1r", "u$ed", "Gl0w".
_REPLACED = compiled(r"[A-Za-z](?:0(?=[a-z])|[134578](?=[a-z])|[@$!](?=[A-Za-z]))")
_DOLLAR = compiled(r"[A-Za-z][$!][A-Za-z]")  # counts twice
_LETTERS_AND_REPLACED = compiled(r"(?=.*[a-z])[A-Za-z0-9@$!_.?#*&+-]{6,40}")
_REPLACEMENTS = 2
_SLUG = compiled(r"[a-z0-9]+(?:[-_.][a-z0-9]+)+")  # "k3s-master"
# Neighbouring keys: "Qwerty!", "zaq12wsx".
_ROWS = (
    "qwertyuiop qwertzuiop azertyuiop asdfghjkl yxcvbnm zxcvbnm 1qaz2wsx3edc4rfv zaq12wsxcde3 "
    "qazwsxedcrfv 1q2w3e4r5t6y q1w2e3r4t5y6 qwe123 asd123 qweasdzxc"
).split()
_RUN = 4  # keys
_KEYS = compiled(r"(?=.*[A-Za-z])[\w!@#$%^&*?.+-]{7,24}")
# Letters of both cases in no order: "BZbUEUdvom".
_SHUFFLED = compiled(r"(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9]{8,40}")
_SHUFFLED_BITS, _CLEARLY_SHUFFLED_BITS = 7.0, 8.0
# No password, however it is assigned: paths, calls, variables, addresses, domains in other letters, files,
# versions, measures, algorithms.
_NO_VALUE = compiled(
    r"(?i)xn--|\$(?![\w$]*[!@#%&*][\w!@#$%&*]*[0-9])|[%<{@#/~-]|.*(?:\(|://|\]\(|\[|\.(?:c|cfg|conf|crt|css|csv|env|go|html?|ini|ipynb|java|js|json|jsx|key|lock|log|md|pem|"
    r"php|png|py|rb|rs|sh|sql|svg|toml|tsx?|txt|xml|ya?ml|zip)$|@[\w-]+\.[a-z]{2,}|/)|v?[0-9]+(?:\.[0-9]+)+|"
    r"(?:sha|md|aes|rsa|utf|base|int|uint|float|rfc|iso|tls|ssl|http|oauth|argon|pbkdf|ed|hs|rs|es|ps|ipv|wpa|python|node|"
    r"windows|postgres|postgresql|mysql|debian|ubuntu|java|es|version|chapter|page|section|table|figure|step|line|port|"
    r"room|issue|ticket|user|test|server|host|build|level|option|part|api|gpt|claude|gemini|llama|cve)[-_]?v?[0-9]+\w{0,12}$|"
    r"(?-i:[a-z][a-z0-9_]*\.[A-Z][A-Za-z0-9]+)$|(?-i:[A-Z]{2,8}-[0-9]{1,6})$|[0-9]+[a-z]{0,8}$|[0-9]{4}-[0-9]{2}"
)


def is_composed(value: str, *, certain: bool, chosen: bool = True) -> bool:
    """Whether `value`, which a text assigns to a credential, is spelled like a password that people compose.

    Args:
        value: the value, without quotes and final punctuation.
        certain: a separator or a verb assigns it; else it only follows the name.
        chosen: people choose the values of this name; machines issue others, and joined words are mostly names then.
    """
    if _is_harmless(value):
        return False
    if _WORDS_AND_NUMBER.fullmatch(value):
        return _is_words_and_number(value, certain=certain)
    if _DRAWN.fullmatch(value):
        return (certain or chosen) and _is_drawn(value, (2 if chosen else 4) if certain else 0)
    if looks_like_password(value) or _has_replaced_letters(value, certain=certain) or _has_neighbouring_keys(value):
        return True
    if _DATED.fullmatch(value) or (certain and _NUMBERED.fullmatch(value)):
        return not _is_identifier(value)
    return _is_shuffled(value, certain=certain)


def _is_harmless(value: str) -> bool:
    if _NO_VALUE.match(value) or shapes.is_identity(value) or shapes.is_reference(value):
        return True
    if shapes.is_format_string(value):
        return True
    return shapes.is_placeholder(value, surprise(value))


def _is_shuffled(value: str, *, certain: bool) -> bool:
    """Whether letters of both cases, and digits unless it is certain, follow each other in no order."""
    if _SHUFFLED.fullmatch(value) is None or shapes.is_camel(value):
        return False
    return surprise(value) >= (_SHUFFLED_BITS if certain else _CLEARLY_SHUFFLED_BITS) and (
        certain or any(map(str.isdigit, value))
    )


def _words(value: str) -> list[str]:
    return [word.lower() for word in _PARTS.findall(shapes.CAMEL_WORD.sub(r" \g<0> ", value))]


def _is_identifier(value: str) -> bool:
    """Whether a word of `value` is one that identifiers consist of."""
    from keepmum_scanner.identifier_words import IDENTIFIER_WORDS  # few texts need it

    return not IDENTIFIER_WORDS.isdisjoint(_words(value)) or value.lower().startswith(DESCRIPTIVE)


def _is_words_and_number(value: str, *, certain: bool) -> bool:
    """Whether words with a number are a password: most are capitalised, and few are words of identifiers."""
    from keepmum_scanner.identifier_words import IDENTIFIER_WORDS  # few texts need it

    words = _words(value)
    known = sum(word in IDENTIFIER_WORDS for word in words)
    if value.lower().startswith(DESCRIPTIVE) or (value.islower() and not certain and _SYMBOL.search(value) is None):
        return False
    return 2 * known <= len(words) if certain and value[0].isupper() else not known


def _is_drawn(value: str, one_in: int) -> bool:
    """Whether joined words are drawn from a list: at most one in `one_in` is a word of identifiers, none with 0."""
    words = _words(value)
    fewest = _FEWEST_HYPHENATED if "-" in value and one_in else _FEWEST_JOINED
    if len(words) < fewest or any(one in value for one in DESCRIPTIVE):
        return False
    from keepmum_scanner.identifier_words import IDENTIFIER_WORDS

    known = sum(word in IDENTIFIER_WORDS for word in words)
    return one_in * known < len(words) if one_in else not known


def _has_replaced_letters(value: str, *, certain: bool) -> bool:
    """Whether digits and symbols stand for letters of a word."""
    if _LETTERS_AND_REPLACED.fullmatch(value) is None:
        return False
    count = len(_REPLACED.findall(value)) + len(_DOLLAR.findall(value))
    few = certain and not _SLUG.fullmatch(value)
    return count >= (_REPLACEMENTS - few) and not _is_identifier(value) and not shapes.SIZE.search(value)


def _has_neighbouring_keys(value: str) -> bool:
    """Whether most of `value` are neighbouring keys of a keyboard."""
    if _KEYS.fullmatch(value) is None:
        return False
    lower = value.lower()
    return any(
        part in lower and sum(map(str.isalpha, part)) > 1
        for row in _ROWS
        for part in (row[first : first + _RUN] for first in range(len(row) - _RUN + 1))
    )
