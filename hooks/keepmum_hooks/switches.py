"""The settings that a hook needs, each from the first place that says it.

In order: environment, the session's off marker, the project's `.keepmum.toml`, the user's `config.toml`, default.

A project file comes with a cloned repository, so it can switch off, set the interval and add to what is guarded, and
nothing else: it turns nothing on that the user turned off, it does not speak in runs that nobody watches, and it
does not switch the guard off, be it with everything else.
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

__all__ = ["Switches", "read"]

ENABLED: Path = ("enabled",)
CAPTURE: Path = ("capture", "enabled")
EVERY: Path = ("capture", "every")
UNATTENDED: Path = ("capture", "unattended")
BRIEFING: Path = ("briefing", "enabled")
GUARD: Path = ("guard", "enabled")
GUARD_PATHS: Path = ("guard", "paths")
GUARD_TOOLS: Path = ("guard", "tools")
DIALECT: Path = ("dialect",)
_LISTS = (GUARD_PATHS, GUARD_TOOLS)
_ALL = (ENABLED, CAPTURE, EVERY, UNATTENDED, BRIEFING, GUARD, DIALECT, *_LISTS)
_OFF_BY_PROJECT = (ENABLED, CAPTURE, BRIEFING)

_VARIABLES = (
    ("KEEPMUM_ENABLED", ENABLED),
    ("KEEPMUM_CAPTURE_UNATTENDED", UNATTENDED),
    # The second is how Claude Code hands on what the user chose in the plugin's own settings.
    ("KEEPMUM_CAPTURE_EVERY", EVERY),
    ("CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY", EVERY),
)
_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_FILE_LIMIT = 256 << 10  # bytes
_MOST_PATTERNS = 200  # in a file; a hostile one must not cost the hook its time
_BOM = b"\xef\xbb\xbf"


class Switches:
    """Whether hooks may act, and how often they remind; a value."""

    __slots__ = (
        "briefing",
        "capture",
        "dialect",
        "enabled",
        "every",
        "guard",
        "guard_paths",
        "guard_tools",
        "unattended",
    )

    def __init__(  # noqa: PLR0913 - one value with many facts; a dataclass would triple the hook's time
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
        dialect: str = "",
    ) -> None:
        self.enabled = enabled  # False: no output, no counting, no briefing
        self.capture = capture  # False: no reminders, no counting
        self.every = every  # turns from one reminder to the next
        self.unattended = unattended  # whether to remind where no person reads the answer
        self.briefing = briefing  # False: a session starts without one
        self.guard = guard  # False: other memories are not guarded
        self.guard_paths = guard_paths  # patterns of files that are guarded besides the known ones
        self.guard_tools = guard_tools  # patterns of tools, likewise
        self.dialect = dialect  # the name of a set of tools, unchecked; the server reads it here before it can import


def read(home: str | None, session: str, cwd: str, environ: Mapping[str, str]) -> Switches:
    """The switches that hold for a session in the folder `cwd`; without a home, what is said elsewhere."""
    is_off = home is not None and system.exists(places.off_marker(home, session))
    first = (_from_environment(environ), {ENABLED: False} if is_off else {})
    project = _from_project(cwd)
    user = (_from_file(f"{home}/config.toml") if home is not None else None) or {}
    layers = (*first, project, user)
    return Switches(
        enabled=bool(_first(layers, ENABLED, default=True)),
        capture=bool(_first(layers, CAPTURE, default=True)),
        every=int(_first(layers, EVERY, default=5)),  # type: ignore[arg-type]  # `_fitting` lets nothing but numbers pass
        unattended=bool(_first(layers, UNATTENDED, default=False)),
        briefing=bool(_first(layers, BRIEFING, default=True)),
        guard=bool(_first((*first, user), ENABLED, default=True) and user.get(GUARD, True)),
        guard_paths=_all(layers, GUARD_PATHS),
        guard_tools=_all(layers, GUARD_TOOLS),
        dialect=str(_first(layers, DIALECT, default="")),
    )


def _first(layers: Iterable[Mapping[Path, Value]], path: Path, *, default: Value) -> Value:
    for layer in layers:
        if path in layer:
            return layer[path]
    return default


def _all(layers: Iterable[Mapping[Path, Value]], path: Path) -> tuple[str, ...]:
    """What every layer adds to a list."""
    found: list[str] = []
    for layer in layers:
        added = layer.get(path)
        found += added if isinstance(added, tuple) else ()
    return tuple(found)


def _from_environment(environ: Mapping[str, str]) -> dict[Path, Value]:
    layer: dict[Path, Value] = {}
    for name, path in _VARIABLES:
        text = environ.get(name, "").strip().lower()
        value = _fitting(path, _number(text) if path is EVERY else _WORDS.get(text))
        if value is not None:
            layer.setdefault(path, value)
    return layer


def _from_project(cwd: str) -> dict[Path, Value]:
    """What the nearest project file at or above the folder may decide; in a folder like `/tmp` it is anybody's."""
    for folder in system.ancestors(system.real_path(cwd)) if cwd else ():
        layer = _from_file(f"{folder}/.keepmum.toml")
        if layer is not None and not system.is_everyones(folder):
            return {path: value for path, value in layer.items() if _may_come_from_project(path, value)}
    return {}


def _may_come_from_project(path: Path, value: Value) -> bool:
    return path in (EVERY, DIALECT) or path in _LISTS or (value is False and path in _OFF_BY_PROJECT)


def _from_file(path: str) -> dict[Path, Value] | None:
    """The switches in a TOML file, or None where there is no file; what does not fit is left to the next layer."""
    raw = files.read(path, _FILE_LIMIT, follow=True)
    if raw is None:
        return None
    text = raw.removeprefix(_BOM).decode("utf-8", "replace")
    from keepmum_hooks import toml_lines

    lines = toml_lines.read(text)
    values: Mapping[Path, object] = lines.values
    if not all(lines.knows(path) for path in _ALL) and sys.version_info >= (3, 11):
        values = _parsed(text) or values
    found = ((path, _fitting(path, values.get(path))) for path in _ALL)
    return {path: value for path, value in found if value is not None}


def _parsed(text: str) -> dict[Path, object] | None:
    """The switches as the full parser reads them, or None when the file is no TOML."""
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


def _fitting(path: Path, value: object) -> Value | None:
    """The value, if it is one that the switch can have."""
    if path in _LISTS:
        return _patterns(value) if isinstance(value, (list, tuple)) else None
    if path is DIALECT:
        return value if isinstance(value, str) else None
    if isinstance(value, bool):
        return None if path is EVERY else value
    return value if path is EVERY and isinstance(value, int) and 1 <= value <= 1000 else None


def _patterns(values: Iterable[object]) -> tuple[str, ...]:
    """The texts among the values that can be patterns; an empty one would fit nothing, or everything."""
    fit = [value for value in values if isinstance(value, str) and value.strip("*/~. ") and len(value) <= 1000]
    return tuple(fit[:_MOST_PATTERNS])
