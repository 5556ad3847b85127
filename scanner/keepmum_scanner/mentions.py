"""Where a text speaks of credentials.

Found by plain substring search: one expression over all words would cost more than everything else in a scan.
"""

from __future__ import annotations

from itertools import accumulate

from keepmum_scanner.expressions import compiled
from keepmum_scanner.suspect import crowd_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    # End and start of one credential word; CHOSEN, ISSUED or CUE; and whether it is a name only when a sign follows, as
    # "pass", "pw" and "pin" are. A tuple, since a text can be made of such words.
    Mention = tuple[int, int, int, bool]

# The token of a badge is made to be put into a README; the one that uploads is another.
# Source: https://docs.codecov.com/docs/codecov-tokens, read 2026-11-21
_BADGE, _LONGEST_BADGE = "codecov", 160  # and characters of the link to it
_PARAMETERS = ("?", "&")

CHOSEN = 0  # what people make up themselves, so that its values may be short or words
ISSUED = 1  # what machines issue
CUE = 2  # no credential's name, but where such a word stands, a key is often meant

_WORDS = {
    "credential": CHOSEN,
    "identified by": CHOSEN,
    "kennwort": CHOSEN,
    "mot de passe": CHOSEN,
    "wachtwoord": CHOSEN,
    "senha": CHOSEN,
    "heslo": CHOSEN,
    "parola": CHOSEN,
    "salasana": CHOSEN,
    "clave": CHOSEN,
    "mdp": CHOSEN,
    "pwd": CHOSEN,
    "secret": ISSUED,
    "token": ISSUED,
    "bearer": ISSUED,
    "salt": ISSUED,
    "key": ISSUED,
    "auth": CUE,
    "pasted": CUE,
    "rotate": CUE,
    "login": CUE,
    "access": CUE,
    "private": CUE,
    " 401": CUE,
    " 403": CUE,
}
# Looked for only where the piece that they share stands.
_LONGER = {
    "auth": {"authorization": ISSUED},
    "pass": dict.fromkeys(("password", "passwd", "passphrase", "passcode", "passwort", "passord"), CHOSEN),
}
# Looked for only where there are letters beyond ASCII.
_FOREIGN = {
    "contraseña": CHOSEN,
    "hasło": CHOSEN,
    "hasła": CHOSEN,
    "jelszó": CHOSEN,
    "lösenord": CHOSEN,
    "mật khẩu": CHOSEN,
    "şifre": CHOSEN,
    "парол": CHOSEN,
    "סיסמ": CHOSEN,
    "كلمة المرور": CHOSEN,
    "كلمة السر": CHOSEN,
    "비밀번호": CHOSEN,
    "패스워드": CHOSEN,
    "암호": CHOSEN,
    "パスワード": CHOSEN,
    "密码": CHOSEN,
    "密碼": CHOSEN,
    "口令": CHOSEN,
    "schlüssel": ISSUED,
    "ключ": ISSUED,
    "токен": ISSUED,
    "密钥": ISSUED,
    "密鑰": ISSUED,
    "令牌": ISSUED,
    "apiキー": ISSUED,
    "トークン": ISSUED,
    "秘密鍵": ISSUED,
    "토큰": ISSUED,
}
_LETTER = compiled("[\u00c0-\u1fff\u3040-\ud7ff]")
_KINDS = {**_WORDS, **_FOREIGN, **_LONGER["auth"], **_LONGER["pass"]}
# Verbs, and parts of other words: these count only where they begin a word and are followed by a sign.
_SHORT = {"pass": CHOSEN, "pw": CHOSEN, "pin": CHOSEN, "psk": CHOSEN}
_NO_PASS = ("BY", "COM", "SUR", "TRES", "OVER", "UNDER", "LOW", "HIGH", "BAND", "ALL")
# Places in a listing, and sizes of a model's texts, are called tokens too.
# So are the locks and the steps of a service: "LockToken", "--lifecycle-action-token".
_NO_CREDENTIAL = (
    "next page ",
    *(
        place + joint
        for place in "action backward change continuation forward lock next page request resume starting sync".split()
        for joint in ("", "_", "-")
    ),
)
_MOST = 2  # crowds of one word that are looked at; of the others all count
_LONGEST_ARN = 60  # characters of "arn:aws:secretsmanager:eu-central-1:123456789012:"
_SPACES = (" ", "\t")
_JOINTS = ("_", "-", " ")
_KEY_OF = ("api", "access", "secret", "private", "signing", "license", "auth", "master", "account")
# What these open is no door: a row, a map, a list of options; and a public key is there to be told.
_KEY_TO = tuple(
    "cache col column commit composite config correlation dedup dedupe dict did event foreign group hash i18n "
    "idempotency idempotence index issue json locale lookup map memo message natural object option partition "
    "primary public query react registry row routing schema sequence shard site sort surrogate table translation "
    "unique version websocket".split()
)
_KEY_TO_BY_END = {
    end: tuple(thing for thing in _KEY_TO if thing[-1] == end) for end in {thing[-1] for thing in _KEY_TO}
}


