"""Keys, each bound to the one server that the user stored it for.

They lie in `<home>/credentials.toml`, for the user alone, or in a variable. A project's files can name a server, and
through a client's settings even set variables; so what they name gets a key only where the user has said that this
very server may have one: by `keepmum login`, or in their own `config.toml`. A key that a team shares in its repository
names its server itself, and is of use for no other.
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
"""The variable of a key that a repository shares: the server's origin, a space, and the key."""

_NAME = re.compile(r'"?(https?://[^"]+?)"?\.key')  # quoted where it has a dot
_KEY = re.compile(r"[!-~]{1,4096}")  # what a header can carry in one word
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LOOPBACK = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?", re.IGNORECASE)
_given: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Key:
    """A key for one server, and where it is from."""

    secret: str = field(repr=False)
    source: str


@dataclass(frozen=True, slots=True)
class Server:
    """A server by its origin (scheme, host and port), and the key that the user stored for just that origin."""

    origin: str
    key: str | None = field(default=None, repr=False)
    no_key: str = ""  # why there is no key, with the next step
    ca_file: str | None = None  # authorities that are trusted besides the system's


def set_for_process(origin: str, secret: str) -> None:
    """Take a key for `origin` from whoever started this process, with the address, on its command line.

    Raises: KeepmumError when it can be no key.
    """
    _given[origin] = check_key(secret)


def shared_value(origin: str, secret: str) -> str:
    """What the variable of a shared key holds.

    Raises: KeepmumError when `secret` can be no key.
    """
    return f"{origin} {check_key(secret)}"


def find(
    home: str | None, environ: Mapping[str, str], origin: str, *, approved: bool, listed: bool = False
) -> Key | None:
    """The key that `origin` may have; None when the user has stored none for it.

    A key in a variable is for whichever server the user means, so it goes only to one that is `approved` or is this
    machine. A shared one goes to the server that it names, where the user's own file has `listed` that.

    Raises: SettingsError when the file of keys is wrong, or can be read by others.
    """
    if origin in _given:
        return Key(_given[origin], "the command line")
    stored = _stored(home) if home else {}
    if origin in stored:
        return Key(stored[origin], "credentials.toml")
    if approved or is_loopback(origin):
        for variable in VARIABLES:
            if secret := environ.get(variable, "").strip():
                return Key(check_key(secret), f"the variable {variable}")
    named, _, secret = environ.get(SHARED, "").partition(" ")
    if named == origin and (listed or is_loopback(origin)):
        return Key(check_key(secret), f"the repository, in {SHARED}")
    return None


def origins(home: str) -> list[str]:
    """The servers that a key is stored for.

    Raises: SettingsError.
    """
    return list(_stored(home))


def store(home: str, origin: str, secret: str) -> None:
    """Store a key for `origin`, in place of one that is there.

    Raises: KeepmumError when it can be no key; SettingsError when it cannot be written.
    """
    _write(home, {**_stored(home), origin: check_key(secret)})


def remove(home: str, origin: str) -> bool:
    """Forget the key for `origin`; whether there was one.

    Raises: SettingsError.
    """
    stored = _stored(home)
    if origin not in stored:
        return False
    _write(home, {name: secret for name, secret in stored.items() if name != origin})
    return True


def check_key(text: str) -> str:
    """`text`, if it can be sent as a key; what it is, is told in no message.

    Raises: KeepmumError.
    """
    if not _KEY.fullmatch(text):
        raise KeepmumError("that is no key: a key is one word of up to 4096 visible ASCII characters")
    return text


def is_loopback(origin: str) -> bool:
    """Whether `origin` is this very machine."""
    return _LOOPBACK.fullmatch(origin) is not None


def path_of(home: str) -> str:
    """The file of the keys."""
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
