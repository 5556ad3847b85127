"""Judges the whole value of a field that another field names a credential: "Sommer2024!", four words, a PIN.

The boundaries of the value are known, so shapes count that a sentence could not identify. A text that says where a
credential is kept, or what its rules are, is none.
"""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.expressions import compiled
from keepmum_scanner.generated_passwords import is_generated
from keepmum_scanner.labels import ELSEWHERE, NAMES, words
from keepmum_scanner.password_spelling import has_symbol, looks_like_password
from keepmum_scanner.values import is_secret, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate

    Span = tuple[int, int]

STRICT = 0  # the field holds a name: only what is spelled like a password counts
TOKENS = 1  # the field may hold a value, but also a remark: no words, no plain number
ANY = 2  # the field holds values

_LONGEST, _LINES = 600, 30  # of a text that can be a value
_SHORT, _SHORT_LINES = 260, 6
_QUOTES = "\"'`\u201c\u201d\u201e\u00ab\u00bb*"
_TOKEN = compiled(r"\S+")
_ISSUED = 12  # characters of a value that only a machine issues

_HEX = compiled(r"(?:[0-9a-f]{16,128}|[0-9A-F]{16,128})")
_UUID = compiled(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PIN = compiled(r"[0-9]{4,8}")
_WORD_AND_NUMBER = compiled(r"[^\W\d_]{3,}[._-]?[0-9]{2,6}[!?#$*.+]?")
# Words and a number that are joined as in a name: "copper.Lantern12".
_JOINED = compiled(
    r"(?:[A-Z]?[a-z]{2,14}|[A-Z]{3,14})(?:[._+@-](?:[A-Z]?[a-z]{2,14}|[A-Z]{3,14})){1,3}[._-]?[0-9]{1,6}[!?#$*+]?"
)
# Names before a value that is no credential: "commit 3f2c9a1", "Session: …", "timeout = 300".
_SETTINGS = frozenset(
    "branch build cache commit created date digest format hash id issue length limit mode model number port pr "
    "provider release request revision session sha size source status tag timeout timestamp trace ttl type url "
    "version".split()
)
# Names of models, packages and metrics: "all-MiniLM-L6-v2", "recall@10", and links in Markdown.
_NAMED_PART = r"(?:[A-Za-z]{1,24}|[A-Za-z]{0,3}[0-9]{1,2}[a-z]?)"
_NAME = compiled(rf"(?=.*[A-Za-z]{{4}}){_NAMED_PART}(?:[-_:.]{_NAMED_PART})+|[A-Za-z]+@[0-9]{{1,2}}|.*\]\(.*")
_ASSIGNED = compiled(r"[A-Za-z_][\w.-]*=(?=[^=])")
_YEAR = compiled(r"(?:19|20)[0-9]{2}")
_BASE32 = compiled(r"(?=[A-Z]{0,40}[2-7])[A-Z2-7]{16,64}=*|[A-Z2-7]{16}|[A-Z2-7]{32}")
_CODE = compiled(r"[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,7}")
# Codes in groups, several of them, or a seed in groups of four.
_CODES = compiled(
    r"(?:(?=[A-Za-z-]{0,40}[0-9])[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,5}[\s,;]+){1,20}"
    r"[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,5}|"
    r"(?:[A-Za-z2-7]{4} ){3,15}[A-Za-z2-7]{4}|(?:[0-9A-F]{2,4}[ :]){3,31}[0-9A-F]{2,4}|"
    r"(?:[0-9a-f]{2,4}[ :]){3,31}[0-9a-f]{2,4}|[0-9]{3,4}(?: [0-9]{3,4}){1,3}|(?:[0-9]{4,8}[\s,;]+){1,20}[0-9]{4,8}"
)
_PHRASE = compiled(r"[^\W\d_]{2,24}(?:[ ,._-]{1,2}[^\W\d_]{2,24}){0,24}(?:[ ._-]?[0-9]{1,6})?[!?#$*.]?")
_NUMBER_FIRST = compiled(r"[0-9]{1,6}(?:[ ._-][^\W\d_]{2,14}){2,8}[!?#$*]?")
_CODE_MARKS = compiled(r"[()\[\]{}<>\"'\\]|=.*[^=]")
# Links, commands, targets and files: no part of a text that is one of these is a credential.
_NAME_MARKS = compiled(r"\]\(|://|\$\(|/$|\)=$|[a-z]\.(?:css|go|html|js|json|md|py|rs|sh|toml|ts|txt|ya?ml)$")
_CAMEL = compiled(r"[A-Z][a-z]{3,14}(?:[A-Z][a-z]{3,14}){2,5}[0-9]{0,4}[!?#$*.]?")  # "CopperLanternRabbit"
# "bob: …", "root / …".
_OWNED = compiled(r"(?P<owner>[^\s:/|=]{1,32})\s{0,2}[:/|=]\s{1,4}(?P<value>\S.{3,127})")
_PARTS = compiled(r"[^\W\d_]+")
_LONG_PARTS = compiled(r"[^\W\d_]{3,}")
_PHRASE_WORDS, _LONG_WORD = 3, 9
_WALLET, _COMMON_SHARE = 12, 0.35  # words of a wallet's seed, and how many of them may be common words

# What is no credential though it follows its name: algorithms, tickets, measures, dates, versions, addresses.
_NO_VALUE = compiled(
    r"(?i)(?:sha|md|aes|rsa|ed|es|rs|hs|ps|argon|bcrypt|scrypt|pbkdf|utf|base|tls|ssl|oauth|ecdsa|hmac|chacha|curve|rfc|iso|"
    r"fips|pkcs|http|ipv|wpa|auth|python|node|postgres|debian|ubuntu|mysql|redis)-?#?[0-9]{1,5}"
    r"(?:[-_/]?[a-z]{0,9}-?[0-9]{0,4}){0,2}|x25519|p-?(?:256|384|521)|k8s|s3|ec2|"
    r"[0-9]{1,4}[-_ ]?\+?(?:chars?|characters?|days?|d|h|hrs?|hours?|m|s|ms|mins?|minutes?|months?|years?|bits?|"
    r"bytes?|kb|mb|words?|digits?|x|%|k|rounds?|times?)|"
    r"[0-9]{1,2}-[a-z]{3}-(?:19|20)[0-9]{2}|"
    r"1password\S*|keepass\S*|v?[0-9]+(?:\.[0-9]+)+\S{0,8}|[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?(?:[T ][0-9:.]+Z?)?|"
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,12}|\#[0-9]+|(?:19|20)[0-9]{2}[-/.]?q[1-4]|[0-9]{1,2}[:.][0-9]{2}"
)
_TICKET = compiled(r"[A-Z][A-Z0-9]{1,6}-[0-9]{1,6}")
_PLACE = compiled(r"[A-Za-z0-9]+(?:[-_./:][A-Za-z0-9]+)+")
_WHOLE_PARTS = compiled(r"(?<![A-Za-z0-9])[A-Za-z]+(?=[0-9]*(?![A-Za-z0-9]))")  # "db" of "db01", none of "r6pg"
# Parts of the names of resources and of places where credentials are kept.
_PLACES = ELSEWHERE | frozenset(
    "access account accounts acme admins api app apps auth aws azure backend backup billing bot bucket cert ci cli "
    "client cluster conf config console container cred credential credentials creds data database db default deploy "
    "dev docker eks etc example file files frontend gateway gcp github gitlab group groups host hosts http https "
    "iam infra ini internal item items json jwt k8s key keys kube kv ldap local login machine main master mgmt mnt "
    "mysql name node note ops org page param parameter pass passwd password passwords pg pipeline platform policy "
    "pool postgres prod production project projects proxy pw queue redis ref repo role root run s3 script secret "
    "secrets server service settings shared sidecar site sql sre ssh sso stack staging svc sys system team template "
    "terraform test token tokens toml ui user users utils value values var vars vm vpc web webhook worker yaml "
    "yml".split()
)
# Words that a chosen phrase does not consist of: function words and the vocabulary of remarks about credentials.
_REMARK = _PLACES | frozenset(
    "a about above accepts according after again against ago all allow allowed allows already also always am an "
    "and annual annually another any anybody anyone anywhere applies approved are as asked at automatically away "
    "based be because been before being below both but by can cannot changed changes characters chars check "
    "checked clear come comes cost created current currently daily day days dead deleted depends deprecated did "
    "different disabled do docs documentation documented does done down each either elsewhere empty enabled "
    "encrypted enough enter entered entry even ever every everybody everyone expired expiring external fails few "
    "first fix fixed for forgotten four from full fully generated get gets gives go goes gone got had handled has "
    "hash have held her here his hold holds hour hours how if ignored in injected instead into invalid is it its "
    "just keep keeps known last later least leave left length less letters lets like limit limited line long "
    "longer lost made make makes manual manually many max maximum may means min minimum missing mixed month "
    "monthly months more most much my named needed never new next no nobody none nor not nothing now null occurs "
    "of off offline old older on once one only onto open optional or other others our out over own pending per "
    "person personal placeholder please private protected public quarter quarterly random read reads reason "
    "refresh refreshes removed renew renewed replaced request requested reset resets restricted revoked same "
    "saved says seconds self sent set sets seven several she short shown similar since six so some soon still "
    "storage strong stays such synced taken temporary ten than that the their them then there these they this "
    "those three through ticket time times to todo together too twelve two unchanged unknown unset until unused "
    "up update updated us use used uses using valid verified via visible was we week weekly weeks were what when "
    "where which who whole will with within without works would written year yearly years yes yet you your behind "
    "desk drawer envelope handed inside office paper phone printed sheet sticker aber alle als am an auch auf aus "
    "bei beim das dem den der des die dort durch ein eine im in ist jeden jede kein liegt mit nach nicht noch "
    "oder siehe sind steht tresor und unter vom von vor wird wie wo zu zum zur au aux avec chez dans de des du en "
    "est et la le les par pas pour sous sur un une voir con del el en es esta los las no para por que se sin su "
    "una ver january february march april june july august september october november december fragen frag "
    "gespeichert rotiert hinterlegt abgelegt demander voir guardado guardada rotado alle giorni ogni nel nella "
    "viene zie het een wordt niet".split()
)
# "It is …", "The code is …", "Use …", before a value; and what may follow it.
_OPENING = compiled(
    r"(?i)(?:(?:it|this|that|the|a|my|our|new|old|current|latest|correct|value|code|pin|password|passphrase|one|token|key|"
    r"secret|answer|pw|ok|okay|sure|yes|here|reads?|is|s|was|are|now|(?:re)?set to|changed to|updated to|rotated to|"
    r"currently|equals|be|new:|use|using|enter|type|with|"
    r"you go|log in|ist|lautet|est|es|das|der|die|le|la|el|\u00e8)\b[ ,:'=]+|(?:=|:|->|=>|\u2192|-)\s*){1,8}"
)
_AFTER_VALUE = compiled(
    r"[\"'`*.,;)!]*(?:\n|[ \t]*(?:\(|,|;|\u2013|\u2014|-\s|#|//|"
    r"(?:for|on|since|until|from|as of|as the|works|is the|is now|f\u00fcr|seit|pour|para|expires|valid|rotated|"
    r"changed|yesterday|today|tonight|now|last|this)\b))"
)
_TRAILER = compiled(r"\s+(?:yesterday|today|tonight|now|(?:last|this) \w{3,12}|\([^()]{1,60}\))[.!]?$")
_PAIR = compiled(r"\S{1,64}?(?:\s*(?:/|\||:|,|;|=|->|=>|\u2192)\s*|\s+)(?P<value>\S{4,128})")
_BULLET = compiled(r"\s*(?:[-*\u2022]|[0-9]{1,2}[.)])\s+")


