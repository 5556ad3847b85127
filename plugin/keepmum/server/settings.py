"""The settings of the server: `server.toml`, variables `KEEPMUM_SERVER_*`, and files that hold secrets."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast
from urllib.parse import SplitResult, urlsplit

from keepmum.core.errors import SettingsError
from keepmum.server.edge.proxies import is_loopback
from keepmum.server.people.oidc.claims import Target, parse_target
from keepmum.workspace import toml_edit, toml_file

__all__ = ["DECLARED", "Declared", "ServerSettings", "load", "state_folder", "store_value"]

_PREFIX = "KEEPMUM_SERVER_"
_WEB = ("http://", "https://")
_LARGEST_SECRET = 64 * 1024  # bytes of a file
_LARGEST = 10**15  # of a quota
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}(:[0-9]{1,5})?")
_OIDC = "oidc."
_MAP = "oidc.map."  # what the names of its entries begin with
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
    database_key: str = ""
    database_collection: str = "shared_agent_memory"  # as that server names it
    threads: int = 16
    reads_per_minute: int = 600
    writes_per_minute: int = 120
    most_memories: int = 0
    most_bytes: int = 0
    most_project_memories: int = 0
    most_project_bytes: int = 0
    model: bool = True
    backups: str = ""
    oidc_issuer: str = ""
    oidc_hosts: tuple[str, ...] = ()
    oidc_audience: tuple[str, ...] = ()
    oidc_name_claim: str = "preferred_username"
    oidc_roles_claim: str = ""
    oidc_projects_claim: str = ""
    oidc_map: Mapping[str, Target] = MappingProxyType({})
    oidc_scopes: tuple[str, ...] = ()
    oidc_client_id: str = ""
    oidc_client_secret: str = ""
    oidc_private: bool = False
    api_keys: str = ""

    @property
    def database_file(self) -> str:
        """The SQLite file of everything; with Qdrant, of everything but the memories."""
        return os.path.join(self.home, "memory.db")

    @property
    def engine(self) -> Literal["sqlite", "postgres", "qdrant"]:
        """What keeps the memories."""
        if not self.database_url:
            return "sqlite"
        return "qdrant" if self.database_url.startswith(_WEB) else "postgres"

    @property
    def backup_folder(self) -> str:
        """Where backups are made, and looked for before an upgrade."""
        return self.backups or os.path.join(self.home, "backups")


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
    _check_oidc(settings)
    if is_loopback(settings.bind):
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


def _check_oidc(settings: ServerSettings) -> None:
    """Check what the settings of the identity provider say about each other.

    Raises: SettingsError.
    """
    if not settings.oidc_issuer:
        defaults = ServerSettings._field_defaults
        for each in DECLARED:
            if each.name.startswith(_OIDC) and getattr(settings, each.field) != defaults[each.field]:
                raise SettingsError(f"{each.name} is set, and oidc.issuer is not; set it to your identity provider")
        return
    if not settings.oidc_roles_claim or not settings.oidc_map:
        raise SettingsError("oidc.issuer needs oidc.roles_claim and oidc.map; without them nobody there has a role")
    if not settings.oidc_audience and not settings.url:
        raise SettingsError("oidc.issuer needs url or oidc.audience: for whom the access tokens must be")
    if settings.oidc_client_secret and not settings.oidc_client_id:
        raise SettingsError("oidc.client_secret needs oidc.client_id")


def _of_file(path: str) -> dict[str, object]:
    text = toml_file.read_text(path)
    if text is None:
        return {}
    file = toml_file.parse(path, text)
    by_name = {declared.name: declared for declared in DECLARED}
    chosen: dict[str, object] = {}
    for name, value in file.values.items():
        if name.startswith(_MAP):
            part = name.removeprefix(_MAP)
            part = part[1:-1] if part.startswith('"') and "." in part else part  # as `toml_file` writes a key with dots
            entry = cast("dict[str, Target]", _parsed(by_name[_MAP[:-1]], {part: value}, file.place(name)))
            chosen["oidc_map"] = {**cast("dict[str, Target]", chosen.get("oidc_map", {})), **entry}
        elif name in by_name:
            chosen[by_name[name].field] = _parsed(by_name[name], value, file.place(name))
        else:
            raise SettingsError(f"{file.place(name)}: there is no setting {name}; docs/server.md lists all")
    return chosen


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
    parts = _split(text)
    if text and (parts.scheme not in {"http", "https"} or parts.geturl() != f"{parts.scheme}://{parts.netloc}"):
        raise ValueError("must be an address such as https://memory.example, without a path")
    return text


def _split(url: str) -> SplitResult:
    """The parts of an address; all are empty when it has spaces, a user, no host, or a port that does not exist."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        if parts.hostname and parts.port != 0 and "@" not in parts.netloc and url.isprintable() and " " not in url:
            return parts
    return urlsplit("")


