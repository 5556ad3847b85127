"""Passwords told by a phrase or a command line, where no name stands before its value."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.suspect import FLOOD, STATED
from keepmum_scanner.values import is_secret, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect

# "use … as the password"
_AS = (
    r"(?i)\b(?:send|use|used|using|with|enter|type|try)[ \t]+[\"'`]?(?P<value>[^\s\"'`]{6,64})[\"'`]?[ \t]+as[ \t]+"
    r"(?:the|my|our|your|a|its)?[ \t]*(?:\w+[ \t]+)?(?:password|passphrase|token|secret|api key|key|credential)"
)
# "login with admin:…", "creds: admin / …"; the value needs a digit and a sign, since places are told the same way
_PAIR = (
    r"(?i)\b(?:creds|credentials|log ?in|user(?:name)?[/ ]?pass(?:word)?|id/pw)\b[^\n]{0,24}?"
    r"[\w.@-]{2,32}[ \t]?[:/][ \t]?(?P<value>(?=\S{0,63}[0-9])(?=\S{0,63}[!@#$%^&*?~])[^\s\"'`:/][^\s\"'`]{5,63})"
)
# "--password …", "-Password …"
_OPTION = r"(?i)--?(?:password|passwd|pass|token|secret|api-key)[ =][\"']?(?P<value>[^\s\"'`]{4,128})"
# "-u name:password", as curl takes it
_USER = r"(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?[\w.@\\-]{1,64}:[\"']?(?P<value>[^\s\"'`]{3,128})"
# Programs with a short option for the password
_CLIENT = (
    r"(?i)\b(?:(?:mysql(?:dump|admin)?|mariadb)\b[^\n|;]{0,80}?[ ]-p|sshpass[ ]-p[ ]?|"
    r"psexec(?:64)?(?:\.exe)?\b[^\n|;]{0,120}?[ ]-p[ ]|redis-cli\b[^\n|;]{0,60}?[ ]-a[ ])"
    r"[\"']?(?P<value>[^\s\"'`-][^\s\"'`]{3,127})"
)
# Guard, in lower case, and the expression that runs where it is found.
PHRASES = (
    (" as ", _AS),
    ("creds", _PAIR),
    ("credentials", _PAIR),
    ("log", _PAIR),
    ("user", _PAIR),
    ("id/pw", _PAIR),
    ("-pass", _OPTION),
    ("-token", _OPTION),
    ("-secret", _OPTION),
    ("-api-key", _OPTION),
    ("-u", _USER),
    ("mysql", _CLIENT),
    ("mariadb", _CLIENT),
    ("sshpass", _CLIENT),
    ("redis-cli", _CLIENT),
    ("psexec", _CLIENT),
)


def find(context: Context) -> Iterator[Suspect]:
    """Suspects for every phrase whose guard stands in the text."""
    count = 0
    for expression in dict.fromkeys(expression for guard, expression in PHRASES if guard in context.lower):
        for match in compiled(expression).finditer(context.text):
            value = trimmed(match["value"])
            if count >= FLOOD or is_secret(value, chosen=True, signed=False):
                count += 1
                yield ("secret.password", match.start("value"), match.start("value") + len(value), STATED)
