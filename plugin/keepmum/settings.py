"""Every setting of Keepmum, and where its value came from.

Precedence: environment → the project's `.keepmum.toml` (the nearest one, walking up) → the user's
`<home>/config.toml` → default. The dataclasses below are the one list of settings: names, types, choices, places
and help are rendered from them, and a new setting is a new line.

A project file travels with a repository, so what a stranger could gain by it is closed here: it cannot carry a key,
name a server that the user did not approve, choose where memories are kept, or touch the scanner.
"""

from __future__ import annotations

import dataclasses
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NoReturn

from keepmum import credentials, routing, toml_file
from keepmum.errors import InvalidInput, SettingsError
from keepmum.folders import real_folder, upward
from keepmum.memory import SCOPES
from keepmum.setting import (
    PROJECT_FILE,
    USER_FILE,
    Setting,
    Value,
    declared,
    from_text,
    from_toml,
    nested_group,
    setting,
)
from keepmum_hooks import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.toml_edit import Scalar

__all__ = [
    "PROJECT_FILE_NAME",
    "SETTINGS",
    "Backend",
    "Briefing",
    "Capture",
    "Embedding",
    "Guard",
    "Retention",
    "Scanner",
    "Settings",
    "Store",
    "find_project_file",
    "is_approved",
    "is_everyones",
    "is_listed",
    "load",
    "origin_of",
    "project_name",
    "user_file",
    "write_user_setting",
]

PROJECT_FILE_NAME = ".keepmum.toml"
_ANYWHERE = (PROJECT_FILE, USER_FILE)
_DEFAULT = "default"
_DIALECTS = ("keepmum", "hackathon", "koi", "per-user", "shared", "token-saver")
_EVERY = ("KEEPMUM_CAPTURE_EVERY", "CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY")

# What the name of a key looks like. A project file with one is refused whole, rather than read without it: whoever
# wrote it there believes it to be in use, and has to learn that it lies in the repository.
_KEY = re.compile(r"key|token|secret|passw|credential|auth|bearer|header|cookie", re.IGNORECASE)
_SHOWABLE = re.compile(r"[A-Za-z_.-]{1,40}")  # a secret pasted in the wrong place has digits
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?/?", re.IGNORECASE)
_ORIGINS = "https://host[:port], or http://localhost[:port] for this machine, without user, password or path"
_NAME = re.compile(r"(?! )[^/:*\x00-\x1f\x7f]{1,100}(?<! )")


def project_name(text: str) -> str:
    """`text`, if it can name a project: so that no name can pass for the id of a repository or folder, or for "all".

    Raises: ValueError saying what is allowed.
    """
    if not _NAME.fullmatch(text):
        raise ValueError("a name of 1 to 100 characters without / : *")
    return text


def _person(text: str) -> str:
    if not 1 <= len(text) <= 100 or not text.isprintable():
        raise ValueError("a name of 1 to 100 printable characters")
    return text


def _origin(text: str) -> str:
    if not _ORIGIN.fullmatch(text):
        raise ValueError(_ORIGINS)
    origin = text.rstrip("/").lower()
    if origin.startswith("http:") and not credentials.is_loopback(origin):
        raise ValueError(_ORIGINS)
    return origin


def _absolute_path(text: str) -> str:
    path = os.path.expanduser(text)
    if "\0" in path or not os.path.isabs(path):
        raise ValueError("an absolute path, or one that begins with ~/")
    return os.path.normpath(path)


