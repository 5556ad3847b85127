"""Finds the words in a text that name credentials.

Uses plain substring search: one expression over all words would cost more than the rest of a scan.
"""

from __future__ import annotations

from itertools import accumulate

from keepmum_scanner.candidates import case_limit
from keepmum_scanner.expressions import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    # End, start, kind (CHOSEN, ISSUED or CUE), and whether the word names a value only before a separator, as "pass"
    # and "pin" do. A tuple, since a text may consist of such words.
    CredentialWord = tuple[int, int, int, bool]

# The token of a badge is made for publication in a README; the token for uploads is another one.
# Source: https://docs.codecov.com/docs/codecov-tokens, read 2026-11-21
_BADGE, _LONGEST_BADGE = "codecov", 160  # and characters of the link up to the token
_PARAMETERS = ("?", "&")

CHOSEN = 0  # names what people choose, whose values may be short or words
ISSUED = 1  # names what machines issue
CUE = 2  # names no credential, but a key often follows

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
    "adgangskode": CHOSEN,
    "pwd": CHOSEN,
    "secret": ISSUED,
    "token": ISSUED,
    "bearer": ISSUED,
    "salt": ISSUED,
    "key": ISSUED,
    "jeton": ISSUED,
    "segredo": ISSUED,
    "segreto": ISSUED,
    "geheimnis": ISSUED,
    "chiave": ISSUED,
    "chave": ISSUED,
    "sleutel": ISSUED,
    "klucz": ISSUED,
    "nyckel": ISSUED,
    "anahtar": ISSUED,
    "auth": CUE,
    "login": CUE,
    "access": CUE,
    "private": CUE,
}
# Searched for only in texts that contain their common part.
_BY_PART = {
    "auth": {"authorization": ISSUED},
    "pass": dict.fromkeys(
        ("password", "passwd", "passphrase", "passcode", "passwort", "passord", "palavra-passe"), CHOSEN
    ),
}
# Searched for only in texts with letters beyond ASCII.
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
    "clé": ISSUED,
    "секрет": ISSUED,
    "ключ": ISSUED,
    "токен": ISSUED,
    "密钥": ISSUED,
    "密鑰": ISSUED,
    "令牌": ISSUED,
    "apiキー": ISSUED,
    "アクセスキー": ISSUED,
    "シークレット": ISSUED,
    "시크릿": ISSUED,
    "秘钥": ISSUED,
    "トークン": ISSUED,
    "秘密鍵": ISSUED,
    "토큰": ISSUED,
}
_NON_ASCII_LETTER = compiled("[\u00c0-\u1fff\u3040-\ud7ff]")
_KINDS = {**_WORDS, **_FOREIGN, **_BY_PART["auth"], **_BY_PART["pass"]}
# Also verbs and parts of other words; see `_is_short_name`.
_SHORT = {"pass": CHOSEN, "pw": CHOSEN, "pin": CHOSEN, "psk": CHOSEN}
NAMES = (*_KINDS, *_SHORT)
_BEFORE_PASS = ("BY", "COM", "SUR", "TRES", "OVER", "UNDER", "LOW", "HIGH", "BAND", "ALL")
# Cursors of a listing are called tokens too, and so are the locks and steps of a service: "LockToken",
# "--lifecycle-action-token".
_CURSORS = (
    "next page ",
    *(
        word + joint
        for word in "action backward change continuation forward lock next page request resume starting sync".split()
        for joint in ("", "_", "-")
    ),
)
_CHECKED = 2  # times `case_limit` occurrences of one word are checked; all after these count
_LONGEST_ARN = 60  # characters of "arn:aws:secretsmanager:eu-central-1:123456789012:"
_SPACES = (" ", "\t")
_JOINTS = ("_", "-", " ")
# What makes the "key" of other languages a credential: "clé d'API", "chave secreta", "API-nyckel".
_FOREIGN_KEY = compiled(r"api|secr|segr|geheim|acc|priv|hemlig|tajn|gizli|eri\u015fim")
_AROUND_KEY = 12  # characters before and after it
_KEY_OF = ("api", "access", "secret", "private", "signing", "license", "auth", "master", "account")
# Keys of rows, maps and lists of options open nothing, and a public key is meant to be published.
_LOOKUP_KEYS = tuple(
    "cache col column commit composite config correlation dedup dedupe dict did event foreign group hash i18n "
    "idempotency idempotence index issue json locale lookup map memo message natural object option partition "
    "primary public query react registry row routing schema sequence shard site sort surrogate table translation "
    "unique version websocket".split()
)
_LOOKUP_KEYS_BY_END = {
    end: tuple(name for name in _LOOKUP_KEYS if name[-1] == end) for end in {name[-1] for name in _LOOKUP_KEYS}
}