def mentions(text: str, lower: str) -> list[Mention]:
    """Every mention in `text`, by place; `lower` is `text` in lower case, of the same length."""
    found: list[Mention] = []
    most = _MOST * crowd_of(text)
    for word in _words(lower):
        length, kind, counts = len(word), _KINDS[word], _RULES.get(word)
        starts = places(word, lower)
        if counts is not None:
            judged = [start for start in starts[:most] if counts(text, lower, start, start + length)]
            starts = judged + starts[most:]
        found += [(start + length, start, kind, False) for start in starts]
    for word in [word for word in _SHORT if word in lower]:
        length, kind = len(word), _SHORT[word]
        starts = places(word, lower)
        judged = [start for start in starts[:most] if _is_short(text, lower, start, start + length)]
        found += [(start + length, start, kind, True) for start in judged + starts[most:]]
    found.sort()
    return found


def _words(lower: str) -> list[str]:
    """The words of credentials that `lower` has."""
    words = [word for word in _WORDS if word in lower]
    for piece, longer in _LONGER.items():
        if piece in lower:
            words += [word for word in longer if word in lower]
    if not lower.isascii() and _LETTER.search(lower):
        words += [word for word in _FOREIGN if word in lower]
    return words


def _is_short(text: str, lower: str, start: int, end: int) -> bool:
    """Whether the short word at [start, end) can be a name: no other word follows, though a sign can."""
    if lower[end : end + 1] in _SPACES and lower[end + 1 : end + 2].isalnum():
        return False
    return _is_word(text, lower, start, end) or _ends_constant(text, start, end)


def places(word: str, lower: str) -> list[int]:
    """Where `word` begins in `lower`."""
    length = len(word)
    between = accumulate(map(len, lower.split(word)))  # one pass in C
    return [passed + index * length for index, passed in enumerate(between)][:-1]


def _is_key(text: str, lower: str, start: int, end: int) -> bool:
    """Whether the "key" at [start, end) is a word or a hump, and may open more than a table."""
    if not _is_word(text, lower, start, end):
        return False
    joint = start - (lower[start - 1 : start] in _JOINTS)
    if not lower.endswith(_KEY_TO_BY_END.get(lower[joint - 1 : joint], ()), 0, joint):
        return True
    begins = [joint - len(thing) for thing in _KEY_TO if lower.endswith(thing, 0, joint)]
    return not any(text[begin].isupper() or not text[begin - 1 : begin].isalpha() for begin in begins)


def _is_credential(_text: str, lower: str, start: int, _end: int) -> bool:
    """Whether the "token" at `start` is no place in a listing, nor the one that shows a badge to everybody."""
    if lower[start - 1 : start] in _PARAMETERS and _BADGE in lower[max(0, start - _LONGEST_BADGE) : start]:
        return False
    return not is_place(lower, start)


def is_place(lower: str, start: int) -> bool:
    """Whether the "token" at `start` names a place in a listing, a lock or a step."""
    return lower.endswith(_NO_CREDENTIAL, 0, start)


def _is_told(_text: str, lower: str, start: int, _end: int) -> bool:
    """Whether the "secret" at `start` is no part of the name that a cloud has for the place of one."""
    return lower[start - 1 : start] != ":" or "arn:" not in lower[max(0, start - _LONGEST_ARN) : start]


def is_sure(lower: str, start: int, end: int) -> bool:
    """Whether the word at [start, end) names a credential wherever it stands: a "key" may open a cache or a table."""
    return lower[start:end] != "key" or lower.endswith(_KEY_OF, 0, start - (lower[start - 1 : start] in _JOINTS))


def _is_word(text: str, lower: str, start: int, end: int) -> bool:
    """Whether [start, end) is a word of its own: between no letters, a hump ("apiKey"), or glued to its kind."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if not before.isalpha() and not after.islower():
        return True
    if after.islower() and text[end - 1].islower() and (after != "s" or text[end + 1 : end + 2].islower()):
        return False
    if not before.isalpha() or (before.islower() and text[start].isupper()):
        return True
    return lower.endswith(_KEY_OF, 0, start)


def _ends_constant(text: str, start: int, end: int) -> bool:
    """Whether [start, end) is the "PASS" that ends a name in capitals: "SSHPASS", and no "COMPASS"."""
    if text[start:end] != "PASS" or text[end : end + 1].isalnum() or not text[start - 1 : start].isupper():
        return False
    return not text.endswith(_NO_PASS, 0, start)


# "monkey", "author": these count only where they are a word or a hump of camelCase.
_RULES = {
    "key": _is_key,
    "auth": _is_word,
    "salt": _is_word,
    "access": _is_word,
    "private": _is_word,
    "clave": _is_word,
    "mdp": _is_word,
    "parola": _is_word,
    "token": _is_credential,
    "secret": _is_told,
}
