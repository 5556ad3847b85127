"""Decides whether a value that a text assigns to a credential's name can be a credential."""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.expressions import compiled
from keepmum_scanner.generated_passwords import is_generated
from keepmum_scanner.password_spelling import DESCRIPTIVE, looks_like_password
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner.context import Context

# Values that only code contains; matched at their start.
_CODE = compiled(
    r"""(?x)
    [\w.\#\[\]]+\(                                              # get_token(
    | [A-Za-z_][\w$]*(?:(?:\.|->|::|\?\.)\#?[A-Za-z_][\w$]*)+   # settings.password, self->key,
      (?:$|=[a-z]|[)\]};,]{1,3}[\w.]*(?:$|[(.]))                # and what follows it in code without spaces
    | [\w.]+\[ | [A-Z][a-z]\w*\{                                  # environ[, Color{
    | https?: | \w+:// | [.~]{1,2}/                            # links and paths
    | v?\d+(?:\.\d+)+\b                                       # versions
    | data:[\w/+.-]+[;,]                                       # an embedded file
    """
)
# Starts of options, tags, comments and variables, but also of generated passwords.
_SYMBOL_FIRST = compiled(r"--?\w|[!@]\w|[#&|]|\$[\w({]")
# Three kinds of characters after a symbol: no option, tag or comment.
_PASSWORD_AFTER_SYMBOL = compiled(
    r"[!#@](?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=(?:[^0-9]*[0-9]){2})[\w!#$%&*+.?@^~-]{7,63}"
)
_PATH = compiled(r"/|[A-Za-z.]+/[A-Za-z/]+")  # also matches base64, which has a higher surprise
_JUDGED = 128  # characters of a value that are judged; a finding spans the whole value
_ENDS = ".:?,"  # not "!": many passwords end with it
_OPENER = {")": "(", "]": "[", "}": "{"}
_TRIMMED = frozenset([*_ENDS, *_OPENER])
_MAX_BRACKETS = 8  # that are removed
_OPERATOR = compiled(r"[=!<>]=|[=-]>|\(\?[:!=<]|\[(?:a-|A-|0-9)")  # operators and regular expressions
_CONVERSIONS = ("!r", "!s", "!a")  # f"{password!r}"
_IDENTIFIER = compiled(r"[A-Za-z]+(?:[_.:/-][A-Za-z]+)*")
_NUMBERED = compiled(r"[A-Za-z]+(?:[_-][A-Za-z]+)+[_-]?[0-9]{1,3}")  # "api_key_2"
_SHORTEST_CHOSEN, _SHORTEST_ISSUED = 6, 8  # characters
_RANDOM_BITS = 6.0  # letters with this surprise are not words
_ISSUED_BITS = 4.6  # issued values have more than a name with a number …
_MIXED = compiled(r"(?=[^0-9]*[0-9])[^A-Za-z]*[A-Za-z]+[^A-Za-z\s()<>{}\[\]/._:-]")
_DIGITS = 3  # … or this many digits
_SYMBOLS = 5  # different ones
# "{name}", "<key>", "(value)".
_TEMPLATE = compiled(r"\{\s*\w{2,}\s*\}|<\s*\w{2,}\s*>|\[\s*\w{2,}\s*\]|\(\s*\w{2,}\s*\)")
_HYPHENATED = compiled(r"(?=.{10})[a-z]{3,}(?:-[a-z]{3,}){1,7}")  # "open-sesame"
_RARE = compiled(r"[A-Za-z0-9][!$^*][A-Za-z0-9]")  # "super$ecret"; paths, links and names contain none of these
# Letters, a digit or a second word, and a symbol that paths and names do not contain.
_MADE_UP = compiled(
    r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9][\w-]*[!@#$%^&*?~][\w!@#$%^&*?~-]*|[a-z]{4,}[#$^&*~][a-z]{4,}"
)
_NO_PASSWORD = compiled(r"@v?[0-9]+$|#[0-9]+$|\?$|%[0-9A-F]{2}")  # "action@v4", "repository#12", "really2?", "a%20b"
_WORDS = compiled(r"[A-Za-z'\u2019,/&-]+(?: [A-Za-z0-9'\u2019,()/&-]+)*[.:!?\u2026]{0,3}")


def trimmed(value: str) -> str:
    """`value` without the punctuation that ends a sentence, and without closing brackets that it does not open."""
    if value[-1:] not in _TRIMMED:
        return value
    value = value.rstrip(_ENDS)
    for _ in range(_MAX_BRACKETS):
        if not value or value[-1] not in _OPENER or value.count(_OPENER[value[-1]]) >= value.count(value[-1]):
            break
        value = value[:-1].rstrip(_ENDS)
    return value


def is_secret(value: str, *, chosen: bool, certain: bool) -> bool:
    """Whether `value` can be a credential.

    Args:
        value: the value, without quotes.
        chosen: the name is of the kind whose values people choose, which may be short; else machines issue them.
        certain: a separator such as "=" assigns the value, and only credentials have this name. Then one long word
            counts as a password, and a short hexadecimal number as a token.
    """
    if len(value) < (_SHORTEST_CHOSEN if chosen else _SHORTEST_ISSUED):
        return False
    return (
        is_generated(value)
        or _is_value(value, chosen=chosen, certain=certain)
        or (chosen and looks_like_password(value))
    )