def _database(value: object) -> str:
    text = _text(value)
    if not text.startswith(_WEB):
        return text
    if "@" in text:
        raise ValueError("must not hold a user or a key; database.key holds the key of Qdrant")
    return _url(text)


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


def _issuer(value: object) -> str:
    text = _text(value)
    parts = _split(text)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if text and (not is_safe or parts.query or parts.fragment):
        raise ValueError("must be an address such as https://id.example, exactly as your identity provider names it")
    return text


def _hosts(value: object) -> tuple[str, ...]:
    """Names of hosts, each with its port where that is not the usual one."""
    hosts = _texts(value)
    if not all(_HOST.fullmatch(host) and _split(f"//{host}").netloc for host in hosts):
        raise ValueError("must be a list of hosts such as www.id.example or id.example:8443")
    return hosts


def _claim_map(value: object) -> dict[str, Target]:
    """What values of claims stand for, from a table, or from JSON in a variable."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError('must be a JSON object such as {"developers": "writer"}') from None
    if not isinstance(value, Mapping):
        raise ValueError("must be a table of values and what they stand for")  # noqa: TRY004 - as in `_text`
    return {str(claim): parse_target(_text(target)) for claim, target in value.items()}


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


DECLARED = (
    Declared("bind", "bind", _address, "the address to listen on; `::` is every address, of IPv4 too"),
    Declared("port", "port", _between(0, 65_535), "the port; 0 for any free one"),
    Declared("url", "url", _url, "the address by which clients reach the server; needed when `bind` is not loopback"),
    Declared("hosts", "hosts", _texts, "more names that requests may give in `Host`"),
    Declared("tls.cert", "tls_cert", _text, "file with the certificate chain; read again when it changes"),
    Declared("tls.key", "tls_key", _text, "file with the private key of the certificate"),
    Declared(
        "trusted_proxies",
        "trusted_proxies",
        _networks,
        "proxies that end TLS, whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed",
    ),
    Declared(
        "database.url",
        "database_url",
        _database,
        "the address of PostgreSQL, or of Qdrant such as http://localhost:6333; without it, SQLite is used",
        is_secret=True,
    ),
    Declared(
        "database.owner_url",
        "database_owner_url",
        _text,
        "the address for the tables' owner, for migrations only",
        is_secret=True,
    ),
    Declared("database.pool", "database_pool", _between(1, 200), "connections to PostgreSQL"),
    Declared("database.key", "database_key", _text, "the key of Qdrant, if it wants one", is_secret=True),
    Declared("database.collection", "database_collection", _text, "the collection of Qdrant"),
    Declared("threads", "threads", _between(1, 256), "requests that are served at the same time"),
    Declared("limits.reads", "reads_per_minute", _between(0, 1_000_000), "reads a minute for each key; 0 for no limit"),
    Declared("limits.writes", "writes_per_minute", _between(0, 1_000_000), "writes a minute for each key"),
    Declared(
        "limits.memories", "most_memories", _between(0, _LARGEST), "memories of all projects together; 0 for no limit"
    ),
    Declared("limits.bytes", "most_bytes", _between(0, _LARGEST), "bytes of their titles, texts, reasons and data"),
    Declared("limits.project_memories", "most_project_memories", _between(0, _LARGEST), "memories of each project"),
    Declared("limits.project_bytes", "most_project_bytes", _between(0, _LARGEST), "bytes of each project"),
    Declared("oidc.issuer", "oidc_issuer", _issuer, "your identity provider, as it names itself"),
    Declared("oidc.hosts", "oidc_hosts", _hosts, "further hosts where its keys and sign-in may be"),
    Declared("oidc.audience", "oidc_audience", _texts, "for whom access tokens must be; default: `url` and `url`/mcp"),
    Declared("oidc.name_claim", "oidc_name_claim", _text, "the claim with a person's name; without it, `sub`"),
    Declared("oidc.roles_claim", "oidc_roles_claim", _text, "the claim with roles or groups"),
    Declared(
        "oidc.projects_claim", "oidc_projects_claim", _text, "the claim with projects, to which roles are limited"
    ),
    Declared("oidc.map", "oidc_map", _claim_map, "what values of these claims stand for"),
    Declared("oidc.scopes", "oidc_scopes", _texts, "the scopes for which clients of `/mcp` should ask"),
    Declared(
        "oidc.client_id", "oidc_client_id", _text, "this server at the identity provider, to sign in to the dashboard"
    ),
    Declared("oidc.client_secret", "oidc_client_secret", _text, "its secret there, if it has one", is_secret=True),
    Declared("oidc.private", "oidc_private", _truth, "whether the provider's name may stand for a private address"),
    Declared("model", "model", _truth, "whether searches use the installed embedding model"),
    Declared("backups", "backups", _text, "folder of backups; default: `backups` in the folder of the server"),
)
