"""Whether a value that a text gives to a credential's name can be one."""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.drawn import is_drawn
from keepmum_scanner.expressions import compiled
from keepmum_scanner.spelled import is_spelled
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner.context import Context

# Values that only code writes; matched at the start of the value.
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
_SIGNED = compiled(r"--?\w|[!@]\w|[#&|]|\$[\w({]")  # options, tags, comments, variables; and passwords that are drawn
# Three kinds of characters behind a sign: no option, tag or comment.
_SIGN_FIRST = compiled(r"[!#@](?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=(?:[^0-9]*[0-9]){2})[\w!#$%&*+.?@^~-]{7,63}")
_PLACE = compiled(r"/|[A-Za-z.]+/[A-Za-z/]+")  # unless it is spelled as base64 is, which has such signs too
_JUDGED = 128  # characters of a value that are judged; the whole is what a finding marks
_ENDS = ".:?,"  # not "!": passwords like to end with it
_OPENER = {")": "(", "]": "[", "}": "{"}
_TRIMMED = frozenset([*_ENDS, *_OPENER])
_DEEPEST = 8  # brackets that are taken off: more are no sentence
_OPERATOR = compiled(r"[=!<>]=|[=-]>|\(\?[:!=<]|\[(?:a-|A-|0-9)")  # an expression of a search among them
_CONVERSIONS = ("!r", "!s", "!a")  # f"{password!r}"
_IDENTIFIER = compiled(r"[A-Za-z]+(?:[_.:/-][A-Za-z]+)*")
_NUMBERED = compiled(r"[A-Za-z]+(?:[_-][A-Za-z]+)+[_-]?[0-9]{1,3}")  # "api_key_2"
_SHORTEST_CHOSEN, _SHORTEST_ISSUED = 6, 8  # characters
_RANDOM = 6.0  # bits; letters only, and no word
_ISSUED = 4.6  # bits; what machines issue is less plain than a name with a number …
_MIXED = compiled(r"(?=[^0-9]*[0-9])[^A-Za-z]*[A-Za-z]+[^A-Za-z\s()<>{}\[\]/._:-]")
_DIGITS = 3  # … or has more of them
_SIGNS = 5  # different ones
_SLOT = compiled(r"\{\s*\w{2,}\s*\}|<\s*\w{2,}\s*>|\[\s*\w{2,}\s*\]|\(\s*\w{2,}\s*\)")  # "{name}", "<key>", "(value)"
_JOINED = compiled(r"(?=.{10})[a-z]{3,}(?:-[a-z]{3,}){1,7}")  # "open-sesame"
_SPEAKING = ("pass", "token", "secret", "key", "auth", "cred", "user", "not-", "-only", "file", "name", "value", "text")
_RARE = compiled(r"[A-Za-z0-9][!$^*][A-Za-z0-9]")  # "super$ecret"; no path, link or name has these
# Letters, a digit or a second word, and a sign that is neither a place's nor a name's.
_MADE_UP = compiled(
    r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9][\w-]*[!@#$%^&*?~][\w!@#$%^&*?~-]*|[a-z]{4,}[#$^&*~][a-z]{4,}"
)
_CITED = compiled(r"@v?[0-9]+$|#[0-9]+$|\?$|%[0-9A-F]{2}")  # "action@v4", "repository#12", "really2?", "a%20b"
_WORDS = compiled(r"[A-Za-z'\u2019,/&-]+(?: [A-Za-z0-9'\u2019,()/&-]+)*[.:!?\u2026]{0,3}")


def trimmed(value: str) -> str:
    """`value` without the sentence's end and the brackets that were opened before it."""
    if value[-1:] not in _TRIMMED:
        return value
    value = value.rstrip(_ENDS)
    for _ in range(_DEEPEST):
        if not value or value[-1] not in _OPENER or value.count(_OPENER[value[-1]]) >= value.count(value[-1]):
            break
        value = value[:-1].rstrip(_ENDS)
    return value


def is_secret(value: str, *, chosen: bool, sure: bool) -> bool:
    """Whether `value` can be a credential.

    Args:
        value: what stands behind the name, without quotes.
        chosen: people choose such values, which may then be short; else machines issue them.
        sure: a sign such as "=" gives the value, and to a name that only credentials have. Then even one long word
            counts as a password, and a short hexadecimal number as a token.
    """
    if len(value) < (_SHORTEST_CHOSEN if chosen else _SHORTEST_ISSUED):
        return False
    return is_drawn(value) or _is_meant(value, chosen=chosen, sure=sure) or (chosen and is_spelled(value))