def _is_value(value: str, *, chosen: bool, certain: bool) -> bool:
    bits = surprise(value)
    words = bits < _RANDOM_BITS and _WORDS.fullmatch(value) is not None
    if words and not (chosen and certain and _is_passphrase(value)):
        return False
    if (
        _is_code(value, bits)
        or shapes.is_alphabet(value)
        or shapes.is_reference(value)
        or shapes.is_placeholder(value, bits)
    ):
        return False
    if words:
        return True
    if _reads_as_name(value, bits):
        return False
    return _is_chosen(value, bits, certain=certain) if chosen else _is_issued(value, bits, certain=certain)


def is_credential(value: str, context: Context, *, chosen: bool, certain: bool) -> bool:
    """`is_secret` while detailed checks are left, and `looks_mixed` after that."""
    if context.checks_left > 0:
        context.checks_left -= 1
        return is_secret(value[:_JUDGED], chosen=chosen, certain=certain)
    return looks_mixed(value[:_JUDGED], chosen=chosen)


def is_distinctive(value: str) -> bool:
    """Whether hardly anything but a password is spelled like `value`."""
    return len(value) >= _SHORTEST_ISSUED and (is_generated(value) or _is_made_up(value, certain=False))


def looks_mixed(value: str, *, chosen: bool) -> bool:
    """The rough check: whether `value` mixes letters with digits or symbols, as secrets and other values do."""
    return len(value) >= (_SHORTEST_CHOSEN if chosen else _SHORTEST_ISSUED) and _MIXED.match(value) is not None


def _is_chosen(value: str, bits: float, *, certain: bool) -> bool:
    """Whether `value`, which is not a word, can be a password that a person chose."""
    if value.upper() == value.lower():
        return certain and value.isdigit()  # no "tests pass: 120/120", no date, no telephone number
    return bits >= _RANDOM_BITS or _kinds(value) >= 2


def _is_issued(value: str, bits: float, *, certain: bool) -> bool:
    """Whether `value`, which is not a word, can be a key that a machine issued."""
    if certain and shapes.is_hex(value):
        return not value.isalpha() and not value.isdigit()
    if shapes.is_identity(value) or shapes.is_camel(value) or shapes.is_integrity(value) or shapes.is_public(value):
        return False
    if _is_scrambled(value) or _is_made_up(value, certain=certain):
        return True
    if _kinds(value) < 2 or _NUMBERED.fullmatch(value):
        return bits >= _RANDOM_BITS
    digits = sum(map(str.isdigit, value))
    return bits >= _ISSUED_BITS or digits >= (_DIGITS if value.isalnum() else max(_SHORTEST_ISSUED, len(value) / 2))


def _is_scrambled(value: str) -> bool:
    """Whether symbols are mixed into `value` as in a password, and not as in a template or an expression."""
    if not value[0].isalnum() or "\\" in value or _TEMPLATE.search(value):
        return False
    symbols = [character for character in set(value) if not character.isalnum()]
    return len(symbols) >= _SYMBOLS or (_RARE.search(value) is not None and value.isascii())


def _is_made_up(value: str, *, certain: bool) -> bool:
    """Whether people make up passwords like `value`: "Winter2024!", "p@ssw0rd", "two#words", but not "Python3!"."""
    if _MADE_UP.fullmatch(value) is None or _NO_PASSWORD.search(value) is not None:
        return False
    return certain or sum(map(str.isdigit, value)) != 1


def _is_code(value: str, bits: float) -> bool:
    if _PASSWORD_AFTER_SYMBOL.fullmatch(value):
        return False
    if _CODE.match(value) or value.endswith(_CONVERSIONS) or (bits < _RANDOM_BITS and _PATH.match(value)):
        return True
    if _SYMBOL_FIRST.match(value) and (bits < _RANDOM_BITS or _kinds(value[1:]) < 2):
        return True
    return _OPERATOR.search(value.rstrip("=")) is not None


def _reads_as_name(value: str, bits: float) -> bool:
    if " " in value or shapes.is_name(value):
        return True
    return bits < _RANDOM_BITS and _IDENTIFIER.fullmatch(value.strip("._-")) is not None


def _is_passphrase(value: str) -> bool:
    """Whether `value` is a password of letters only: one long word that no programmer would write as a name."""
    if value.startswith(DESCRIPTIVE):
        return False
    if value.isalpha():
        return (value.islower() and len(value) >= 10) or (value.isupper() and len(value) >= 20)
    return _HYPHENATED.fullmatch(value) is not None and not any(word in value for word in DESCRIPTIVE)


def _kinds(value: str) -> int:
    """How many kinds of characters `value` mixes: letters, digits and symbols."""
    return (value.upper() != value.lower()) + any(map(str.isdigit, value)) + (not value.isalnum())