def find(text: str, strength: int, how: int, *, anything: bool) -> list[Candidate]:
    """Candidates in `text`, the value of a field; normally one.

    Args:
        text: the normalised value.
        strength: how strongly another field names it, see `labels`.
        how: `STRICT`, `TOKENS` or `ANY`.
        anything: the name allows any value, even a number.
    """
    if len(text) > _LONGEST or text.count("\n") > _LINES:
        return []
    spans = list(_spans(text, strength, how, anything=anything))
    return [("secret.password", start, end, EXPLICIT) for start, end in spans]


def _spans(text: str, strength: int, how: int, *, anything: bool) -> Iterator[Span]:
    start, value = _bare(text, 0)
    if not value:
        return
    if strength >= NAMES and how != STRICT:
        whole = _whole(text, start, value, how, anything=anything)
        if whole:
            yield whole
            return
    strict = strength < NAMES or how == STRICT
    for match in _TOKEN.finditer(text):
        begin, token = _bare(match.group(), match.start())
        for at, piece in ((begin, token), _after_mark(begin, token)):
            if piece and _is_distinctive(piece, strict=strict):
                yield at, at + len(piece)
                break


def _whole(text: str, start: int, value: str, how: int, *, anything: bool) -> Span | None:
    """The span of the value that is all of `text`, or all but its introduction, a remark or a user's name."""
    found = _alone(start, value, how, anything=anything)
    if found:
        return found
    opening = _OPENING.match(value)
    begin = start + (opening.end() if opening else 0)
    first = _TOKEN.match(text, begin)
    if first:
        at, token = _bare(first.group(), begin)
        if _AFTER_VALUE.match(text, at + len(token)) and _is_mixed_token(token):
            return at, at + len(token)
    if len(text) <= _SHORT and text.count("\n") <= _SHORT_LINES:
        return next(_in_lines(text, value, how, anything=anything), None)
    return None


