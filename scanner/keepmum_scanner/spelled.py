"""Whether a word is spelled as people and generators spell passwords, and as hardly anything else is.

What stands right behind "password:" is judged more kindly (`values`). Here nothing but a sentence points at the word,
so a name, a version or an algorithm must not pass for one: "password SHA512", "the password of Debian12".
"""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.expressions import compiled
from keepmum_scanner.surprise import surprise

_SIGNS = frozenset("!@#$%^&*?~")
# Letters, digits and signs, with which code, places and sums are not written.
_SPELLED = compiled(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9!#$%&*?^][A-Za-z0-9_.+!@#$%^&*?~-]{5,63}")
# An algorithm with its size or number: "sha256", "utf8", "Argon2", "OAuth2".
_ALGORITHM = compiled(
    r"(?i)(?<![a-z])(?:sha|md|aes|rsa|utf|base|int|uint|float|rfc|iso|tls|http|oauth|argon|pbkdf)[-_]?[0-9]+"
)
# "action@v4", "issue#12", "PKCS#8", "a%20b", "Python-3.11", "me@example.org", "1.2.3-rc1", "#86b300", "$2b$12$".
_CITED = compiled(
    r"(?:[a-z-]+|[A-Z]+)[@#]v?[0-9.]+$|#[0-9a-fA-F]{6,8}$|\$\w{1,8}\$|v?[0-9]+(?:\.[0-9]+)+|"
    r".*(?:@v[0-9.]+|%[0-9A-F]{2}|[A-Za-z][-_@]?v?[0-9]+(?:\.[0-9]+)+|@[\w-]+\.[a-z]{2,})[.!?]?$"
)
_DATED = compiled(r"[A-Z][a-z]+[_-][0-9]{3,4}[_!-]?")  # "Falcon_2024"
_NUMBERED = compiled(
    r"(?:[A-Z]?[a-z]+|[A-Z]+)(?:[-_.](?:[A-Z]?[a-z]+|[A-Z]+))*[-_.]?[0-9]{1,2}"
)  # "Debian12", "step-2"
_CHOSEN = compiled(r"[a-z]{4,}[0-9]{3,}")  # "hunter2024"
_DIGITS = 2  # of a word in letters of both cases
_HUMPS = 3  # words of a name in camelCase, more than a password has
# Four words or more, "copper-lantern-rabbit-window", unless they speak of what they are.
_PHRASE = compiled(r"[a-z]{3,10}(?:-[a-z]{3,10}){3,7}")
_SPEAKING = ("pass", "token", "secret", "key", "auth", "cred", "user", "file", "name", "value", "text", "not-", "-only")


def is_spelled(word: str) -> bool:
    """Whether `word` is spelled as passwords are, or is a passphrase."""
    if _SPELLED.fullmatch(word) is None:
        return is_phrase(word)
    if _DATED.fullmatch(word):
        return True
    return not _CITED.match(word) and not _names_thing(word) and _is_mixed(word)


def is_phrase(word: str) -> bool:
    """Whether `word` is words joined by dashes as in a passphrase."""
    return _PHRASE.fullmatch(word) is not None and not any(one in word for one in _SPEAKING)


def has_sign(word: str) -> bool:
    """Whether `word` has a sign that people put into passwords, and into little else."""
    return not _SIGNS.isdisjoint(word)


def _names_thing(word: str) -> bool:
    """Whether `word` is an id, a name or an alphabet, or stands for a password."""
    if shapes.is_identity(word) or shapes.is_name(word.rstrip("_")) or shapes.is_public(word):
        return True
    return shapes.is_alphabet(word) or shapes.is_reference(word) or shapes.is_placeholder(word, surprise(word))


def _is_mixed(word: str) -> bool:
    """Whether kinds of characters are mixed in `word` as in passwords, besides the numbers of algorithms."""
    plain = _ALGORITHM.sub("", word)
    lower = word.lower() == word
    if has_sign(word):
        digits = sum(map(str.isdigit, plain))
        return digits > 1 or (digits == 1 and not lower)
    digits = sum(map(str.isdigit, shapes.unsized(plain)))
    if lower or word.upper() == word:
        return digits > 0 and _CHOSEN.fullmatch(word) is not None and not word.startswith(_SPEAKING)
    return digits >= _DIGITS and shapes.humps(word) < _HUMPS and _NUMBERED.fullmatch(word) is None
