"""Finds passwords in phrases and command lines that put no name before the value.

Each phrase has an anchor, a fixed text that is cheap to find; an expression is tried only after it.
"""

from __future__ import annotations

from itertools import repeat

from keepmum_scanner.candidates import DUMP_SIZE, EXPLICIT
from keepmum_scanner.credential_words import is_cursor_token, occurrences
from keepmum_scanner.expressions import compiled
from keepmum_scanner.values import is_credential, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

    Span = tuple[int, int]
    # The common part of the anchors, which most texts lack; the anchors, in lower case; an expression for what follows.
    Phrase = tuple[str, tuple[str, ...], str]

_VALUE = r"[\"']?(?P<value>[^\s\"'`]{4,128})"
# "login with admin:…", "creds: admin / …"; the value needs a digit and a symbol, since paths are written the same way
_PAIR = (
    r"(?:word)?\b(?:[ \t]?[:=])?(?:[^\n:/]{2,40}[:/]){1,2}?[ \t]?"
    r"(?P<value>(?=\S{0,63}[0-9])(?=\S{0,63}[!@#$%^&*?~])[^\s\"'`:/][^\s\"'`]{5,63})"
)
# "--password …", "-Password …"
_OPTION = rf"(?:word)?[ =]{_VALUE}"
# "-u name:password", "--user name:password", as curl takes it
_USER = r"(?:ser)?[ =]{0,2}[\"']?[\w.@\\-]{1,64}:[\"']?(?P<value>[^\s\"'`]{3,128})"
# "echo … | docker login --password-stdin", "echo … | sudo -S …"
_PIPED = rf"(?:-n )?{_VALUE}[\"']?[ \t]{{0,4}}\|(?:[^|\n]{{0,120}}-stdin| ?(?:sudo -s|kinit|cryptsetup)\b)"
_PHRASES = (
    ("cred", ("creds", "credentials"), _PAIR),
    ("log", ("login", "log in"), _PAIR),
    ("pw", ("/pw", "id pw", "(pw)"), _PAIR),
    ("pass", ("/passwd", "userpass", "user/pass", "user pass", "username/pass", "username pass"), _PAIR),
    ("-pass", ("-password", "-passwd", "-pass"), _OPTION),
    ("requirepass", ("requirepass",), _OPTION),
    ("net user ", ("net user ",), rf"[\w.-]{{1,40}} {_VALUE}"),
    ("-", ("-token", "-secret", "-api-key"), _OPTION),
    ("-u", ("-u",), _USER),
    ("curl -", ("curl -",), rf"[a-z]{{1,8}}u{_USER}"),
    ("echo ", ("echo ",), _PIPED),
    ("identified by ", ("identified by ",), _VALUE),
    ("convertto-securestring ", ("convertto-securestring ",), rf"(?:-[a-z]{{1,16}} ){{0,4}}\\?{_VALUE}"),
)

# Options for a password, what follows them, and the programs that have them; elsewhere "-p" is a port or a path.
_ARGUMENT = r"[\"']?(?P<value>[^\s\"'`-][^\s\"'`]{3,127})"
_OPTIONS = (
    (" -p", _ARGUMENT, ("mysql", "mariadb", "sshpass", "7z")),
    (" -p ", _ARGUMENT, ("sshpass", "psexec", "mongo", "mosquitto", "zip", "sqlcmd", " login")),
    (" -a ", _ARGUMENT, ("redis-cli",)),
    (" -k ", _ARGUMENT, ("openssl enc",)),
    (" -u ", r"[\w.@-]{1,64},[\"']?(?P<value>[^\s\"'`,]{4,128})", ("lftp",)),
    (" -w ", _ARGUMENT, ("ldap",)),
    (" -a ", r"[\"']?[\w.@-]{1,64}:(?P<value>[^\s\"'`]{4,128})", ("http", "xh")),
    (" -u ", r"[\"']?[\w.@\\/-]{1,64}%(?P<value>[^\s\"'`]{4,128})", ("smbclient", "rpcclient", "winexe")),
)
_COMMAND = 120  # characters from a program's name to its option

# "use … as the password": what follows the anchor " as ", and what precedes it.
_AS_NAME = (
    r"(?:(?:the|my|our|your|a|its)[ \t]{1,4})?(?:\w{1,24}[ \t]{1,4})?"
    r"(?:password|passphrase|token|secret|api key|key|credential)"
)
_USE_VALUE = (
    r"\b(?:send|use|used|using|with|enter|pass|paste|supply|type|try)[ \t]{1,4}"
    r"[\"'`]?(?P<value>[^\s\"'`]{6,256})[\"'`]?$"
)
_SENTENCE = 280  # characters of "use … as"


def find(context: Context) -> Iterator[Candidate]:
    """Candidates for the values in every phrase of the text."""
    lower = context.lower
    candidates = 0
    spans = [*values_after(lower, _PHRASES), *_option_values(lower), *_used_values(lower, context.case_limit)]
    for start, end in dict.fromkeys(spans):
        value = trimmed(context.text[start:end])
        if not is_credential(value, context, chosen=True, certain=False):
            continue
        # In a dump the check that could clear a value is skipped.
        if candidates >= DUMP_SIZE or not context.in_link(start):
            candidates += 1
            yield ("secret.password", start, start + len(value), EXPLICIT)


def values_after(lower: str, phrases: Iterable[Phrase], limit: int | None = None) -> list[Span]:
    """Spans of the values after the anchors of `phrases`; at most `limit` occurrences of each anchor are checked."""
    found = []
    for common, anchors, expression in phrases:
        for anchor in anchors if common in lower else ():
            if anchor in lower:
                starts = occurrences(anchor, lower)[:limit]
                if anchor == "-token":
                    starts = [start for start in starts if not is_cursor_token(lower, start + 1)]
                found += [match.span("value") for match in _matches_after(lower, starts, len(anchor), expression)]
    return found


def _option_values(lower: str) -> list[Span]:
    """Spans of the values of options that take a password."""
    found = []
    for option, expression, programs in _OPTIONS if " -" in lower else ():
        present = [program for program in programs if program in lower] if option in lower else ()
        if present:
            matches = _matches_after(lower, occurrences(option, lower), len(option), expression)
            found += [match.span("value") for match in matches if _is_call(lower, match.start(), present)]
    return found


def _matches_after(lower: str, starts: list[int], length: int, expression: str) -> Iterator[re.Match[str]]:
    """The matches of `expression` right after the anchors of `length` characters at `starts`."""
    return filter(None, map(compiled(expression).match, repeat(lower), [start + length for start in starts]))


def _is_call(lower: str, position: int, programs: Iterable[str]) -> bool:
    """Whether `position` is within a call of one of `programs`."""
    before = lower[max(0, position - _COMMAND) : position]
    call = before[max(before.rfind("\n"), before.rfind("|"), before.rfind(";")) + 1 :]
    for program in programs:  # noqa: SIM110 - creating a generator takes as long as all of this
        if program in call:
            return True
    return False


def _used_values(lower: str, limit: int) -> Iterator[Span]:
    """Spans of the values that are "used as" a credential, in at most `limit` phrases."""
    if " as " not in lower:
        return
    for start in occurrences(" as ", lower):
        if compiled(_AS_NAME).match(lower, start + 4):
            limit -= 1
            if limit < 0:
                return
            first = max(0, start - _SENTENCE)
            match = compiled(_USE_VALUE).search(lower[first:start])
            if match:
                yield (first + match.start("value"), first + match.end("value"))