def _alone(start: int, value: str, how: int, *, anything: bool) -> Span | None:
    """The span of a value that is all of `value`, or all but its introduction, its owner and the time."""
    if _is_value(value, how, anything=anything):
        return start, start + len(value)
    opening = _OPENING.match(value)
    if opening and opening.end() < len(value):
        at, rest = _bare(value[opening.end() :], start + opening.end())
        rest = _TRAILER.sub("", rest)
        if _is_value(rest, how, anything=anything):
            return at, at + len(rest)
    owned = _OWNED.fullmatch(value) if how == ANY else None
    if owned and (_REMARK | _SETTINGS).isdisjoint(words(owned["owner"])):
        at, rest = _bare(owned["value"], start + owned.start("value"))
        if _is_value(rest, how, anything=anything):
            return at, at + len(rest)
    return None


def _in_lines(text: str, value: str, how: int, *, anything: bool) -> Iterator[Span]:
    """The spans of the lines of a short text that are a value, or an owner and a value."""
    at = 0
    for line in text.split("\n"):
        bullet = _BULLET.match(line)
        skipped = bullet.end() if bullet else 0
        begin, rest = _bare(line[skipped:], at + skipped)
        if rest and rest != value and _is_line(rest):
            found = _alone(begin, rest, how, anything=anything)
            if found:
                yield found
        pair = _PAIR.fullmatch(rest)
        if pair and not (_REMARK | _SETTINGS).intersection(words(rest[: pair.start("value")])):
            inner, token = _bare(pair["value"], begin + pair.start("value"))
            if _is_mixed_token(token):
                yield inner, inner + len(token)
        at += len(line) + 1


