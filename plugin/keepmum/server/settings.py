"""The settings of the server: `server.toml`, variables `KEEPMUM_SERVER_*`, and files that hold secrets."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from keepmum.core.errors import SettingsError
from keepmum.workspace import toml_edit, toml_file

__all__ = ["DECLARED", "Declared", "ServerSettings", "load", "state_folder", "store_value"]

_PREFIX = "KEEPMUM_SERVER_"
_LARGEST_SECRET = 64 * 1024  # bytes of a file
_OTHERS = ("SECRET",)  # variables that other parts of the server read


class ServerSettings(NamedTuple):
    """Every setting with its value, and the folder of the server's state."""

    home: str
    bind: str = "127.0.0.1"
    port: int = 3100
    url: str = ""
    hosts: tuple[str, ...] = ()
    tls_cert: str = ""
    tls_key: str = ""
    trusted_proxies: tuple[str, ...] = ()
    database_url: str = ""
    database_owner_url: str = ""
    database_pool: int = 8
    threads: int = 16
    reads_per_minute: int = 600
    writes_per_minute: int = 120
    model: bool = True
    api_keys: str = ""

    @property
    def database_file(self) -> str:
        """The SQLite file that is used without a `database.url`."""
        return os.path.join(self.home, "memory.db")


class Declared(NamedTuple):
    """One setting."""

    name: str  # in server.toml, such as "database.url"
    field: str  # of `ServerSettings`
    parse: Callable[[object], object]  # Raises: ValueError with what it must be
    about: str
    is_secret: bool = False  # it may be in a file, which a variable names

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return _PREFIX + self.name.replace(".", "_").upper()


def state_folder(keepmum_home: str) -> str:
    """The folder of the server's state."""
    return os.path.join(keepmum_home, "server")


def store_value(keepmum_home: str, name: str, value: str) -> None:
    """Write a setting to server.toml, which only its owner may read.

    Raises: SettingsError when the file cannot be written.
    """
    path = os.path.join(state_folder(keepmum_home), "server.toml")
    toml_file.write_text(path, toml_edit.changed(path, toml_file.read_text(path) or "", name, value))


def load(keepmum_home: str, environ: Mapping[str, str], given: Mapping[str, object] | None = None) -> ServerSettings:
    """The settings: what is `given` on the command line, else in a variable, else in the file, else the default.

    Raises: SettingsError when a setting is unknown or invalid; the message names its place, and no secret.
    """
    home = state_folder(keepmum_home)
    chosen = {
        **_of_file(os.path.join(home, "server.toml")),
        **_of_variables(environ),
        **{
            declared.field: _parsed(declared, given[declared.field], f"--{declared.name}")
            for declared in DECLARED
            if given and declared.field in given
        },
        "api_keys": environ.get("API_KEYS", "") or _from_file(environ, "API_KEYS_FILE"),
    }
    settings = ServerSettings(home, **cast("dict[str, Any]", chosen))  # each value has been parsed as its field
    _check_together(settings)
    return settings


def _check_together(settings: ServerSettings) -> None:
    """Check what settings say about each other.

    Raises: SettingsError.
    """
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise SettingsError("tls.cert and tls.key belong together; one of them is missing")
    if _is_loopback(settings.bind):
        return
    if not settings.url:
        raise SettingsError(f"bind is {settings.bind}, so url is needed: the address by which clients reach the server")
    if not settings.tls_cert and not settings.trusted_proxies:
        raise SettingsError(
            f"bind is {settings.bind}, and keys must not travel unencrypted: set tls.cert and tls.key, or "
            "trusted_proxies to the proxy that ends TLS"
        )
    if urlsplit(settings.url).scheme != "https":
        raise SettingsError("url must begin with https:// when bind is not this machine")


def _of_file(path: str) -> dict[str, object]:
    text = toml_file.read_text(path)
    if text is None:
        return {}
    file = toml_file.parse(path, text)
    by_name = {declared.name: declared for declared in DECLARED}
    for name in file.values:
        if name not in by_name:
            raise SettingsError(f"{file.place(name)}: there is no setting {name}; docs/server.md lists all")
    return {by_name[name].field: _parsed(by_name[name], value, file.place(name)) for name, value in file.values.items()}


