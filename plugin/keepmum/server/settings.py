"""The settings of the server: `server.toml`, variables `KEEPMUM_SERVER_*`, and files of secrets."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from keepmum.core.errors import SettingsError
from keepmum.workspace import toml_file

__all__ = ["DECLARED", "Declared", "ServerSettings", "load", "state_folder"]

_PREFIX = "KEEPMUM_SERVER_"
_LARGEST_SECRET = 64 * 1024  # bytes of a file


class ServerSettings(NamedTuple):
    """Every setting with its value; names of tables are part of the names."""

    home: str  # the folder of the server's state
    bind: str = "127.0.0.1"
    port: int = 3100
    url: str = ""
    database_url: str = ""
    database_pool: int = 8
    threads: int = 16
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
    is_secret: bool = False

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return _PREFIX + self.name.replace(".", "_").upper()


def state_folder(keepmum_home: str) -> str:
    """The folder of the server's state."""
    return os.path.join(keepmum_home, "server")


def load(keepmum_home: str, environ: Mapping[str, str], given: Mapping[str, object] | None = None) -> ServerSettings:
    """The settings: what is `given` on the command line, then variables, then the file, then the defaults.

    Raises: SettingsError when a setting is unknown or invalid; the message names its place, and no secret.
    """
    home = state_folder(keepmum_home)
    chosen: dict[str, object] = {}
    path = os.path.join(home, "server.toml")
    text = toml_file.read_text(path)
    if text is not None:
        file = toml_file.parse(path, text)
        for name, value in file.values.items():
            declared = next((each for each in DECLARED if each.name == name), None)
            if declared is None:
                raise SettingsError(f"{file.place(name)}: there is no setting {name}; docs/server.md lists all")
            chosen[declared.field] = _parsed(declared, value, file.place(name))
    for declared in DECLARED:
        variable = declared.variable
        if variable in environ:
            chosen[declared.field] = _parsed(declared, environ[variable], variable)
        elif declared.is_secret and environ.get(f"{variable}_FILE"):
            chosen[declared.field] = _parsed(
                declared, _secret_in(environ[f"{variable}_FILE"], f"{variable}_FILE"), variable
            )
    known = {each.variable for each in DECLARED} | {f"{each.variable}_FILE" for each in DECLARED if each.is_secret}
    known.add(f"{_PREFIX}SECRET")
    known.add(f"{_PREFIX}SECRET_FILE")
    for name in environ:
        if name.startswith(_PREFIX) and name not in known:
            raise SettingsError(f"{name}: there is no such setting; docs/server.md lists all")
    chosen["api_keys"] = environ.get("API_KEYS", "") or (
        _secret_in(environ["API_KEYS_FILE"], "API_KEYS_FILE") if environ.get("API_KEYS_FILE") else ""
    )
    return ServerSettings(home=home, **{**chosen, **(given or {})})  # type: ignore[arg-type]  # parsed by field


def _parsed(declared: Declared, value: object, place: str) -> object:
    try:
        return declared.parse(value)
    except ValueError as error:
        raise SettingsError(f"{place}: {declared.name} {error}") from None


def _secret_in(path: str, variable: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_LARGEST_SECRET).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{variable}: the file cannot be read ({type(error).__name__})") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")  # noqa: TRY004 - one kind of error says what a value must be
    return value


def _between(least: int, most: int) -> Callable[[object], int]:
    def parse(value: object) -> int:
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return parse


DECLARED = (
    Declared("bind", "bind", _text, "the address to listen on"),
    Declared("port", "port", _between(0, 65_535), "the port; 0 for any free one"),
    Declared("url", "url", _text, "the address by which clients reach the server"),
    Declared("database.url", "database_url", _text, "a PostgreSQL address; without it SQLite is used", is_secret=True),
    Declared("database.pool", "database_pool", _between(1, 200), "connections to PostgreSQL"),
    Declared("threads", "threads", _between(1, 256), "requests that are served at the same time"),
)