def _is_line(line: str) -> bool:
    """Whether `line`, one of several, is spelled like a value; a single word or three may be the end of a sentence."""
    if any(map(str.isdigit, line)):
        return not _YEAR.fullmatch(line) and _NAME_MARKS.search(line) is None
    count = len(_PARTS.findall(line))
    return count >= _PHRASE_WORDS + any(map(str.isspace, line)) and _CODE_MARKS.search(line) is None


def _bare(text: str, start: int) -> tuple[int, str]:
    """Start and text of a value without white space, quotes and final punctuation around it."""
    value = text.strip()
    start += text.find(value) if value else 0
    while len(value) > 1 and value[0] in _QUOTES:
        start, value = start + 1, value[1:]
    return start, trimmed(value.rstrip(_QUOTES)).rstrip(_QUOTES)


def _after_mark(start: int, token: str) -> tuple[int, str]:
    """The part of a token after "=" or ":", as in "pw=…"."""
    at = max(token.find("="), token.find(":"))
    return (start + at + 1, token[at + 1 :]) if 0 < at < len(token) - 1 and "://" not in token else (start, "")


def _is_value(value: str, how: int, *, anything: bool) -> bool:
    """Whether `value`, the whole value of a field, can be a credential."""
    if not any(map(str.isspace, value)):
        return _is_token(value, how, anything=anything)
    if how == ANY and is_phrase(value):
        return True
    return _CODES.fullmatch(value) is not None and not _REMARK.intersection(map(str.lower, _LONG_PARTS.findall(value)))


