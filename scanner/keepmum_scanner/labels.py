"""Decides whether a short text, such as a title, a key or a sentence, announces that a credential stands elsewhere.

"DB root password", "staging/root-password" and "The new API key is below" do. "Token budget", "password.min_length" and
"no password" speak about credentials.
"""

from __future__ import annotations

from itertools import islice

from keepmum_scanner.credential_words import CHOSEN, CUE, ISSUED, find_credential_words
from keepmum_scanner.expressions import compiled
from keepmum_scanner.record_names import extra_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    Label = tuple[int, bool]  # one of the strengths below, and whether the name allows any value, even a number

NONE = 0  # announces nothing
TOPIC = 1  # is about credentials: only a value that is spelled like a password counts
NAMES = 2  # names a credential: a value that can be one counts
ANNOUNCES = 3  # and says nothing else, such as where it is kept

UNNAMED = (NONE, False)

_LONGEST = 300  # characters; of a longer text the first and the last line are read
_LONGEST_LINE = 200
_LONGEST_ANNOUNCEMENT = 80
_MOST = 8  # credential words of a text that are examined
_CASELESS = 30  # characters of a short label in a script without spaces

_TAIL = compiled(r"[^\W\d_]*")
_ENDINGS = frozenset(("", "s", "es", "e", "en", "n", "er", "i", "y", "ja", "em", "as", "als", "ials", "ial"))
_NEXT = compiled(r"([\W_]*)([^\W_]+)")
_WORD = compiled(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|[0-9]+")
_PREVIOUS = compiled(r"([^\W_]+)[\W_]*$")
# A name ends before these: "password (staging)", "password: ".
_CLOSING = ".:;,=()[]\u2026\u2192|>!\"'`*\n\u2013\u2014"
# A name that continues with one of these describes a credential, and does not hold it.
_DESCRIBING = frozenset(
    "board header pad terminal vendor "
    "age alert alerts algorithm alias api arn attempt attempts audit auth authentication best bits box breach "
    "bucket budget bug button bytes cache change changes characters chars check checker checks class column "
    "complexity component config configuration contact cost count counter counting counts date days decision "
    "default delete dialog dir docs duration encryption endpoint endpoints entropy env error errors exchange "
    "expiration expired expires expiry field fields file files fix flow flows folder form format function "
    "generation generator grant guard guide guidelines handler handling hash hashed hashes hashing header helper "
    "hint history hook hours id ids index input interval introspection issue issues issuer iterations kdf kind leak "
    "leaks leaking len length lengths less library lifecycle lifetime limit limits link list location login lookup "
    "manager managers management masking max method middleware migration min minimum minutes modal model module "
    "name names naming owner page parameter parser parsing path paths pattern pepper permission permissions plugin "
    "policies policy prefix pricing problem procedure process prompt protection provider providers quota rate "
    "reader reason redaction refresh regex renewal repository request requests required requirement requirements "
    "reset resets retention retries review revocation rotate rotation rounds rule rules salt scan scanner scanning "
    "schedule schema scheme scope scopes screen script scripts search seconds section service settings setup "
    "sharing size sizes source state status step storage store stored stores stream strength strategy syntax system "
    "table template test tests theft thread time timeout tool ttl type types ui uri url urls usage use validation "
    "validator var variable vault verification version versions view warning window workflow".split()
)
# Words before "token" or "key" that make it a count, a symbol or a lookup key.
_COUNTED = frozenset(
    "avg budget cancel cancellation class completion context count css csrf cached design extra input lexer lexical "
    "max maximum mean min minimum model num number output page per prompt public special stop syntax theme total "
    "unused usage used foreign primary".split()
)
_NEGATED = frozenset(
    "no not without never any kein keine keinen sans sin forgot forgotten hidden minimum max min".split()
)
# What makes a "key" a credential.
_KEYS = frozenset(
    "access account activation admin api auth client consumer deploy deployment encryption hmac install license "
    "licence live master private production prod recovery registration root secret security server service session "
    "shared signing ssh staging stream stripe subscription test vault webhook wifi wireguard wpa wpa2 write".split()
)
# Words of a text that says where a credential is kept, who has it, or what its rules are.
ELSEWHERE = frozenset(
    "add change check create delete fix implement remove renew replace revoke update 1password ask "
    "bitwarden contact dashlane doppler env environment expire expires found hashed hashicorp item kdbx "
    "keepass keepassxc keychain kept keyring lastpass lives located location managed manager moved must "
    "need needs owned owner path policy required requires rotate rotated rotates rotation safe "
    "secretsmanager sealed see should sops ssm stored stores sync team ticket under vault wiki".split()
)


def naming(text: str) -> Label:
    """How strongly `text` names a credential."""
    if len(text) > _LONGEST:
        first, _, rest = text.strip().partition("\n")
        last = rest.rpartition("\n")[2]
        return max(_naming(first[:_LONGEST_LINE]), _naming(last[-_LONGEST_LINE:]))
    return _naming(text)


def _naming(text: str) -> Label:
    text = text.strip()
    lower = text.lower()
    if len(lower) != len(text):
        lower = text
    best = UNNAMED
    for end, start, kind, _ in find_credential_words(text, lower)[:_MOST]:
        if kind != CUE:
            best = max(best, _strength(text, lower, start, end, kind))
    for start, end in islice(extra_names(text, lower), _MOST):
        best = max(best, _strength(text, lower, start, end, CHOSEN))
    if best[0] == NAMES and len(text) <= _LONGEST_ANNOUNCEMENT and not ELSEWHERE.intersection(words(text)):
        return ANNOUNCES, best[1]
    return best


def words(text: str) -> list[str]:
    """The words of a text or a name in code, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def _strength(text: str, lower: str, start: int, end: int, kind: int) -> Label:
    """How strongly the credential word at [start, end) names a credential."""
    word = lower[start:end]
    ascii_word = word.isascii()
    tail_end = end
    if not (text[end : end + 1].isupper() and text[end - 1].islower()):
        tail_end = _TAIL.match(lower, end).end()  # type: ignore[union-attr]  # it matches ""
    tail = lower[end:tail_end]
    if ascii_word and tail not in _ENDINGS:
        return UNNAMED
    if not ascii_word and not word.islower() and len(text) <= _CASELESS:
        return NAMES, True
    before = _PREVIOUS.search(lower, 0, start)
    previous = before[1] if before else ""
    if kind == ISSUED and ascii_word:
        if previous in _COUNTED or (word == "key" and previous not in _KEYS):
            return UNNAMED
        if tail and word != "secret" and previous not in _KEYS:
            return TOPIC, False
    anything = kind == CHOSEN or bool(previous) or (word == "secret" and " " in text)
    if previous in _NEGATED:
        return TOPIC, False
    return _followed(text, lower, tail_end), anything


def _followed(text: str, lower: str, end: int) -> int:
    """The strength of a name that ends at `end`, by what follows it."""
    if " " not in text:
        rest = words(text[end:])
        return NONE if _DESCRIBING.intersection(rest) else NAMES
    match = _NEXT.match(lower, end)
    if match is None or any(mark in _CLOSING for mark in match[1]):
        return NAMES
    return TOPIC if match[2] in _DESCRIBING else NAMES
