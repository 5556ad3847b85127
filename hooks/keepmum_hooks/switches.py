"""The settings that a hook needs, each from the first source that contains it.

The order is: environment, the session's off marker, the project's `.keepmum.toml`, the user's `config.toml`, default.

A project file comes with a cloned repository, so it may only switch features off, set the interval, choose the dialect
and add guarded names. It cannot switch on what the user switched off, and cannot enable prompts in unattended runs.

The guard has one switch, the user's `config.toml`: a project can set variables through a client's settings, and an
agent can switch its own session off.
"""

from __future__ import annotations

import sys

from keepmum_hooks import files, places, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Union

    Path = tuple[str, ...]
    Value = Union[bool, int, str, tuple[str, ...]]

__all__ = ["Switches", "disables_guard", "read"]

ENABLED: Path = ("enabled",)
CAPTURE: Path = ("capture", "enabled")
EVERY: Path = ("capture", "every")
UNATTENDED: Path = ("capture", "unattended")
BRIEFING: Path = ("briefing", "enabled")
GUARD: Path = ("guard", "enabled")
GUARD_PATHS: Path = ("guard", "paths")
GUARD_TOOLS: Path = ("guard", "tools")
GUARD_SERVERS: Path = ("guard", "servers")
DIALECT: Path = ("dialect",)
_LISTS = (GUARD_PATHS, GUARD_TOOLS, GUARD_SERVERS)
_ALL = (ENABLED, CAPTURE, EVERY, UNATTENDED, BRIEFING, GUARD, DIALECT, *_LISTS)
_OFF_BY_PROJECT = (ENABLED, CAPTURE, BRIEFING)

_VARIABLES = (
    ("KEEPMUM_ENABLED", ENABLED),
    ("KEEPMUM_CAPTURE_UNATTENDED", UNATTENDED),
    # Claude Code sets the second from the plugin's settings that the user chose.
    ("KEEPMUM_CAPTURE_EVERY", EVERY),
    ("CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY", EVERY),
)
_BOOLEANS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_FILE_LIMIT = 256 << 10  # bytes
_LONGEST_LINE = 1000  # characters; a dotted name of 40,000 costs the parser 15 s
_MOST_PATTERNS = 200  # in one file; a hostile file must not use up the hook's time
_BOM = b"\xef\xbb\xbf"


class Switches:
    """Which features are on, and their parameters; a value."""

    __slots__ = (
        "briefing",
        "capture",
        "dialect",
        "enabled",
        "every",
        "guard",
        "guard_paths",
        "guard_servers",
        "guard_tools",
        "unattended",
    )

    def __init__(  # noqa: PLR0913 - a value with many fields; importing dataclasses would triple the hook's run time
        self,
        *,
        enabled: bool,
        capture: bool,
        every: int,
        unattended: bool,
        briefing: bool,
        guard: bool = True,
        guard_paths: tuple[str, ...] = (),
        guard_tools: tuple[str, ...] = (),
        guard_servers: tuple[str, ...] = (),
        dialect: str = "",
    ) -> None:
        self.enabled = enabled  # False: no output, no counting, no briefing
        self.capture = capture  # False: no capture prompts, no counting
        self.every = every  # turns from one capture prompt to the next
        self.unattended = unattended  # whether to prompt where no person reads the answer
        self.briefing = briefing  # False: sessions start without a briefing
        self.guard = guard  # False: the guard allows everything
        self.guard_paths = guard_paths  # patterns of additional files that are guarded
        self.guard_tools = guard_tools  # patterns of additional tools that are guarded
        self.guard_servers = guard_servers  # names of additional servers whose tools are all guarded
        self.dialect = dialect  # the name of a set of tools, not validated; read by the server at its start