def _is_token(value: str, how: int, *, anything: bool) -> bool:
    """Whether `value`, one word, can be a credential."""
    if _PIN.fullmatch(value):
        return how == ANY and anything
    if _NO_VALUE.fullmatch(value) or _TICKET.fullmatch(value) or "](" in value:
        return False
    if _HEX.fullmatch(value) or _UUID.fullmatch(value) or _BASE32.fullmatch(value):
        return True
    joined = _JOINED.fullmatch(value) is not None and _REMARK.isdisjoint(words(value))
    if _is_place(value) or (not joined and (shapes.is_reference(value) or shapes.is_placeholder(value, 0.0))):
        return False
    return (
        joined
        or is_secret(value, chosen=True, certain=False)
        or is_secret(value, chosen=False, certain=True)
        or _WORD_AND_NUMBER.fullmatch(value) is not None
        or (_CODE.fullmatch(value) is not None and any(map(str.isdigit, value)))
        or (how == ANY and (is_phrase(value) or is_secret(value, chosen=True, certain=True)))
    )


def _is_place(value: str) -> bool:
    """Whether `value` is the name of a resource or of a place, such as `infra-db-01` or `secret/data/db`."""
    return _PLACE.fullmatch(value) is not None and not _PLACES.isdisjoint(words(" ".join(_WHOLE_PARTS.findall(value))))


def is_phrase(value: str) -> bool:
    """Whether `value` is a phrase that people choose: three words or more, or two and a number."""
    if _CAMEL.fullmatch(value):
        return _REMARK.isdisjoint(words(value))
    if _PHRASE.fullmatch(value) is None and _NUMBER_FIRST.fullmatch(value) is None:
        return False
    parts = _PARTS.findall(value)
    common = sum(part.lower() in _REMARK for part in parts)
    if len(parts) >= _WALLET:
        return common <= _COMMON_SHARE * len(parts) and value.lower() == value
    has_number = any(map(str.isdigit, value))
    if common or len(parts) > _WALLET or (not has_number and len(parts) < _PHRASE_WORDS):
        return False
    if len(parts) == 1 and len(parts[0]) < _LONG_WORD:
        return False  # "Winter 2024"
    return all(map(str.islower, parts)) or all(map(str.istitle, parts)) or all(map(str.isupper, parts))


def _is_mixed_token(value: str) -> bool:
    """Whether `value`, a part of a text, is one word of letters and digits that can be a credential."""
    if not _is_mixed(value) or any(map(str.isspace, value)) or _ASSIGNED.match(value) or _NAME_MARKS.search(value):
        return False
    return _is_token(value, TOKENS, anything=False)


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and value.upper() != value.lower()


def _is_distinctive(value: str, *, strict: bool) -> bool:
    """Whether hardly anything but a credential is spelled like `value`, one word of a text."""
    if _NO_VALUE.fullmatch(value) or _TICKET.fullmatch(value) or _is_place(value) or "://" in value or "A-Z" in value:
        return False
    if is_generated(value):
        return True
    if _NAME.fullmatch(value) or _ASSIGNED.match(value) or _NAME_MARKS.search(value):
        return False
    if looks_like_password(value) and (has_symbol(value) or not strict):
        return True
    return (
        len(value) >= _ISSUED
        and _is_mixed(value)
        and _CODE_MARKS.search(value) is None
        and not shapes.is_identity(value)
        and not shapes.is_slug(value)
        and not shapes.is_path(value)
        and is_secret(value, chosen=False, certain=False)
    )
