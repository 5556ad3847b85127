"""Tells which detectors of values by their place a text can need: those whose words it contains.

Most texts need few of them, and the others are not even imported: the guard is a new process for every tool call.
"""

from __future__ import annotations

from keepmum_scanner.credential_words import CHOSEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner.context import Context

IN_CHAT = ("pass is ", "pass for ", "pw is ", "pw for ", "pwd is ")  # short names of passwords
# Parts of words for PINs and codes in ASCII.
_PINS = ("pin", "puk", "cod", "kod", "zahl", "combination")
_CODES = ("cod", "kod")
# Parts of commands and calls that take a password.
COMMANDS = (
    *(
        "pass",
        " -",
        "<<<",
        "nmcli ",
        "mysql",
        "masterauth ",
        "identified by ",
        "convertto-",
        " secret 0 ",
        "community ",
    ),
    *("snmp", "pdo(", "->connect(", "getconnection(", "credential(", "credentials(", "basicauth(", "basic_auth("),
    "login(",
)


def may_name_values(context: Context) -> bool:
    """Whether the text contains a name that `named_values` reads."""
    return bool(context.credential_words) or any(map(context.lower.__contains__, IN_CHAT))


def may_have_commands(context: Context) -> bool:
    """Whether the text contains a part of a command that `command_values` reads."""
    return any(map(context.lower.__contains__, COMMANDS))


def may_have_pins(context: Context) -> bool:
    """Whether the text contains a part of a name that `pins` reads."""
    lower = context.lower
    return (
        not lower.isascii()
        or any(map(lower.__contains__, _PINS))
        or any(kind == CHOSEN for _, _, kind, _ in context.credential_words)
    )


def may_have_codes(context: Context) -> bool:
    """Whether the text contains a part of a name that `recovery_codes` reads."""
    return not context.lower.isascii() or any(map(context.lower.__contains__, _CODES))
