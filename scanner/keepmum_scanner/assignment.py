"""Values that the text itself calls a password, secret or token, however short they are."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import CHOSEN, CUE, is_sure
from keepmum_scanner.suspect import STATED, looks
from keepmum_scanner.values import is_secret, looks_secret, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect

# What may follow the name inside an identifier: "password_prod", "tokenV2", "secrets".
_SUFFIX = r"(s)?([_-][\w-]{0,24}|[A-Z0-9]\w{0,20})?"
_QUOTES = r"[\"'`\\\])*]{0,6}"
_SIGN = r"[ \t]{0,16}(=>|:=|\?=|={1,3}|!={1,2}|:{1,3}=?|,(?=[ \t]*[\"'])|->|<-|>(?=[^\s<>]{4,256}</))[ \t]{0,16}"
_TOLD = r"(?:(?: [\w./'-]{1,24}){0,5}? (?:is|was|to)(?: now| set to)?:? )"
_OPENED = r"(?: (?:value )?(?=[(`\"'])|\((?=[\"']))"
_QUOTED = r"(?P<quote>[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){4,256})(?P=quote)(?!\s*:)"
_BARE = r"(?P<bare>[^\s\"'`,;<>|\\]{4,256}(?:\\x[0-9A-Fa-f]{2}[^\s\"'`,;<>|\\]{0,64}){0,8})"
_VALUE = rf"(?:[Bb]earer |[Bb]asic |[Tt]oken |@|[bru](?=[\"']))?[\[({{\\]{{0,3}}(?:{_QUOTED}|{_BARE})"
_GIVEN = f"{_SUFFIX}{_QUOTES}(?:{_SIGN}|{_TOLD}|{_OPENED}){_VALUE}"

# An identifier that ends so holds a fact about a credential, not the credential.
_ABOUT = tuple(
    "id name url uri path file dir type kind env var count limit size length len ttl max min usage budget hash field "
    "label header prefix provider endpoint manager store required rotation policy column index arn alias scope version "
    "format input prompt helper hint reset regex pattern auth".split()
)
_JUDGED = 128  # characters of a value that are judged; the whole is what a finding marks
_NESTED = 3  # names looked at within one value: "auth: token=…" has one, and a chain of names must not cost its square


def find(context: Context) -> Iterator[Suspect]:
    """Suspects for values that the text gives to a credential's name."""
    if not context.mentions:
        return
    given_behind = compiled(_GIVEN).match
    judged: dict[tuple[str, bool, bool], bool] = {}  # a text can say the same thing thousands of times
    done = nested = 0
    most = looks(context.text)
    for end, start, kind, short in context.mentions:
        nested = nested + 1 if start < done else 0
        if kind == CUE or nested > _NESTED:
            continue
        given = given_behind(context.text, end)
        if given is None:
            continue
        plural, suffix, sign, _, quoted, bare = given.groups()
        if (plural or short) and not sign:
            continue  # "pass `verify=…`", "keys `[a-z]*`": verbs and kinds far more often than names
        if suffix and _is_about(suffix.lower()):
            continue
        done = max(done, given.end())
        value = quoted or trimmed(bare)
        # Behind a comma stands an argument, or the next name of a list: only what looks issued counts.
        chosen = kind == CHOSEN and sign != ","
        if not chosen:
            value = value.split("&", 1)[0]  # the next parameter of a link; what machines issue has no such sign
        case = (value, chosen, bool(sign or (chosen and quoted)) and is_sure(context.lower, start, end))
        if case not in judged:
            judge = is_secret if len(judged) < most else looks_secret
            judged[case] = judge(value[:_JUDGED], chosen=chosen, sure=case[2])
        if judged[case]:
            place = given.start("quoted" if quoted else "bare")
            yield ("secret.password" if chosen else "secret.named", place, place + len(value), STATED)


def _is_about(suffix: str) -> bool:
    """Whether the rest of a name says that it holds a fact about a credential: its "url", its "expiry"."""
    return suffix.endswith(_ABOUT, 0, len(suffix) - suffix.endswith("s")) or "expir" in suffix
