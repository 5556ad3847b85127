"""Passwords told by a phrase or a command line, where no name stands before its value.

Each is looked for from a fixed piece of it, its pivot: finding that costs next to nothing, and an expression is tried
only where it stands.
"""

from __future__ import annotations

from itertools import repeat

from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import is_place, places
from keepmum_scanner.suspect import FLOOD, STATED
from keepmum_scanner.values import is_credential, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect

    Span = tuple[int, int]

_VALUE = r"[\"']?(?P<value>[^\s\"'`]{4,128})"
# "login with admin:…", "creds: admin / …"; the value needs a digit and a sign, since places are told the same way
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
# What all pivots of a row have in common, so that most texts are asked for that alone; the pivots, in lower case; and
# the expression for what follows one.
PHRASES = (
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

# Options that give a password, what follows, and the programs that take them so; elsewhere "-p" is a port or a path.
_ARGUMENT = r"[\"']?(?P<value>[^\s\"'`-][^\s\"'`]{3,127})"
OPTIONS = (
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

# "use … as the password": what follows the pivot " as ", and what stands before it
_NAME = (
    r"(?:(?:the|my|our|your|a|its)[ \t]{1,4})?(?:\w{1,24}[ \t]{1,4})?"
    r"(?:password|passphrase|token|secret|api key|key|credential)"
)
_USED = (
    r"\b(?:send|use|used|using|with|enter|pass|paste|supply|type|try)[ \t]{1,4}"
    r"[\"'`]?(?P<value>[^\s\"'`]{6,256})[\"'`]?$"
)
_SENTENCE = 280  # characters of "use … as"


def find(context: Context) -> Iterator[Suspect]:
    """Suspects for every phrase in the text."""
    lower = context.lower
    suspects = 0
    for start, end in dict.fromkeys([*_told_behind(lower), *_optional(lower), *_used(lower, context.crowd)]):
        value = trimmed(context.text[start:end])
        if not is_credential(value, context, chosen=True, sure=False):
            continue
        # With so many secrets nothing is asked that could clear the next one.
        if suspects >= FLOOD or not context.in_link(start):
            suspects += 1
            yield ("secret.password", start, start + len(value), STATED)


def _told_behind(lower: str) -> list[Span]:
    """Where values stand behind a phrase."""
    found = []
    for common, pivots, expression in PHRASES:
        for pivot in pivots if common in lower else ():
            if pivot in lower:
                starts = places(pivot, lower)
                if pivot == "-token":
                    starts = [place for place in starts if not is_place(lower, place + 1)]
                found += [match.span("value") for match in _behind(lower, starts, len(pivot), expression)]
    return found


def _optional(lower: str) -> list[Span]:
    """Where values are given to an option of a program that takes a password so."""
    found = []
    for option, expression, programs in OPTIONS if " -" in lower else ():
        present = [program for program in programs if program in lower] if option in lower else ()
        if present:
            matches = _behind(lower, places(option, lower), len(option), expression)
            found += [match.span("value") for match in matches if _is_told(lower, match.start(), present)]
    return found


def _behind(lower: str, starts: list[int], length: int, expression: str) -> Iterator[re.Match[str]]:
    """What `expression` finds behind the pivots of `length` characters at `starts`."""
    return filter(None, map(compiled(expression).match, repeat(lower), [start + length for start in starts]))


def _is_told(lower: str, place: int, programs: Iterable[str]) -> bool:
    """Whether what stands at `place` belongs to a call of one of `programs`."""
    before = lower[max(0, place - _COMMAND) : place]
    call = before[max(before.rfind("\n"), before.rfind("|"), before.rfind(";")) + 1 :]
    for program in programs:  # noqa: SIM110 - a generator takes as long as all of this
        if program in call:
            return True
    return False


def _used(lower: str, most: int) -> Iterator[Span]:
    """Where values are said to be used as a password, `most` times; each names a credential, and these have a crowd."""
    if " as " not in lower:
        return
    for place in places(" as ", lower):
        if compiled(_NAME).match(lower, place + 4):
            most -= 1
            if most < 0:
                return
            start = max(0, place - _SENTENCE)
            match = compiled(_USED).search(lower[start:place])
            if match:
                yield (start + match.start("value"), start + match.end("value"))
