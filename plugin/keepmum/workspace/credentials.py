"""Keys for servers; each is sent only to the server for which the user stored it.

They are stored in `<home>/credentials.toml`, readable only by the user, or in a variable. A project's files can name a
server and, through a client's settings, set variables. So such a server gets a key only when the user approved exactly
this server, by `keepmum login` or in their own `config.toml`. A key that a team shares in its repository contains the
name of its server and is sent to no other.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field

from keepmum.core.errors import KeepmumError, SettingsError
from keepmum.workspace import toml_file

__all__ = [
    "SHARED",
    "VARIABLES",
    "Key",
    "Server",
    "check_key",
    "find",
    "is_loopback",
    "origins",
    "path_of",
    "remove",
    "set_for_process",
    "shared_value",
    "store",
]

VARIABLES = ("MEMORY_API_KEY", "SHARED_MEMORY_API_KEY", "SHARED_MEMORY_API_TOKEN")  # strongest first
SHARED = "KEEPMUM_SHARED_KEY"
"""The variable for a key in a repository: the server's origin, a space, and the key."""

_NAME = re.compile(r'"?(https?://[^"]+?)"?\.key')  # quoted when it contains a dot
_KEY = re.compile(r"[!-~]{1,4096}")  # one word in an HTTP header
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LOOPBACK = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?", re.IGNORECASE)
_of_process: dict[str, str] = {}  # from the command line, by origin


@dataclass(frozen=True, slots=True)
class Key:
    """A key for one server, and its source."""

    secret: str = field(repr=False)
    source: str


@dataclass(frozen=True, slots=True)
class Server:
    """A server by its origin (scheme, host and port), with the key that may be sent to it."""

    origin: str
    key: str | None = field(default=None, repr=False)
    no_key: str = ""  # why there is no key, with the next step
    ca_file: str | None = None  # additional certificate authorities


def set_for_process(origin: str, secret: str) -> None:
    """Use a key for `origin` in this process only: the one given on the command line with the address.

    Raises: KeepmumError when it is not a valid key.
    """
    _of_process[origin] = check_key(secret)


def shared_value(origin: str, secret: str) -> str:
    """The value of the variable `SHARED`.

    Raises: KeepmumError when `secret` is not a valid key.
    """
    return f"{origin} {check_key(secret)}"


def find(
    home: str | None, environ: Mapping[str, str], origin: str, *, approved: bool, listed: bool = False
) -> Key | None:
    """The key that may be sent to `origin`; None when there is none.

    A variable does not say which server its key is for, so the key is sent only to an `approved` server or to this
    machine. A shared key is sent to the server that it names, if the user's own file has `listed` that server.

    Raises: SettingsError when the credentials file is invalid or readable by others.
    """
    if origin in _of_process:
        return Key(_of_process[origin], "the command line")
    stored = _stored(home) if home else {}
    if origin in stored:
        return Key(stored[origin], "credentials.toml")
    if approved or is_loopback(origin):
        for variable in VARIABLES:
            if secret := environ.get(variable, "").strip():
                return Key(check_key(secret), f"the variable {variable}")
    shared_origin, _, secret = environ.get(SHARED, "").partition(" ")
    if shared_origin == origin and (listed or is_loopback(origin)):
        return Key(check_key(secret), f"the repository, in {SHARED}")
    return None


def origins(home: str) -> list[str]:
    """The origins with a stored key.

    Raises: SettingsError.
    """
    return list(_stored(home))


def store(home: str, origin: str, secret: str) -> None:
    """Store a key for `origin`, replacing an existing one.

    Raises: KeepmumError when it is not a valid key; SettingsError when it cannot be written.
    """
    _write(home, {**_stored(home), origin: check_key(secret)})


def remove(home: str, origin: str) -> bool:
    """Delete the key for `origin`; False when there is none.

    Raises: SettingsError.
    """
    stored = _stored(home)
    if origin not in stored:
        return False
    _write(home, {name: secret for name, secret in stored.items() if name != origin})
    return True


def check_key(text: str) -> str:
    """`text` if it is a valid key; no message contains it.

    Raises: KeepmumError.
    """
    if not _KEY.fullmatch(text):
        raise KeepmumError("that is not a key: a key is one word of up to 4096 visible ASCII characters")
    return text


def is_loopback(origin: str) -> bool:
    """Whether `origin` is this machine."""
    return _LOOPBACK.fullmatch(origin) is not None


def path_of(home: str) -> str:
    """The path of the credentials file."""
    return os.path.join(home, "credentials.toml")


def _stored(home: str) -> dict[str, str]:
    path = path_of(home)
    text = toml_file.read_text(path)
    if text is None:
        return {}
    if os.name == "posix" and os.stat(path).st_mode & _OTHERS:
        raise SettingsError(f"{path} can be read by others; run: chmod 600 {path}")
    file = toml_file.parse(path, text)
    found = {}
    for name, value in file.values.items():
        server = _NAME.fullmatch(name)
        if server is None or not isinstance(value, str) or not _KEY.fullmatch(value):
            raise SettingsError(
                f'{file.place(name)}: a table is a server, as ["https://memory.example"], with its `key`'
            )
        found[server[1]] = value
    return found


def _write(home: str, stored: Mapping[str, str]) -> None:
    toml_file.write_text(
        path_of(home), toml_file.render({origin: {"key": secret} for origin, secret in sorted(stored.items())})
    )
