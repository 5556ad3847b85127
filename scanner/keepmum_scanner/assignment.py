"""Values that the text itself calls a password, secret or token, however short they are."""

from __future__ import annotations

from keepmum_scanner.decode import decoded
from keepmum_scanner.drawn import drawn_at
from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import CHOSEN, CUE, is_sure
from keepmum_scanner.suspect import STATED
from keepmum_scanner.values import is_credential, stands_out, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.mentions import Mention
    from keepmum_scanner.suspect import Suspect

    Case = tuple[str, bool, bool]  # a value; whether it is chosen; whether it is sure to be given

# What may follow the name inside an identifier: "password_prod", "tokenV2", "secrets".
# It ends where the word does, so that a chain of words is not tried at each length.
_SUFFIX = r"(s)?([_-][\w-]{0,24}(?!\w|(?<=-)>)|[A-Z0-9]\w{0,20}(?!\w))?"
_QUOTES = r"[\"'`\\\])*]{0,6}"
# "name: DB_PASSWORD", and below or beside it "value: …"; the default of a variable that is declared; a line of its own.
_VALUE_OF = r"\n[ \t]{0,40}value[ \t]{0,4}[:=]|,\s{0,40}[\"']value[\"']\s{0,4}:| value=(?=[\"'])"
_DEFAULT = (
    r"[ \t]{0,4}[{:][ \t]{0,4}\n(?:[ \t]{1,24}\w{1,24}[ \t]{0,8}[:=][^\n]{0,120}\n){0,4}?"
    r"[ \t]{1,24}[Dd]efault[ \t]{0,8}[:=]"
)
_ALONE = r"[^\s]{3,255}[^\s:{\[(,;][ \t]{0,16}\r?(?:\n|$)"
_BELOW = (
    rf":[ \t]{{0,4}}(?:[|>][+-]?)?[ \t]{{0,4}}\r?\n\s{{0,40}}(?:- )?(?={_ALONE})|"
    r"\n{1,2}(?=`[^\s`]{4,256}`[ \t]*(?:\n|$))"
)
_SIGN = (
    rf"({_VALUE_OF}|{_DEFAULT}|{_BELOW}|"
    r"[ \t]{0,16}(?:=>|:=|\?=|={1,3}|!={1,2}|:{1,3}=?(?:\*\*|__)?|,(?=[ \t]*[\"'])|->|<-|\u2192|"
    r"\|(?=[ \t]*[^\s|]{4,256}[ \t]*\|)|>(?=[^\s<>]{4,256}</)))[ \t]{0,16}"
)
_TOLD = r"(?:(?: [\w./'-]{1,24}){0,5}? (?:is|was|to)(?: now| set to)?:? )"
_OPENED = r"(?: (?:value )?(?=[(`\"'])|\((?=[\"']))"
_QUOTED = r"(?P<quote>[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){4,256})(?P=quote)(?!\s*:)"
_BARE = r"(?P<bare>[^\s\"'`,;<>|\\]{4,256}(?:\\x[0-9A-Fa-f]{2}[^\s\"'`,;<>|\\]{0,64}){0,8})"
_OTHER = r"(?P<other>\S{10,64})"
_VALUE = rf"(?:[Bb]earer |[Bb]asic |[Tt]oken |@|[bru](?=[\"']))?[\[({{\\]{{0,3}}(?:{_QUOTED}|{_BARE}|{_OTHER})"
# Nothing between the two: "password Winter2001!".
_BESIDE = r"(?P<beside>[ \t]{1,8}(?:[-\u2013\u2014][ \t]{1,4})?(?=\S{0,63}[0-9#$^&*~!@]))"
_GIVEN = f"{_SUFFIX}{_QUOTES}(?:{_SIGN}|{_TOLD}|{_OPENED}|{_BESIDE}){_VALUE}"

# What gives a value without a sign: "login ada password …" in .netrc, "ENV DB_PASSWORD …" in a Dockerfile, and shells.
_GIVES = compiled(
    r"(?:\blogin\s{1,16}\S{1,64}\s{1,16}(?:account\s{1,16}\S{1,64}\s{1,16})?|"
    r"\b(?:setx|setenv|set -[a-z]{1,3}|env)[ \t]{1,4}\w{0,40})$"
)
_BEFORE = 160  # characters of that

# An identifier that ends so holds a fact about a credential, not the credential.
_ABOUT = tuple(
    "id name url uri path file dir type kind env var count limit size length len ttl max min usage budget hash field "
    "label header prefix provider endpoint manager store required rotation policy column index arn alias scope version "
    "format input prompt helper hint reset regex pattern auth timeout age days hours minutes seconds attempts retries "
    "interval iterations rounds history sha1 sha256 sha512".split()
)
_ADJECTIVES = ("ed", "able", "ible", "ory", "ional")  # "the password is `Required`"
# "KEY=OTHER_KEY=…": the value is what the last of them is given.
_LAST = compiled(r"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*=)+(?=.)")
_NESTED = 3  # names looked at within one value: "auth: token=…" has one, and a chain of names must not cost its square


