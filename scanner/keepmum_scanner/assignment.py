"""Finds values, of any length, that the text assigns to a password, secret or token."""

from __future__ import annotations

from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.credential_words import CHOSEN, CUE, names_only_credentials
from keepmum_scanner.decode import decoded
from keepmum_scanner.expressions import compiled
from keepmum_scanner.generated_passwords import generated_length
from keepmum_scanner.password_spelling import is_algorithm
from keepmum_scanner.values import is_credential, is_distinctive, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context
    from keepmum_scanner.credential_words import CredentialWord

    # Value, chosen, certain, see `values.is_secret`; whether a separator gives it to a name of credentials only.
    Case = tuple[str, bool, bool, bool]

# The rest of an identifier after the name: "password_prod", "tokenV2", "secrets".
# It must reach the end of the word, so that a chain of words is not tried at each length.
_SUFFIX = r"(s)?([_-][\w-]{0,24}(?!\w|(?<=-)>)|[A-Z0-9]\w{0,20}(?!\w))?"
_QUOTES = r"[\"'`\\\])*]{0,6}"
# "name: DB_PASSWORD" followed by "value: …"; the default of a declared variable; a line of its own.
_VALUE_OF = r"\n[ \t]{0,40}value[ \t]{0,4}[:=]|,\s{0,40}[\"']value[\"']\s{0,4}:| value=(?=[\"'])"
_DEFAULT = (
    r"[ \t]{0,4}[{:][ \t]{0,4}\n(?:[ \t]{1,24}\w{1,24}[ \t]{0,8}[:=][^\n]{0,120}\n){0,4}?"
    r"[ \t]{1,24}[Dd]efault[ \t]{0,8}[:=]"
)
_ALONE = r"[^\s]{3,255}[^\s:{\[(,;][ \t]{0,16}\r?(?:\n|$)"
_NEXT_LINE = (
    rf":[ \t]{{0,4}}(?:[|>][+-]?)?[ \t]{{0,4}}\r?\n\s{{0,40}}(?:- )?(?={_ALONE})|"
    r"\n{1,2}(?=`[^\s`]{4,256}`[ \t]*(?:\n|$))"
)
_SEPARATOR = (
    rf"({_VALUE_OF}|{_DEFAULT}|{_NEXT_LINE}|"
    r"[ \t]{0,16}(?:=>|:=|\?=|={1,3}|!={1,2}|:{1,3}=?(?:\*\*|__)?|,(?=[ \t]*[\"'])|->|<-|\u2192|"
    r"\|(?=[ \t]*[^\s|]{4,256}[ \t]*\|)|>(?=[^\s<>]{4,256}</)))[ \t]{0,16}"
)
_VERB = r"(?:(?: [\w./'-]{1,24}){0,5}? (?:is|was|to)(?: now| set to)?:? )"
_OPENING = r"(?: (?:value )?(?=[(`\"'])|\((?=[\"']))"
_QUOTED = r"(?P<quote>[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){4,256})(?P=quote)(?!\s*:)"
_BARE = r"(?P<bare>[^\s\"'`,;<>|\\]{4,256}(?:\\x[0-9A-Fa-f]{2}[^\s\"'`,;<>|\\]{0,64}){0,8})"
_OTHER = r"(?P<other>\S{10,64})"
_VALUE = rf"(?:[Bb]earer |[Bb]asic |[Tt]oken |@|[bru](?=[\"']))?[\[({{\\]{{0,3}}(?:{_QUOTED}|{_BARE}|{_OTHER})"
# No separator: "password Winter2001!".
_ADJACENT = r"(?P<adjacent>[ \t]{1,8}(?:[-\u2013\u2014][ \t]{1,4})?(?=\S{0,63}[0-9#$^&*~!@]))"
_ASSIGNED = f"{_SUFFIX}{_QUOTES}(?:{_SEPARATOR}|{_VERB}|{_OPENING}|{_ADJACENT}){_VALUE}"

# Assigns without a separator: "login ada password …" in .netrc, "ENV DB_PASSWORD …" in a Dockerfile, and shells.
_ASSIGNING = compiled(
    r"(?:\blogin\s{1,16}\S{1,64}\s{1,16}(?:account\s{1,16}\S{1,64}\s{1,16})?|"
    r"\b(?:setx|setenv|set -[a-z]{1,3}|env)[ \t]{1,4}\w{0,40})$"
)
_BEFORE = 160  # characters that are searched for it

# The end of an identifier that describes a credential but does not hold it.
_DESCRIBING = tuple(
    "id name url uri path file dir type kind env var count limit size length len ttl max min usage budget hash field "
    "label header prefix provider endpoint manager store required rotation policy column index arn alias scope version "
    "format input prompt helper hint reset regex pattern auth timeout age days hours minutes seconds attempts retries "
    "interval iterations rounds history from ref source sha1 sha256 sha512".split()
)
_ADJECTIVES = ("ed", "able", "ible", "ory", "ional")  # "the password is `Required`"
# "KEY=OTHER_KEY=…": the value belongs to the last name.
_OTHER_NAMES = compiled(r"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*=)+(?=.)")
# Names that are checked within one value: "auth: token=…" has one; a chain of names must not take quadratic time.
_NESTED = 3

