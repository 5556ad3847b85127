"""Finds passwords at the places where commands, calls and configurations take one: "-storepass …", "community … RO".

The place says that the value is a password, so it may be any word but a variable, a placeholder or a known default.
"""

from __future__ import annotations

from keepmum_scanner.by_place import COMMANDS
from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.composed_passwords import is_composed
from keepmum_scanner.credential_words import occurrences
from keepmum_scanner.expressions import compiled
from keepmum_scanner.values import is_credential, trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

_VALUE = r"[\"']?(?P<value>[^\s\"'`<>|;]{4,128})"
_STRING = r"[\"'](?P<value>[^\n\"']{4,128})[\"']"
_ARGUMENT = r"\s{0,8}[\"'$]?[^\n,()]{1,120},"
# One of `COMMANDS`, which most texts lack; the anchor, and what follows it, in lower case.
_PLACES = (
    # Java's keytool and jarsigner; "-storepass:env" names a variable.
    ("pass", "storepass", rf"[ =]{_VALUE}"),
    ("pass", "-keypass", rf"[ =]{_VALUE}"),
    ("pass", "requirepass ", _VALUE),
    ("pass", " password 0 ", _VALUE),
    ("pass", "wpa_passphrase ", rf"\S{{1,64}} {_VALUE}"),
    (
        "pass",
        "htpasswd",
        r"(?: -[a-z0-9]{1,8}){0,4} -[a-z]{0,6}b[a-z]{0,6}(?: -[a-z0-9]{1,8}){0,4} \S{1,120} \S{1,64} " + _VALUE,
    ),
    (" -", " -u", rf"(?:ser)?[ =]{{0,2}}[\"']?[\w.@\\-]{{1,64}}:{_VALUE}"),
    (" -", " --user", rf"[ =]{{1,2}}[\"']?[\w.@\\-]{{1,64}}:{_VALUE}"),
    (" -", "zip -p ", _VALUE),
    ("<<<", "<<<", rf"[ \t]?{_VALUE}"),
    ("nmcli ", "nmcli ", rf"[^\n]{{0,120}}? (?:password|wifi-sec\.psk) {_VALUE}"),
    ("mysql", "mysql ", rf"(?:[^\n]{{0,100}} )?-p(?![ \n]){_VALUE}"),
    ("mysql", "mysqldump ", rf"(?:[^\n]{{0,100}} )?-p(?![ \n]){_VALUE}"),
    ("masterauth ", "masterauth ", _VALUE),
    ("identified by ", "identified by ", _STRING),
    ("convertto-", "convertto-securestring ", rf"(?:-[a-z]{{1,16}} ){{0,4}}{_VALUE}"),
    (" secret 0 ", " secret 0 ", _VALUE),
    # Communities of SNMP are passwords.
    ("community ", "snmp-server community ", _VALUE),
    ("community ", "rocommunity ", _VALUE),
    ("community ", "rwcommunity ", _VALUE),
    ("snmp", "snmpwalk ", rf"[^\n]{{0,80}}?-c {_VALUE}"),
    ("snmp", "snmpget ", rf"[^\n]{{0,80}}?-c {_VALUE}"),
    # Calls that take a user and a password.
    ("pdo(", "new pdo(", rf"{_ARGUMENT}{_ARGUMENT}\s{{0,8}}{_STRING}"),
    ("->connect(", "dbi->connect(", rf"{_ARGUMENT}{_ARGUMENT}\s{{0,8}}{_STRING}"),
    ("getconnection(", "drivermanager.getconnection(", rf"{_ARGUMENT}{_ARGUMENT}\s{{0,8}}{_STRING}"),
    ("mysql", "mysqli(", rf"{_ARGUMENT}{_ARGUMENT}\s{{0,8}}{_STRING}"),
    ("mysql", "mysqli_connect(", rf"{_ARGUMENT}{_ARGUMENT}\s{{0,8}}{_STRING}"),
    ("credential(", "networkcredential(", rf"{_ARGUMENT}\s{{0,8}}{_STRING}"),
    ("credentials(", "credentials(", rf"{_ARGUMENT}\s{{0,8}}{_STRING}"),
    ("basicauth(", "basicauth(", rf"{_ARGUMENT}\s{{0,8}}{_STRING}"),
    ("basic_auth(", "basic_auth(", rf"{_ARGUMENT}\s{{0,8}}{_STRING}"),
    ("login(", ".login(", rf"{_ARGUMENT}\s{{0,8}}{_STRING}"),
)
ANCHORS = tuple(anchor for _, anchor, _ in _PLACES)
_COMMUNITY = ("community ", " -c ")  # before a community, which may be a single word
_HERE_STRING = "<<<"
_READS_PASSWORD = ("cryptsetup", "passwd", "sudo -s", " login", "kinit", "gpg", "ssh-add", "openssl")
_BEFORE = 120  # characters before "<<<" that may name the program
# Source: https://docs.oracle.com/en/java/javase/21/docs/specs/man/keytool.html, read 2026-11-22 ("changeit")
_DEFAULTS = frozenset(
    "changeit changeme password passwd passphrase secret public private community admin root toor guest test example "
    "string keystore android mypass mypassword storepass keypass default none null true false localhost".split()
)
_WORD = compiled(r"[A-Za-z][\w-]{4,31}")


def find(context: Context) -> Iterator[Candidate]:
    """Candidates for the passwords at every such place."""
    lower, limit = context.lower, context.case_limit
    parts = [part for part in COMMANDS if part in lower]
    for _, anchor, expression in [one for one in _PLACES if one[0] in parts and one[1] in lower] if parts else ():
        for start in occurrences(anchor, lower)[:limit]:
            if anchor == _HERE_STRING and not _reads_password(lower, start):
                continue
            match = compiled(expression).match(lower, start + len(anchor))
            if match is None:
                continue
            begin = match.start("value")
            value = trimmed(context.text[begin : match.end("value")]).rstrip(",)")
            if _is_given(
                context, value, is_community=lower.endswith(_COMMUNITY, 0, begin - (lower[begin - 1] in "\"'"))
            ):
                yield ("secret.password", begin, begin + len(value), EXPLICIT)


def _reads_password(lower: str, start: int) -> bool:
    """Whether the command before the here-string at `start` reads a password from it."""
    line = lower[max(lower.rfind("\n", 0, start) + 1, start - _BEFORE) : start]
    return any(map(line.__contains__, _READS_PASSWORD))


def _is_given(context: Context, value: str, *, is_community: bool) -> bool:
    """Whether `value` is a password, and no variable, placeholder or known default."""
    if value.lower() in _DEFAULTS or value[:1] in {"$", "%", "{", "<", "-", "@", "("} or context.checks_left <= 0:
        return False
    if is_credential(value, context, chosen=True, certain=True) or is_composed(value, certain=True):
        return True
    return is_community and _WORD.fullmatch(value) is not None and not value.lower().startswith(("your", "my", "snmp"))