# Of a text with more names than any note or source has, the rest is searched for what stands behind a sign and has a
# digit and a letter before a digit or a sign, as chosen and issued secrets have.
_ANY = (
    r"[\"'`]?(?P<value>(?=[^\s\"'`,;<>|\\=0-9]{0,64}[0-9])"
    r"(?=[^\s\"'`,;<>|\\=A-Za-z]{0,64}[A-Za-z]{1,64}[^A-Za-z\s()<>{}\[\]/._:-])[^\s\"'`,;<>|\\]{6,256})"
)
_ANY_SIGNED = rf"[=:>(|](?![=:>(|])[ \t]{{0,16}}{_ANY}"
_ANY_TOLD = rf" (?:is|was|to) {_ANY}"
_ANY_USED = rf"[ \t]{_ANY}[\"'`]? as "


def find(context: Context) -> Iterator[Suspect]:
    """Suspects for values that the text gives to a credential's name."""
    if context.mentions:
        yield from _given(context, context.mentions[: context.crowd])
    if len(context.mentions) > context.crowd:
        yield from _given_in_crowd(context, context.mentions[context.crowd][0])


def _given_in_crowd(context: Context, start: int) -> Iterator[Suspect]:
    """Suspects for any value behind `start` that is given near a credential's name."""
    for expression in (_ANY_SIGNED, _ANY_TOLD, _ANY_USED) if " as " in context.text else (_ANY_SIGNED, _ANY_TOLD):
        is_near = context.nearness()
        for match in compiled(expression).finditer(context.text, start):
            place, end = match.span("value")
            if is_near(place, end):
                yield ("secret.named", place, end, STATED)


def _given(context: Context, names: list[Mention]) -> Iterator[Suspect]:
    """Suspects for values that are given to `names`."""
    given_behind = compiled(_GIVEN).match
    judged: dict[Case, bool] = {}  # a text can say the same thing thousands of times
    done = nested = 0
    for end, start, kind, short in names:
        nested = nested + 1 if start < done else 0
        if kind == CUE or nested > _NESTED:
            continue
        given = given_behind(context.text, end)
        if given is None:
            continue
        plural, suffix, sign, beside, _, quoted, bare, _ = given.groups()
        if (plural or short) and not sign:
            continue  # "pass `verify=…`", "keys `[a-z]*`": verbs and kinds far more often than names
        if suffix and _is_about(suffix.lower()):
            continue
        done = max(done, given.end())
        place = given.start("quoted" if quoted else "bare" if bare else "other")
        value = quoted or trimmed(bare or "")  # what begins as no other value does may still be drawn
        # Behind a comma stands an argument, or the next name of a list: only what looks issued counts.
        chosen = kind == CHOSEN and not (sign and sign.endswith(","))
        chosen = chosen or ("-" in value and context.lower.endswith("bearer ", 0, place))  # "Bearer open-sesame"
        if not chosen:
            value = value.split("&", 1)[0]  # the next parameter of a link; what machines issue has no such sign
        if beside and not (
            (chosen and stands_out(value)) or _GIVES.search(context.lower, max(0, start - _BEFORE), start)
        ):
            continue
        last = _LAST.match(value)
        if last:
            place, value = place + last.end(), value[last.end() :]
        # On a line of its own stand words too.
        given_to = bool(sign and not sign[-1].isspace()) or (chosen and bool(quoted))
        named = not (short and value.isalpha())  # "first pass: tokenize"
        sure = given_to and named and is_sure(context.lower, start, end)
        said = (decoded(value) or value) if "%" in value else value  # a query's value, encoded, has signs and digits
        is_found = _is_secret((said if sign else _told(said), chosen, sure), judged, context)
        reach = len(value) if is_found else _drawn_at(context, place)
        if reach:
            yield ("secret.password" if chosen else "secret.named", place, place + reach, STATED)


def _told(value: str) -> str:
    """`value` as it is judged where a sentence gives it: one word in quotes counts whatever letter it begins with."""
    return value.lower() if value.istitle() and not value.endswith(_ADJECTIVES) else value


def _drawn_at(context: Context, place: int) -> int:
    """How many characters the drawn password at `place` has; 0 when there is none, or no look is left."""
    context.looks -= 1
    return drawn_at(context.text, place) if context.looks >= 0 else 0


def _is_secret(case: Case, judged: dict[Case, bool], context: Context) -> bool:
    """Whether the value of `case` can be a secret, looked up in `judged` or noted there."""
    if case not in judged:
        value, chosen, sure = case
        judged[case] = is_credential(value, context, chosen=chosen, sure=sure)
    return judged[case]


def _is_about(suffix: str) -> bool:
    """Whether the rest of a name says that it holds a fact about a credential: its "url", its "expiry"."""
    return suffix.endswith(_ABOUT, 0, len(suffix) - suffix.endswith("s")) or "expir" in suffix