# A text with more names than any note or source file gets a rough check: after a separator a value that contains a
# digit, and a letter before a digit or symbol, as chosen and issued secrets do.
_ANY_VALUE = (
    r"[\"'`]?(?P<value>(?=[^\s\"'`,;<>|\\=0-9]{0,64}[0-9])"
    r"(?=[^\s\"'`,;<>|\\=A-Za-z]{0,64}[A-Za-z]{1,64}[^A-Za-z\s()<>{}\[\]/._:-])[^\s\"'`,;<>|\\]{6,256})"
)
_ANY_AFTER_SEPARATOR = rf"[=:>(|](?![=:>(|])[ \t]{{0,16}}{_ANY_VALUE}"
_ANY_AFTER_VERB = rf" (?:is|was|to) {_ANY_VALUE}"
_ANY_BEFORE_AS = rf"[ \t]{_ANY_VALUE}[\"'`]? as "


def find(context: Context) -> Iterator[Candidate]:
    """Candidates for values that are assigned to the name of a credential."""
    if context.credential_words:
        yield from _assigned(context, context.credential_words[: context.case_limit])
    if len(context.credential_words) > context.case_limit:
        yield from _assigned_in_bulk(context, context.credential_words[context.case_limit][0])


def _assigned_in_bulk(context: Context, start: int) -> Iterator[Candidate]:
    """Candidates for any value after `start` that is assigned near a credential word; a rough check."""
    expressions = (_ANY_AFTER_SEPARATOR, _ANY_AFTER_VERB, _ANY_BEFORE_AS)
    for expression in expressions if " as " in context.text else expressions[:2]:
        for match in compiled(expression).finditer(context.text, start):
            begin, end = match.span("value")
            if context.is_near(begin, end):
                yield ("secret.named", begin, end, EXPLICIT)


def _assigned(context: Context, names: list[CredentialWord]) -> Iterator[Candidate]:
    """Candidates for values that are assigned to `names`."""
    match_after = compiled(_ASSIGNED).match
    judged: dict[Case, bool] = {}  # a text may repeat a value thousands of times
    done = nested = 0
    for end, start, kind, short in names:
        nested = nested + 1 if start < done else 0
        if kind == CUE or nested > _NESTED:
            continue
        match = match_after(context.text, end)
        if match is None:
            continue
        plural, suffix, separator, adjacent, _, quoted, bare, _ = match.groups()
        if (plural or short) and not separator:
            continue  # "pass `verify=…`", "keys `[a-z]*`": mostly verbs and kinds
        if suffix and _describes(suffix.lower()):
            continue
        done = max(done, match.end())
        begin = match.start("quoted" if quoted else "bare" if bare else "other")
        value = quoted or trimmed(bare or "")  # group "other" can only be a generated password
        # After a comma is an argument or the next name of a list: only what looks issued counts.
        chosen = kind == CHOSEN and not (separator and separator.endswith(","))
        chosen = chosen or ("-" in value and context.lower.endswith("bearer ", 0, begin))  # "Bearer open-sesame"
        if not chosen:
            value = value.split("&", 1)[0]  # without the next parameter of a link; issued keys contain no "&"
        if adjacent and not (
            (chosen and is_distinctive(value)) or _ASSIGNING.search(context.lower, max(0, start - _BEFORE), start)
        ):
            continue
        others = _OTHER_NAMES.match(value)
        if others:
            begin, value = begin + others.end(), value[others.end() :]
        # A separator that ends with a line break may be followed by prose.
        assigned = bool(separator and not separator[-1].isspace()) or (chosen and bool(quoted))
        named = not (short and value.isalpha())  # "first pass: tokenize"
        only_credentials = names_only_credentials(context.lower, start, end)
        certain = assigned and named and only_credentials
        given = bool(separator and not separator.endswith(",")) and named and only_credentials
        plain = (decoded(value) or value) if "%" in value else value  # in a query every symbol is encoded
        is_secret = (separator or not is_algorithm(value)) and _is_secret(
            (plain if separator else _as_in_sentence(plain), chosen, certain, given), judged, context
        )
        length = len(value) if is_secret else _generated_length(context, begin)
        if length:
            yield ("secret.password" if chosen else "secret.named", begin, begin + length, EXPLICIT)


def _as_in_sentence(value: str) -> str:
    """`value` as it is judged within a sentence, where a capital letter at the start of a word means nothing."""
    return value.lower() if value.istitle() and not value.endswith(_ADJECTIVES) else value


def _generated_length(context: Context, begin: int) -> int:
    """Length of the generated password at `begin`; 0 when there is none, or no detailed check is left."""
    context.checks_left -= 1
    return generated_length(context.text, begin) if context.checks_left >= 0 else 0


def _is_secret(case: Case, judged: dict[Case, bool], context: Context) -> bool:
    """Whether the value of `case` can be a secret; cached in `judged`."""
    if case not in judged:
        value, chosen, certain, given = case
        judged[case] = is_credential(value, context, chosen=chosen, certain=certain) or (
            given and context.checks_left > 0 and _is_composed(value, chosen=chosen)
        )
    return judged[case]


def _is_composed(value: str, *, chosen: bool) -> bool:
    from keepmum_scanner.composed_passwords import is_composed  # few texts need it

    return is_composed(value, certain=True, chosen=chosen)


def _describes(suffix: str) -> bool:
    """Whether the rest of a name says that it describes a credential, such as its "url" or "expiry"."""
    return suffix.endswith(_DESCRIBING, 0, len(suffix) - suffix.endswith("s")) or "expir" in suffix
