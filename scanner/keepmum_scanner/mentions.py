"""Where a text speaks of credentials.

Found by plain substring search: one expression over all words would cost more than everything else in a scan.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CHOSEN = 0  # what people make up themselves, so that its values may be short or words
ISSUED = 1  # what machines issue
CUE = 2  # no credential's name, but where such a word stands, a key is often meant

_WORDS = {
    "password": CHOSEN,
    "passwd": CHOSEN,
    "passphrase": CHOSEN,
    "passcode": CHOSEN,
    "credential": CHOSEN,
    "identified by": CHOSEN,
    "passwort": CHOSEN,
    "kennwort": CHOSEN,
    "mot de passe": CHOSEN,
    "wachtwoord": CHOSEN,
    "senha": CHOSEN,
    "hasło": CHOSEN,
    "contraseña": CHOSEN,
    "пароль": CHOSEN,
    "비밀번호": CHOSEN,
    "패스워드": CHOSEN,
    "암호": CHOSEN,
    "パスワード": CHOSEN,
    "密码": CHOSEN,
    "密碼": CHOSEN,
    "pwd": CHOSEN,
    "secret": ISSUED,
    "token": ISSUED,
    "bearer": ISSUED,
    "authorization": ISSUED,
    "salt": ISSUED,
    "key": ISSUED,
    "auth": CUE,
    "pasted": CUE,
    "rotate": CUE,
    "login": CUE,
    " 401": CUE,
    " 403": CUE,
}
# Verbs, and parts of other words: these count only where they begin a word and are followed by a sign.
_SHORT = {"pass": CHOSEN, "pw": CHOSEN, "pin": CHOSEN}
_PARTS = {"key", "auth", "salt"}  # "monkey", "author": counted where they are a word or a hump of camelCase
# Places in a listing, and sizes of a model's texts, are called tokens too.
_NO_CREDENTIAL = ("next", "next_", "next-", "page", "page_", "page-", "continuation", "continuation_", "sync", "sync_")
_KEY_OF = ("api", "access", "secret", "private", "signing", "license", "auth", "master", "account")


class Mention:
    """One credential word at [start, end)."""

    __slots__ = ("end", "kind", "short", "start")

    def __init__(self, start: int, end: int, kind: int, *, short: bool) -> None:
        self.start = start
        self.end = end
        self.kind = kind  # CHOSEN, ISSUED or CUE
        self.short = short  # "pass", "pw", "pin": a name only when a sign follows


def mentions(text: str, lower: str) -> list[Mention]:
    """Every mention in `text`, by place; `lower` is `text` in lower case, of the same length."""
    found = [
        Mention(start, start + len(word), kind, short=False)
        for word, kind in _WORDS.items()
        for start in _places(word, lower)
        if (_is_word(text, lower, start, start + len(word)) if word in _PARTS else not _counts(word, lower, start))
    ]
    found += [
        Mention(start, start + len(word), kind, short=True)
        for word, kind in _SHORT.items()
        for start in _places(word, lower)
        if _is_word(text, lower, start, start + len(word))
    ]
    found.sort(key=lambda mention: mention.end)
    return found


def _places(word: str, lower: str) -> Iterator[int]:
    start = lower.find(word)
    while start >= 0:
        yield start
        start = lower.find(word, start + len(word))


def _counts(word: str, lower: str, start: int) -> bool:
    return word == "token" and lower.endswith(_NO_CREDENTIAL, 0, start)


def _is_word(text: str, lower: str, start: int, end: int) -> bool:
    """Whether [start, end) is a word of its own: between no letters, a hump ("apiKey"), or glued to its kind."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if after.islower() and after != "s" and text[end - 1].islower():
        return False
    if not before.isalpha() or (before.islower() and text[start].isupper()):
        return True
    return lower.endswith(_KEY_OF, 0, start)