def read(home: str | None, session: str, cwd: str, environ: Mapping[str, str]) -> Switches:
    """The settings of a session in the folder `cwd`; `home` is None when the user has no home."""
    is_off = home is not None and system.exists(places.off_marker(home, session))
    first = (_from_environment(environ), {ENABLED: False} if is_off else {})
    project = _from_project(cwd)
    user = (_from_file(f"{home}/config.toml") if home is not None else None) or {}
    layers = (*first, project, user)
    return Switches(
        enabled=bool(_first(layers, ENABLED, default=True)),
        capture=bool(_first(layers, CAPTURE, default=True)),
        every=int(_first(layers, EVERY, default=5)),  # type: ignore[arg-type]  # `_valid` returns only numbers
        unattended=bool(_first(layers, UNATTENDED, default=False)),
        briefing=bool(_first(layers, BRIEFING, default=True)),
        guard=bool(user.get(ENABLED, True) and user.get(GUARD, True)),
        guard_paths=_all(layers, GUARD_PATHS),
        guard_tools=_all(layers, GUARD_TOOLS),
        guard_servers=_all(layers, GUARD_SERVERS),
        dialect=environ.get("KEEPMUM_DIALECT") or str(_first(layers, DIALECT, default="")),
    )


def _first(layers: Iterable[Mapping[Path, Value]], path: Path, *, default: Value) -> Value:
    for layer in layers:
        if path in layer:
            return layer[path]
    return default


def _all(layers: Iterable[Mapping[Path, Value]], path: Path) -> tuple[str, ...]:
    """The items of a list from all layers."""
    found: list[str] = []
    for layer in layers:
        added = layer.get(path)
        found += added if isinstance(added, tuple) else ()
    return tuple(found)


def _from_environment(environ: Mapping[str, str]) -> dict[Path, Value]:
    layer: dict[Path, Value] = {}
    for name, path in _VARIABLES:
        text = environ.get(name, "").strip().lower()
        value = _valid(path, _number(text) if path is EVERY else _BOOLEANS.get(text))
        if value is not None:
            layer.setdefault(path, value)
    return layer


def _from_project(cwd: str) -> dict[Path, Value]:
    """The permitted settings of the nearest project file in `cwd` or above; none if others may have written it."""
    for folder in system.ancestors(system.real_path(cwd)) if cwd else ():
        layer = _from_file(f"{folder}/.keepmum.toml")
        if layer is not None and not system.is_shared(folder):
            return {path: value for path, value in layer.items() if _is_permitted_in_project(path, value)}
    return {}


def _is_permitted_in_project(path: Path, value: Value) -> bool:
    return path in (EVERY, DIALECT) or path in _LISTS or (value is False and path in _OFF_BY_PROJECT)


def _from_file(path: str) -> dict[Path, Value] | None:
    """The valid settings in a TOML file, or None when there is no file."""
    raw = files.read(path, _FILE_LIMIT, follow=True)
    if raw is None:
        return None
    return _from_text(raw.removeprefix(_BOM).decode("utf-8", "replace"))


def disables_guard(text: str) -> bool:
    """Whether a user's `config.toml` with this text switches the guard off."""
    layer = _from_text(text)
    return not (layer.get(ENABLED, True) and layer.get(GUARD, True))


def _from_text(text: str) -> dict[Path, Value]:
    from keepmum_hooks import toml_lines

    lines = toml_lines.read(text)
    values: Mapping[Path, object] = lines.values
    if not all(lines.knows(path) for path in _ALL) and sys.version_info >= (3, 11):
        values = _parsed(text) or values
    found = ((path, _valid(path, values.get(path))) for path in _ALL)
    return {path: value for path, value in found if value is not None}


def _parsed(text: str) -> dict[Path, object] | None:
    """The settings as the full parser reads them, or None when the file is not TOML or has an enormous line."""
    if max(map(len, text.split("\n"))) > _LONGEST_LINE:
        return None
    import tomllib

    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
    return {path: _at(document, path) for path in _ALL}


def _at(document: object, path: Path) -> object:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= 4 else None


def _valid(path: Path, value: object) -> Value | None:
    """The value if it is valid for this setting, else None."""
    if path in _LISTS:
        return _patterns(value) if isinstance(value, (list, tuple)) else None
    if path is DIALECT:
        return value if isinstance(value, str) else None
    if isinstance(value, bool):
        return None if path is EVERY else value
    return value if path is EVERY and isinstance(value, int) and 1 <= value <= 1000 else None


def _patterns(values: Iterable[object]) -> tuple[str, ...]:
    """The strings that can be patterns; one without letters would match nothing, or everything."""
    fit = [value for value in values if isinstance(value, str) and value.strip("*/~. ") and len(value) <= 1000]
    return tuple(fit[:_MOST_PATTERNS])
