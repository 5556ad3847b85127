"""Whether any name or text of a record may name a credential: a fast check that spares most records the search."""

from __future__ import annotations

from keepmum_scanner.credential_words import CUE, find_credential_words, occurrences
from keepmum_scanner.expressions import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

NEUTRAL = "key"  # what most memory servers call the name of a memory
_JSON_STARTS = ("{", "[")  # of texts that contain fields of their own
_LONGEST = 512  # characters at the start and the end of a text that are read
# Names that are too short or too common to count everywhere.
_ALONE = tuple("puk pw otp totp cred login mnemonic contrasena geheimzahl zugangsdaten identifiants".split())
_PIN = compiled(
    r"pin(?<![a-z]pin)(?=s?(?:[\W_]|$))(?![ _-](?:to|it|the|all|every|and|version|dep|node|python|action|down))"
)
_NOUNS = ("code", "number", "seed", "phrase", "words", "combination")
_QUALIFIED = compiled(
    r"(?<![a-z])(?:2fa|mfa|two[ -]factor|one[ -]time|recovery|backup|unlock|lock|door|gate|alarm|access|security|safe|"
    r"wi-?fi|emergency|wallet|restore|disarm|pin|zugangs|t\u00fcr|sicherheits|entsperr|tor|alarmanlagen|seed)[ _-]?$"
)
_LONGEST_QUALIFIER = 16
# The same in camelCase: "vpnBackupCode", "dbPIN".
_CAMEL_QUALIFIED = compiled(
    r"(?:(?i:2fa|mfa)|(?:(?<=[a-z0-9])|(?<=[A-Z]))(?:Recovery|Backup|Unlock|Lock|Door|Gate|Alarm|Access|Security|Safe|"
    r"Wifi|WiFi|Emergency|Wallet|Restore|Disarm|Pin|Seed))$"
)
_CAMEL_PIN = compiled(r"(?:(?<=[a-z0-9])PINs?|(?<=[A-Za-z0-9])Pins?)(?=[\W_0-9A-Z]|$)")
_PHRASES = ("code d'acc\u00e8s", "code d'acces", "c\u00f3digo de acceso", "codigo de acceso", "codice di accesso")
_PART = compiled(r"(?<=[a-z0-9][._])pass(?![a-z0-9])")  # "router.admin.pass"
_ACCESS_TOKEN = compiled(r"\bPAT\b")
# Each with a part of what it matches; those of the second row need the case of the text.
_PATTERNS = (("pin", _PIN), ("pass", _PART))
_CASED_PATTERNS = (("PIN", _CAMEL_PIN), ("Pin", _CAMEL_PIN), ("PAT", _ACCESS_TOKEN))


def may_name(record: object, leave_out: Collection[str] = ()) -> bool:
    """Whether any name or text of `record` contains a word that may name a credential in another field; one pass.

    The only value of a record can be named by the names on its path alone.
    """
    names: list[str] = []
    texts: list[str] = []
    count = 0  # of strings and numbers
    waiting = [record]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            texts.append(value if len(value) <= _LONGEST else value[:_LONGEST] + "\n" + value[-_LONGEST:])
            count += 1
            continue
        items = getattr(value, "items", None)
        if items is not None:
            for name, item in items():
                if name not in leave_out:
                    names.append(name if name != NEUTRAL else "")
                    waiting.append(item)
        elif isinstance(value, (list, tuple)):
            waiting += value
        elif value is not None and not isinstance(value, bool):
            count += 1
    if count > 1 or (texts and texts[0].lstrip().startswith(_JSON_STARTS)):
        names += texts
    return _may_name("\n".join(names))


def _may_name(text: str) -> bool:
    """Whether `text` contains any word that may name a credential."""
    lower = text.lower()
    if len(lower) != len(text) or any(True for _ in extra_names(text, lower)):
        return True
    return any(kind != CUE for _, _, kind, _ in find_credential_words(text, lower))


def extra_names(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Start and end of the names that only count here."""
    for name in [name for name in _ALONE if name in lower]:
        for start in occurrences(name, lower):
            if not text[start - 1 : start].isalpha() or (text[start - 1].islower() and text[start].isupper()):
                yield start, start + len(name)
    for noun in [noun for noun in _NOUNS if noun in lower]:
        for start in occurrences(noun, lower):
            begin = max(0, start - _LONGEST_QUALIFIER)
            if _QUALIFIED.search(lower, begin, start) or _CAMEL_QUALIFIED.search(text, begin, start):
                yield start, start + len(noun)
    for phrase in [phrase for phrase in _PHRASES if phrase in lower]:
        yield (start := lower.index(phrase)), start + len(phrase)
    for read, patterns in ((lower, _PATTERNS), (text, _CASED_PATTERNS)):
        for pattern in [pattern for part, pattern in patterns if part in read]:
            yield from (match.span() for match in pattern.finditer(read))