def _url(text: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
    except ValueError:  # a bracket without its other
        parts = urlsplit("")
    if not _ORIGIN.fullmatch(f"{parts.scheme}://{parts.netloc}") or parts.query or parts.fragment:
        raise ValueError("https://host[:port]/path or http://host[:port]/path, without user, password or query")
    return text.rstrip("/")


def _route(text: str) -> str:
    return ":".join(routing.parsed(text))


def _pattern(text: str) -> str:
    if not text.strip("*/~. ") or len(text) > 1000:
        raise ValueError("patterns of 1 to 1000 characters, which `*` alone is not")
    return text


@dataclass(frozen=True, slots=True)
class Capture:
    """When the agent is asked to record what it learnt."""

    enabled: bool = setting("Ask the agent, every few turns, to record what it learnt.", default=True, files=_ANYWHERE)
    every: int = setting(
        "Turns from one question to the next.", default=5, between=(1, 1000), files=_ANYWHERE, variables=_EVERY
    )
    unattended: bool = setting(
        "Ask in unattended runs too, where the reply replaces the answer.",
        default=False,
        variables=("KEEPMUM_CAPTURE_UNATTENDED",),
    )


@dataclass(frozen=True, slots=True)
class Briefing:
    """What a session is told at its start."""

    enabled: bool = setting("Tell each new session what is known of the project.", default=True, files=_ANYWHERE)
    tokens: int = setting("The most that the briefing may cost.", default=1000, between=(0, 1000), files=_ANYWHERE)


@dataclass(frozen=True, slots=True)
class Guard:
    """Which memories besides its own Keepmum keeps secrets out of; the hooks read these lines for themselves."""

    enabled: bool = setting("Keep secrets out of other servers' memories and out of memory files.", default=True)
    paths: tuple[str, ...] = setting(
        'More files to guard, such as "notes/**"; what a project adds, it adds to yours.',
        default=(),
        files=_ANYWHERE,
        check=_pattern,
    )
    tools: tuple[str, ...] = setting(
        'More tools to guard, such as "mcp__wiki__*"; what a project adds, it adds to yours.',
        default=(),
        files=_ANYWHERE,
        check=_pattern,
    )


@dataclass(frozen=True, slots=True)
class Retention:
    """How memories fade."""

    policy: str = setting(
        "How memories that nobody loads fade.", default="ebbinghaus", choices=("ebbinghaus", "linear", "none")
    )


@dataclass(frozen=True, slots=True)
class Store:
    """Where memories are kept."""

    path: str | None = setting(
        "The database; by default memory.db in Keepmum's home.", default=None, check=_absolute_path
    )


@dataclass(frozen=True, slots=True)
class Backend:
    """Which store is used, and which servers the user trusts."""

    kind: str = setting(
        "The kind of store; where it is not said, `rest` when a server is named, else `sqlite`.",
        default="sqlite",
        choices=routing.STORES,
        variables=("KEEPMUM_BACKEND",),
    )
    routes: tuple[str, ...] = setting(
        'Where new memories of a scope go, such as "project:markdown" and "shared:rest"; the others go to `kind`.',
        default=(),
        check=_route,
        variables=("KEEPMUM_ROUTES",),
    )
    origin: str | None = setting(
        "A team's server; a key for it is stored by `keepmum login`.",
        default=None,
        files=_ANYWHERE,
        check=_origin,
        variables=("MEMORY_API_BASE_URL", "MEMORY_API_URL", "SHARED_MEMORY_API_URL"),
    )
    approved: tuple[str, ...] = setting(
        "Servers that a project file or a variable may name, besides those with a stored key.",
        default=(),
        check=_origin,
    )
    ca_file: str | None = setting(
        "Certificates of authorities to trust besides the system's.", default=None, check=_absolute_path
    )
    v1_trailer: bool = setting(
        "Send what a server of the first API cannot hold (kind, key, why, …) at the end of the text.", default=False
    )


@dataclass(frozen=True, slots=True)
class Scanner:
    """What is asked beside the scanner; nothing weakens it."""

    second_opinion: bool = setting("Ask detect-secrets too, where it is installed.", default=False)
    plugins: tuple[str, ...] = setting(
        "Files with detect-secrets plugins of your own.", default=(), check=_absolute_path
    )


@dataclass(frozen=True, slots=True)
class Embedding:
    """What turns texts into vectors, for search by meaning.

    In the user's own file alone: whoever names a server here is sent every memory, and a repository can set variables
    through a client's settings.
    """

    provider: str = setting(
        'Who reads memories for search by meaning: the model on this machine, a server, or nobody ("none").',
        default="local",
        choices=("local", "openai-compatible", "none"),
    )
    url: str | None = setting(
        "The server's address up to /embeddings, such as https://host/v1.",
        default=None,
        check=_url,
    )
    model: str | None = setting("The server's name for the model.", default=None, check=_person)
    dimensions: int = setting(
        "The length of the server's vectors; 0 for as many as it sends.", default=0, between=(0, 16_384)
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The values that hold in one place, and where each of them came from."""

    enabled: bool = setting(
        "Keepmum as a whole; a project file may only switch it off.",
        default=True,
        files=_ANYWHERE,
        variables=("KEEPMUM_ENABLED",),
    )
    project: str | None = setting(
        "The project's name, where the repository is not to say it.",
        default=None,
        files=(PROJECT_FILE,),
        check=project_name,
        variables=("KEEPMUM_PROJECT", "DEFAULT_PROJECT"),
    )
    scope: str = setting(
        "Who sees a new memory unless it says so itself.",
        default="project",
        choices=SCOPES,
        files=_ANYWHERE,
        variables=("KEEPMUM_SCOPE",),
    )
    dialect: str = setting(
        "Under which names the tools are offered.",
        default="keepmum",
        choices=_DIALECTS,
        files=_ANYWHERE,
        variables=("KEEPMUM_DIALECT",),
    )
    agent: str | None = setting(
        "The name under which this agent's memories are kept.",
        default=None,
        check=_person,
        variables=("KEEPMUM_AGENT", "DEFAULT_AGENT"),
    )
    user: str | None = setting(
        "Keep this user's memories apart from everyone else's.",
        default=None,
        check=_person,
        variables=("KEEPMUM_USER",),
    )
    capture: Capture = field(default_factory=Capture)
    briefing: Briefing = field(default_factory=Briefing)
    guard: Guard = field(default_factory=Guard)
    retention: Retention = field(default_factory=Retention)
    store: Store = field(default_factory=Store)
    backend: Backend = field(default_factory=Backend)
    scanner: Scanner = field(default_factory=Scanner)
    embedding: Embedding = field(default_factory=Embedding)
    home: str | None = None  # the folder of Keepmum's state; None where the user has no home
    project_file: str | None = None  # the `.keepmum.toml` that was read
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)

    def value_of(self, name: str) -> Value:
        """The value of a setting by its dotted name, as `keepmum status` lists them.

        Raises: KeyError when there is no such setting.
        """
        value: Any = self
        for part in SETTINGS[name].name.split("."):
            value = getattr(value, part)
        found: Value = value
        return found

    def source_of(self, name: str) -> str:
        """Where the value of `name` came from: `<path>:<line>`, the name of a variable, or "default".

        Raises: KeyError when there is no such setting.
        """
        return self.sources.get(name, _DEFAULT) if name in SETTINGS else self.sources[name]


SETTINGS: Mapping[str, Setting] = MappingProxyType(declared(Settings))

_Found = dict[str, tuple[Value, str]]  # value and source by name


def load(environ: Mapping[str, str], start: str | None) -> Settings:
    """The settings that hold for a process with these variables, at work in the folder `start` (None: in no project).

    Raises: SettingsError naming file and line, or the variable, and what is allowed there.
    """
    home = places.home(environ)
    of_user = _from_user(user_file(home)) if home else {}
    project_file = find_project_file(start) if start else None
    of_project = _from_project(project_file, _approved(of_user), home) if project_file else {}
    found = {**of_user, **_unless_off(of_project, of_user), **_from_environment(environ)}
    if home and "store.path" not in found:
        found["store.path"] = (os.path.join(home, "memory.db"), _DEFAULT)
    loaded: Settings = dataclasses.replace(
        _built(Settings, "", found),
        home=home,
        project_file=project_file,
        sources=MappingProxyType({name: source for name, (_, source) in found.items()}),
    )
    return loaded


def user_file(home: str) -> str:
    """The file of the user's own settings."""
    return os.path.join(home, "config.toml")


def find_project_file(start: str) -> str | None:
    """The nearest `.keepmum.toml` at or above `start`.

    A folder where everyone may leave files, such as `/tmp`, is passed over: its settings would be anybody's.
    """
    for folder in upward(real_folder(start)):
        path = os.path.join(folder, PROJECT_FILE_NAME)
        if os.path.isfile(path) and not is_everyones(folder):
            return path
    return None


def origin_of(text: str) -> str:
    """`text` as the origin of a server: scheme, host and port.

    Raises: InvalidInput saying what is allowed; never with the text itself, which may hold a password.
    """
    try:
        return _origin(text.strip())
    except ValueError as allowed:
        raise InvalidInput("URL", f"must be {allowed}") from None


def is_approved(chosen: Settings, origin: str) -> bool:
    """Whether the user's own file says that `origin` may have what a variable holds for a server.

    What a project's file names may not: that key is for another server, as likely as not.
    """
    source = chosen.source_of("backend.origin")
    if chosen.home is not None and source.startswith(user_file(chosen.home)):
        return True
    of_user = _from_user(user_file(chosen.home)) if chosen.home else {}
    named_by_project = chosen.project_file is not None and source.startswith(chosen.project_file)
    return not named_by_project and origin in _approved(of_user)


def is_listed(chosen: Settings, origin: str) -> bool:
    """Whether the user's own file names `origin`, whoever chose it for this project."""
    return chosen.home is not None and origin in _approved(_from_user(user_file(chosen.home)))


def write_user_setting(home: str, name: str, value: Scalar) -> str:
    """Keep a setting in the user's own file, whose other lines stay as they are; gives the file's path.

    Raises: SettingsError when there is no such setting, the value is not allowed, or the file cannot be written.
    """
    from keepmum import toml_edit

    path = user_file(home)
    declaration = SETTINGS.get(name)
    if declaration is None:
        _refuse_unknown(path, name, USER_FILE)
    _checked(declaration, value, USER_FILE, path)
    text = toml_file.read_text(path) or ""
    toml_edit.replace_file(path, toml_edit.changed(path, text, name, value))
    return path


def _from_user(path: str) -> _Found:
    text = toml_file.read_text(path)
    return {} if text is None else _from_file(toml_file.parse(path, text), USER_FILE)


def _approved(of_user: _Found) -> tuple[str, ...]:
    """The servers that the user's own file names."""
    listed = of_user["backend.approved"][0] if "backend.approved" in of_user else ()
    own = of_user["backend.origin"][0] if "backend.origin" in of_user else None
    assert isinstance(listed, tuple)
    return (*listed, own) if isinstance(own, str) else listed


def _from_project(path: str, approved: tuple[str, ...], home: str | None) -> _Found:
    text = toml_file.read_text(path)
    if text is None:  # removed since it was found
        return {}
    file = toml_file.parse(path, text)
    found = _from_file(file, PROJECT_FILE)
    if found.get("enabled", (False, ""))[0]:
        raise SettingsError(f"{file.place('enabled')}: a project file may switch Keepmum off, never on")
    origin = found.get("backend.origin", (None, ""))[0]
    if origin is not None and origin not in approved and not (home and origin in credentials.origins(home)):
        raise SettingsError(
            f"{file.place('backend.origin')}: this server is not approved. If you trust it with this project's "
            f"memories, run `keepmum login {origin}`, or add it to `approved` under [backend] in your own config.toml"
        )
    return found


def _unless_off(of_project: _Found, of_user: _Found) -> _Found:
    """What a project file decides: it turns nothing on that the user turned off, and takes nothing from a list."""
    decided = {name: found for name, found in of_project.items() if found[0] is not True or name not in of_user}
    for name, (value, place) in decided.items():
        users = of_user[name][0] if name in of_user else None
        if isinstance(value, tuple) and isinstance(users, tuple):
            decided[name] = ((*users, *value), place)
    return decided


def _from_file(file: toml_file.TomlFile, kind: str) -> _Found:
    keys = [name for name, raw in file.values.items() if name not in SETTINGS and _may_be_key(name, raw)]
    if keys and kind == PROJECT_FILE:
        _refuse_key(file.place(keys[0]))
    found: _Found = {}
    for name, raw in file.values.items():
        place = file.place(name)
        declaration = SETTINGS.get(name)
        if declaration is not None:
            found[name] = (_checked(declaration, raw, kind, place), place)
        elif raw != {} or not any(known.startswith(f"{name}.") for known in SETTINGS):
            _refuse_unknown(place, name, kind, is_key=name in keys)
    return found


def _may_be_key(name: str, raw: object) -> bool:
    """Whether a value may be a key, or say how one is sent: by its name, and since no number or switch is one."""
    return _KEY.search(name) is not None and isinstance(raw, str | list | dict)


def _from_environment(environ: Mapping[str, str]) -> _Found:
    found: _Found = {}
    for name, declaration in SETTINGS.items():
        variable = next((variable for variable in declaration.variables if environ.get(variable, "").strip()), None)
        if variable is None:
            continue
        try:
            found[name] = (from_text(declaration, environ[variable]), variable)
        except ValueError as allowed:
            raise SettingsError(f"the variable {variable} must be {allowed}; it sets {name}") from None
    return found


def _checked(declaration: Setting, raw: object, kind: str, place: str) -> Value:
    if kind not in declaration.files:
        where = "your own config.toml" if kind == PROJECT_FILE else f"a project's {PROJECT_FILE_NAME}"
        raise SettingsError(f"{place}: {declaration.name} may not stand in this file; it may stand in {where}")
    try:
        return from_toml(declaration, raw)
    except ValueError as allowed:
        raise SettingsError(f"{place}: {declaration.name} must be {allowed}") from None


def _refuse_unknown(place: str, name: str, kind: str, *, is_key: bool = False) -> NoReturn:
    from difflib import get_close_matches

    known = [known for known, declaration in SETTINGS.items() if kind in declaration.files]
    near = get_close_matches(name, known, n=1) or [other for other in known if other.endswith(f".{name}")]
    shown = f"there is no setting `{name}`" if _SHOWABLE.fullmatch(name) else "there is no setting of that name"
    if is_key:
        shown += ", and this file holds no keys: `keepmum login URL` stores one, in credentials.toml"
    hint = f"did you mean `{near[0]}`?" if near else f"these may stand here: {', '.join(known)}"
    raise SettingsError(f"{place}: {shown}; {hint}")


def _refuse_key(place: str) -> NoReturn:
    raise SettingsError(
        f"{place}: a project file never carries a key or says how one is sent, since it travels with the "
        "repository. Remove the line, and if it held a real key, replace that key where it was issued"
    )


def _built(group: type, prefix: str, found: _Found) -> Any:
    """An instance of `group`, nested groups included, from the values found; what was not found has its default."""
    values: dict[str, object] = {}
    for item in dataclasses.fields(group):
        name = prefix + item.name
        if name in found:
            values[item.name] = found[name][0]
        elif (nested := nested_group(item)) is not None:
            values[item.name] = _built(nested, f"{name}.", found)
    return group(**values)


def is_everyones(folder: str) -> bool:
    """Whether everyone may leave files in `folder`, as in `/tmp`."""
    mode = os.stat(folder).st_mode
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)
