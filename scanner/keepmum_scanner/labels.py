"""Decides whether a short text, such as a title, a key or a sentence, announces that a credential stands elsewhere.

"DB root password", "staging/root-password" and "The new API key is below" do. "Token budget", "password.min_length" and
"no password" are about credentials.
"""

from __future__ import annotations

from itertools import islice, takewhile

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
# The rest of a name in code: "token.limit", "passwordPolicy".
_REST = compiled(r"(?=[._/-]?[^\W_])\S+")
_SOURCE_FILE = compiled(
    r"\S*\.(?:c|cpp|cs|css|exs?|go|h|html|java|jsx?|kt|md|php|proto|py|rb|rs|scala|scss|sh|sql|svelte|swift|tsx?|vue)\b"
)
# The other words of a compound: "login page commit"; a preposition or a mark ends it.
_COMPOUND = compiled(
    r"(?: (?!(?:a|an|as|at|by|da|de|del|der|di|do|du|et|for|from|f\u00fcr|in|is|my|of|on|our|para|pour|since|the|to|"
    r"van|vom|von|was|with)\b)[^\W_]+){1,5}"
)
_QUESTION = compiled(r"(?:how|why|when|warum|wie|wann|pourquoi|comment|quand)\b")  # the answer is an explanation
# What a title is about before it mentions credentials: "Which commit fixed the token bug", "Trace of the login".
_ABOUT = compiled(
    r"\b(?:amount|average|bug|branch|build|commit|count|file|hash|issue|library|migration|number|package|page|path|pr|release|request|revision|sha|"
    r"tag|ticket|trace|version)(?:e?s)?\s+(?:about|added|after|before|broke|changed|checks|fixed|fixes|for|in|"
    r"introduced|moved|of|on|removed|rotated|that|to|where|which|with)\b[^.:;\n]*$"
)
_WORD = compiled(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|[0-9]+")
_PREVIOUS = compiled(r"([^\W_]+)[\W_]*$")
# Words that credentials share with what they protect.
_WEAK = frozenset(("login", "logins", "token", "tokens"))
_JOINING = frozenset(("and", "or", "und", "et", "y"))
# A name that continues with one of these describes a credential, and does not hold it.
_DESCRIBING = frozenset(
    "adapter author branch cap cleanup commit comparison controller coverage deadline default factory failure filter "
    "flag focus frequency grace hotkey import interceptor keyboard label landing latency layout leaked leeway lookup "
    "maximum metric notification overhead package per placeholder port position pr pull ratio refactor "
    "refactoring release retry reuse rollout rotation route sha shortcut skew spec tab tag threshold "
    "tooltip trace tracking util utils validated verified wrapper "
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

PUBLIC_WORDS = _DESCRIBING | _COUNTED | _NEGATED | _KEYS | ELSEWHERE  # that may be shown


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
    before = _PREVIOUS.search(text, 0, start)
    previous = (words(before[1]) or [""])[-1] if before else ""
    if kind == ISSUED and ascii_word:
        if previous in _COUNTED or (word == "key" and previous not in _KEYS):
            return UNNAMED
        if tail and word != "secret" and previous not in _KEYS:
            return TOPIC, False
    anything = kind == CHOSEN or bool(previous) or (word == "secret" and " " in text)
    if previous in _NEGATED:
        return TOPIC, False
    return _followed(text, lower, start, tail_end), anything


def _followed(text: str, lower: str, start: int, end: int) -> int:
    """The strength of the name at [start, end), by what follows it and by what the text is about."""
    rest = _REST.match(text, end)
    if rest and (_SOURCE_FILE.match(rest.group()) or any(map(describes, words(rest.group())))):
        return NONE
    if " " not in text:
        return NAMES
    compound = _COMPOUND.match(lower, rest.end() if rest else end)
    others = words(compound.group()) if compound else []
    if lower[start:end] not in _WEAK:
        others = list(takewhile(lambda word: word not in _JOINING, others))
    if any(map(describes, others)) or _QUESTION.match(lower) or _ABOUT.search(lower, 0, start):
        return TOPIC
    return NAMES


def describes(word: str) -> bool:
    """Whether a name that continues with `word`, also in the plural, describes a credential."""
    singular = word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
    return word in _DESCRIBING or singular in _DESCRIBING