def _is_meant(value: str, *, chosen: bool, sure: bool) -> bool:
    bits = surprise(value)
    words = bits < _RANDOM and _WORDS.fullmatch(value) is not None
    if words and not (chosen and sure and _is_passphrase(value)):
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
    return _is_chosen(value, bits, sure=sure) if chosen else _is_issued(value, bits, sure=sure)


def is_credential(value: str, context: Context, *, chosen: bool, sure: bool) -> bool:
    """Whether `value` can be a credential, as `is_secret` says; once no look is left, by its coarse look."""
    if context.looks > 0:
        context.looks -= 1
        return is_secret(value[:_JUDGED], chosen=chosen, sure=sure)
    return looks_secret(value[:_JUDGED], chosen=chosen)


def stands_out(value: str) -> bool:
    """Whether `value` is spelled as hardly anything but a password is."""
    return len(value) >= _SHORTEST_ISSUED and (is_drawn(value) or _is_made_up(value, sure=False))


def looks_secret(value: str, *, chosen: bool) -> bool:
    """Whether `value` mixes letters with digits or signs as secrets do: the coarse look of more than secrets."""
    return len(value) >= (_SHORTEST_CHOSEN if chosen else _SHORTEST_ISSUED) and _MIXED.match(value) is not None


def _is_chosen(value: str, bits: float, *, sure: bool) -> bool:
    """Whether `value`, no word, can be what a person chose for a password."""
    if value.upper() == value.lower():
        return sure and value.isdigit()  # and not "tests pass: 120/120", a date, a telephone number
    return bits >= _RANDOM or _kinds(value) >= 2


def _is_issued(value: str, bits: float, *, sure: bool) -> bool:
    """Whether `value`, no word, can be what a machine issued for a key."""
    if sure and shapes.is_hex(value):
        return not value.isalpha() and not value.isdigit()
    if shapes.is_identity(value) or shapes.is_camel(value) or shapes.is_integrity(value) or shapes.is_public(value):
        return False
    if _is_scrambled(value) or _is_made_up(value, sure=sure):
        return True
    if _kinds(value) < 2 or _NUMBERED.fullmatch(value):
        return bits >= _RANDOM
    digits = sum(map(str.isdigit, value))
    return bits >= _ISSUED or digits >= (_DIGITS if value.isalnum() else max(_SHORTEST_ISSUED, len(value) / 2))


def _is_scrambled(value: str) -> bool:
    """Whether signs stand between the letters of `value` as only a password has them: no template, no expression."""
    if not value[0].isalnum() or "\\" in value or _SLOT.search(value):
        return False
    signs = [sign for sign in set(value) if not sign.isalnum()]
    return len(signs) >= _SIGNS or (_RARE.search(value) is not None and value.isascii())


def _is_made_up(value: str, *, sure: bool) -> bool:
    """Whether people spell passwords so: "Winter2024!", "p@ssw0rd", "two#words"; "Python3!" is an exclamation."""
    if _MADE_UP.fullmatch(value) is None or _CITED.search(value) is not None:
        return False
    return sure or sum(map(str.isdigit, value)) != 1


def _is_code(value: str, bits: float) -> bool:
    if _SIGN_FIRST.fullmatch(value):
        return False
    if _CODE.match(value) or value.endswith(_CONVERSIONS) or (bits < _RANDOM and _PLACE.match(value)):
        return True
    if _SIGNED.match(value) and (bits < _RANDOM or _kinds(value[1:]) < 2):
        return True
    return _OPERATOR.search(value.rstrip("=")) is not None


def _reads_as_name(value: str, bits: float) -> bool:
    if " " in value or shapes.is_name(value):
        return True
    return bits < _RANDOM and _IDENTIFIER.fullmatch(value.strip("._-")) is not None


def _is_passphrase(value: str) -> bool:
    """Whether letters alone, given to a password, are likely meant: one long word that no programmer would write."""
    if value.startswith(_SPEAKING):
        return False
    if value.isalpha():
        return (value.islower() and len(value) >= 10) or (value.isupper() and len(value) >= 20)
    return _JOINED.fullmatch(value) is not None and not any(word in value for word in _SPEAKING)


def _kinds(value: str) -> int:
    """How many of letters, digits and other signs `value` mixes."""
    return (value.upper() != value.lower()) + any(map(str.isdigit, value)) + (not value.isalnum())