def _of_variables(environ: Mapping[str, str]) -> dict[str, object]:
    by_variable = {declared.variable: declared for declared in DECLARED}
    files = {f"{variable}_FILE": each for variable, each in by_variable.items() if each.is_secret}
    others = {f"{_PREFIX}{name}{suffix}" for name in _OTHERS for suffix in ("", "_FILE")}
    chosen: dict[str, object] = {}
    for variable, value in environ.items():
        if not variable.startswith(_PREFIX) or variable in others:
            continue
        if variable in by_variable:
            chosen[by_variable[variable].field] = _parsed(by_variable[variable], value, variable)
        elif variable in files:
            declared = files[variable]
            chosen[declared.field] = _parsed(declared, _from_file(environ, variable), variable)
        else:
            raise SettingsError(f"{variable}: there is no such setting; docs/server.md lists all")
    return chosen


def _from_file(environ: Mapping[str, str], variable: str) -> str:
    """The content of the file that a variable names; empty without the variable."""
    path = environ.get(variable, "")
    if not path:
        return ""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_LARGEST_SECRET).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{variable}: the file cannot be read ({type(error).__name__})") from None


def _parsed(declared: Declared, value: object, place: str) -> object:
    try:
        return declared.parse(value)
    except ValueError as error:
        raise SettingsError(f"{place}: {declared.name} {error}") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")  # noqa: TRY004 - one kind of error says what a value must be
    return value


def _address(value: object) -> str:
    text = _text(value)
    if text != "localhost":
        try:
            ipaddress.ip_address(text)
        except ValueError:
            raise ValueError("must be an address such as 127.0.0.1, 0.0.0.0 or ::") from None
    return text


def _url(value: object) -> str:
    text = _text(value).rstrip("/")
    parts = urlsplit(text)
    if text and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.path or parts.query):
        raise ValueError("must be an address such as https://memory.example, without a path")
    return text


def _texts(value: object) -> tuple[str, ...]:
    listed = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(part, str) for part in listed):
        raise ValueError("must be a list of texts")
    return tuple(listed)


def _networks(value: object) -> tuple[str, ...]:
    networks = _texts(value)
    for network in networks:
        try:
            ipaddress.ip_network(network, strict=False)
        except ValueError:
            raise ValueError("must be a list of addresses or networks, such as 10.0.0.0/8") from None
    return networks


def _truth(value: object) -> bool:
    words = {"true": True, "false": False}
    found = words.get(value.lower()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - as above
    return found


def _between(least: int, most: int) -> Callable[[object], int]:
    def parse(value: object) -> int:
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return parse


def _is_loopback(address: str) -> bool:
    return address == "localhost" or ipaddress.ip_address(address).is_loopback


DECLARED = (
    Declared("bind", "bind", _address, "the address to listen on"),
    Declared("port", "port", _between(0, 65_535), "the port; 0 for any free one"),
    Declared("url", "url", _url, "the address by which clients reach the server; needed when `bind` is not loopback"),
    Declared("hosts", "hosts", _texts, "more names that requests may give in `Host`"),
    Declared("tls.cert", "tls_cert", _text, "file with the certificate chain; read again when it changes"),
    Declared("tls.key", "tls_key", _text, "file with the private key of the certificate"),
    Declared(
        "trusted_proxies", "trusted_proxies", _networks, "proxies whose `X-Forwarded-*` is believed, and who end TLS"
    ),
    Declared("database.url", "database_url", _text, "a PostgreSQL address; without it, SQLite is used", is_secret=True),
    Declared(
        "database.owner_url",
        "database_owner_url",
        _text,
        "the address for the tables' owner, for migrations only",
        is_secret=True,
    ),
    Declared("database.pool", "database_pool", _between(1, 200), "connections to PostgreSQL"),
    Declared("threads", "threads", _between(1, 256), "requests that are served at the same time"),
    Declared("limits.reads", "reads_per_minute", _between(0, 1_000_000), "reads a minute for each key; 0 for no limit"),
    Declared("limits.writes", "writes_per_minute", _between(0, 1_000_000), "writes a minute for each key"),
    Declared("model", "model", _truth, "whether searches use the installed embedding model"),
)