def find_credential_words(text: str, lower: str) -> list[CredentialWord]:
    """Every credential word in `text`, in order; `lower` is `text` in lower case, of the same length."""
    found: list[CredentialWord] = []
    checked = _CHECKED * case_limit(text)
    for word in _words_in(lower):
        length, kind, condition = len(word), _KINDS[word], _CONDITIONS.get(word)
        starts = occurrences(word, lower)
        if condition is not None:
            counted = [start for start in starts[:checked] if condition(text, lower, start, start + length)]
            starts = counted + starts[checked:]
        found += [(start + length, start, kind, False) for start in starts]
    for word in [word for word in _SHORT if word in lower]:
        length, kind = len(word), _SHORT[word]
        starts = occurrences(word, lower)
        counted = [start for start in starts[:checked] if _is_short_name(text, lower, start, start + length)]
        found += [(start + length, start, kind, True) for start in counted + starts[checked:]]
    found.sort()
    return found


def _words_in(lower: str) -> list[str]:
    """The credential words that occur in `lower`, without the short ones."""
    words = [word for word in _WORDS if word in lower]
    for part, longer in _BY_PART.items():
        if part in lower:
            words += [word for word in longer if word in lower]
    if not lower.isascii() and _NON_ASCII_LETTER.search(lower):
        words += [word for word in _FOREIGN if word in lower]
    return words


def occurrences(word: str, lower: str) -> list[int]:
    """Where `word` begins in `lower`."""
    length = len(word)
    between = accumulate(map(len, lower.split(word)))  # one pass in C
    return [passed + index * length for index, passed in enumerate(between)][:-1]


def is_cursor_token(lower: str, start: int) -> bool:
    """Whether the "token" at `start` names a cursor of a listing, a lock or a step."""
    return lower.endswith(_CURSORS, 0, start)


def names_only_credentials(lower: str, start: int, end: int) -> bool:
    """Whether the word at [start, end) names a credential in any context; a "key" may belong to a cache or a table."""
    return lower[start:end] != "key" or lower.endswith(_KEY_OF, 0, start - (lower[start - 1 : start] in _JOINTS))


def _is_short_name(text: str, lower: str, start: int, end: int) -> bool:
    """Whether the short word at [start, end) can be a name: no other word follows, though a separator may."""
    if lower[end : end + 1] in _SPACES and lower[end + 1 : end + 2].isalnum():
        return False
    return _is_word(text, lower, start, end) or _ends_constant(text, start, end)


def _is_key(text: str, lower: str, start: int, end: int) -> bool:
    """Whether the "key" at [start, end) is a word of its own and may be more than a lookup key."""
    if not _is_word(text, lower, start, end):
        return False
    joint = start - (lower[start - 1 : start] in _JOINTS)
    if not lower.endswith(_LOOKUP_KEYS_BY_END.get(lower[joint - 1 : joint], ()), 0, joint):
        return True
    begins = [joint - len(name) for name in _LOOKUP_KEYS if lower.endswith(name, 0, joint)]
    return not any(text[begin].isupper() or not text[begin - 1 : begin].isalpha() for begin in begins)


def _is_foreign_key(text: str, lower: str, start: int, end: int) -> bool:
    """Whether a word for "key" is called one of an API, of an account or the like."""
    around = max(0, start - _AROUND_KEY), min(len(lower), end + _AROUND_KEY)
    return _is_word(text, lower, start, end) and _FOREIGN_KEY.search(lower, *around) is not None


def _is_access_token(_text: str, lower: str, start: int, _end: int) -> bool:
    """Whether the "token" at `start` is neither a cursor nor the public token of a badge."""
    if lower[start - 1 : start] in _PARAMETERS and _BADGE in lower[max(0, start - _LONGEST_BADGE) : start]:
        return False
    return not is_cursor_token(lower, start)


def _is_outside_arn(_text: str, lower: str, start: int, _end: int) -> bool:
    """Whether the "secret" at `start` is not part of a cloud's resource name, which tells where a secret is kept."""
    return lower[start - 1 : start] != ":" or "arn:" not in lower[max(0, start - _LONGEST_ARN) : start]


def _is_word(text: str, lower: str, start: int, end: int) -> bool:
    """Whether [start, end) is a separate word, also within camelCase ("apiKey") or after one of `_KEY_OF`."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if not before.isalpha() and not after.islower():
        return True
    if after.islower() and text[end - 1].islower() and (after != "s" or text[end + 1 : end + 2].islower()):
        return False
    if not before.isalpha() or (before.islower() and text[start].isupper()):
        return True
    return lower.endswith(_KEY_OF, 0, start)


def _ends_constant(text: str, start: int, end: int) -> bool:
    """Whether [start, end) is "PASS" at the end of a name in capitals: "SSHPASS", but not "COMPASS"."""
    if text[start:end] != "PASS" or text[end : end + 1].isalnum() or not text[start - 1 : start].isupper():
        return False
    return not text.endswith(_BEFORE_PASS, 0, start)


# Conditions under which a word counts: "key" is also a part of "monkey", "auth" of "author".
_CONDITIONS = {
    "key": _is_key,
    "auth": _is_word,
    "salt": _is_word,
    "access": _is_word,
    "private": _is_word,
    "clave": _is_word,
    "mdp": _is_word,
    "jeton": _is_word,
    **dict.fromkeys(("chiave", "chave", "sleutel", "klucz", "nyckel", "anahtar", "clé"), _is_foreign_key),
    "parola": _is_word,
    "token": _is_access_token,
    "secret": _is_outside_arn,
}
