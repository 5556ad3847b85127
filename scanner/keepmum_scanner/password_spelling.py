"""Decides whether a word in a sentence is spelled like a password, and not like a name, a version or an algorithm.

Stricter than `values`, which judges what follows "password:". Here only a sentence points to the word: "password
SHA512", "the password of Debian12".
"""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.expressions import compiled
from keepmum_scanner.surprise import surprise

_SYMBOLS = frozenset("!@#$%^&*?~")
# Letters, digits and symbols, without those of code, paths and sums.
_CHARACTERS = compiled(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9!#$%&*?^][A-Za-z0-9_.+!@#$%^&*?~-]{5,63}")
# An algorithm with its size or version: "sha256", "utf8", "Argon2", "OAuth2".
_ALGORITHM = compiled(
    r"(?i)(?<![a-z])(?:sha|md|aes|rsa|utf|base|int|uint|float|rfc|iso|tls|http|oauth|argon|pbkdf)[-_]?[0-9]+"
)
_LONGEST_VARIANT = 4  # characters after the number
# "action@v4", "issue#12", "PKCS#8", "a%20b", "Python-3.11", "me@example.org", "1.2.3-rc1", "#86b300", "$2b$12$".
_NO_PASSWORD = compiled(
    r"(?:[a-z-]+|[A-Z]+)[@#]v?[0-9.]+$|#[0-9a-fA-F]{6,8}$|\$\w{1,8}\$|v?[0-9]+(?:\.[0-9]+)+|"
    r".*(?:@v[0-9.]+|%[0-9A-F]{2}|[A-Za-z][-_@]?v?[0-9]+(?:\.[0-9]+)+|@[\w-]+\.[a-z]{2,})[.!?]?$"
)
_DATED = compiled(r"[A-Z][a-z]+[_-][0-9]{3,4}[_!-]?")  # "Falcon_2024"
# "Debian12", "step-2".
_NUMBERED = compiled(r"(?:[A-Z]?[a-z]+|[A-Z]+)(?:[-_.](?:[A-Z]?[a-z]+|[A-Z]+))*[-_.]?[0-9]{1,2}")
_CHOSEN = compiled(r"[a-z]{4,}[0-9]{3,}")  # "hunter2024"
_DIGITS = 2  # of a word with letters of both cases
_CAMEL_WORDS = 3  # of a name; a password has fewer
# Four words or more: "copper-lantern-rabbit-window".
_PHRASE = compiled(r"[a-z]{3,10}(?:-[a-z]{3,10}){3,7}")
# Parts of words that describe a value: "not-required", "user-name-only".
DESCRIPTIVE = tuple("pass token secret key auth cred user file name value text not- -only".split())


def looks_like_password(word: str) -> bool:
    """Whether `word` is spelled like a password or a passphrase."""
    if _CHARACTERS.fullmatch(word) is None:
        return is_passphrase(word)
    if _DATED.fullmatch(word):
        return True
    return not _NO_PASSWORD.match(word) and not _is_harmless(word) and _is_mixed(word)


def is_algorithm(word: str) -> bool:
    """Whether `word` is an algorithm with its size or variant: "SHA512", "Argon2id"."""
    match = _ALGORITHM.match(word)
    return match is not None and len(word) - match.end() <= _LONGEST_VARIANT


def is_passphrase(word: str) -> bool:
    """Whether `word` consists of hyphenated words like a passphrase."""
    return _PHRASE.fullmatch(word) is not None and not any(one in word for one in DESCRIPTIVE)


def has_symbol(word: str) -> bool:
    """Whether `word` contains a symbol that is common in passwords and rare elsewhere."""
    return not _SYMBOLS.isdisjoint(word)


def _is_harmless(word: str) -> bool:
    """Whether `word` is an id, a name, an alphabet, or a placeholder for a password."""
    if shapes.is_identity(word) or shapes.is_name(word.rstrip("_")) or shapes.is_public(word):
        return True
    return shapes.is_alphabet(word) or shapes.is_reference(word) or shapes.is_placeholder(word, surprise(word))


def _is_mixed(word: str) -> bool:
    """Whether `word` mixes kinds of characters like a password, apart from the numbers of algorithms."""
    plain = _ALGORITHM.sub("", word)
    lower = word.lower() == word
    if has_symbol(word):
        digits = sum(map(str.isdigit, plain))
        return digits > 1 or (digits == 1 and not lower)
    digits = sum(map(str.isdigit, shapes.SIZE.sub("", plain)))
    if lower or word.upper() == word:
        return digits > 0 and _CHOSEN.fullmatch(word) is not None and not word.startswith(DESCRIPTIVE)
    return (
        digits >= _DIGITS and len(shapes.CAMEL_WORD.findall(word)) < _CAMEL_WORDS and _NUMBERED.fullmatch(word) is None
    )
