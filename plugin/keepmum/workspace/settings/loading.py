"""Loads the settings from variables, the project's file, the user's file and the defaults, and writes the user's file.

Neither file contains keys (see `keepmum.workspace.credentials`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NoReturn, TypeVar

from keepmum.core.errors import SettingsError
from keepmum.system.folders import is_world_writable, real_folder, upward
from keepmum.workspace import credentials, toml_file
from keepmum.workspace.settings.declared import DEFAULT, SETTINGS, Settings
from keepmum.workspace.settings.setting import (
    PROJECT_FILE,
    USER_FILE,
    Setting,
    Value,
    from_text,
    from_toml,
    nested_group,
)
from keepmum_hooks import places, toml_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.workspace.toml_edit import Scalar

__all__ = [
    "PROJECT_FILE_NAME",
    "find_project_file",
    "is_approved",
    "load",
    "unset_user_setting",
    "write_user_setting",
]

PROJECT_FILE_NAME = ".keepmum.toml"
# Names that suggest a key. A project file with such a line is refused as a whole, not read without it: its author
# believes the key to be in use, and must learn that it is in the repository.
_KEY = re.compile(r"key|token|secret|passw|credential|auth|bearer|header|cookie", re.IGNORECASE)
_HINTS = 5  # in one file: finding the closest name takes a millisecond, and a stranger may have written the file
_SHOWABLE = re.compile(r"[A-Za-z_.-]{1,40}")  # no digits, since the text may be a secret pasted into the wrong place

_Values = dict[str, tuple[Value, str]]  # value and source by the name of the setting
_Group = TypeVar("_Group")
_Report = Callable[[SettingsError], object]


def load(environ: Mapping[str, str], start: str | None, *, lenient: bool = False) -> Settings:
    """The settings for a process with these variables in the working folder `start`; None for outside any project.

    With `lenient`, what is wrong in the project's file is left out and listed in `problems`: that file comes with any
    clone, and must not keep its user from their memories.

    Raises: SettingsError naming the file and line, or the variable, and the allowed values.
    """
    problems: list[str] = []
    report = (lambda error: problems.append(str(error))) if lenient else _raise
    home = places.home(environ)
    user = _read(_user_file(home), USER_FILE) if home else {}
    trusted = _trusted_servers(user)
    project_file = find_project_file(start) if start else None
    project = _read_project(project_file, trusted, home, report) if project_file else {}
    found = {**user, **_restricted(project, user), **_read_environment(environ)}
    if home and "store.path" not in found:
        found["store.path"] = (os.path.join(home, "memory.db"), DEFAULT)
    return dataclasses.replace(
        _build(Settings, "", found),
        home=home,
        project_file=project_file,
        named=trusted,
        problems=tuple(problems),
        sources=MappingProxyType({name: source for name, (_, source) in found.items()}),
    )


def is_approved(chosen: Settings, origin: str) -> bool:
    """Whether the key in a variable may be sent to `origin`: the user's file names it, and no project chose it.

    The key in a variable is most likely for another server than the one that a project's file names.
    """
    source = chosen.source_of("backend.origin")
    named_by_project = chosen.project_file is not None and source.startswith(chosen.project_file)
    return not named_by_project and origin in chosen.named


def _user_file(home: str) -> str:
    """The path of the user's settings file."""
    return os.path.join(home, "config.toml")


def find_project_file(start: str) -> str | None:
    """The nearest `.keepmum.toml` at or above `start`.

    World-writable folders such as `/tmp` are skipped, since anyone could have written the file.
    """
    for folder in upward(real_folder(start)):
        path = os.path.join(folder, PROJECT_FILE_NAME)
        if os.path.isfile(path) and not is_world_writable(folder):
            return path
    return None


def write_user_setting(home: str, name: str, value: Scalar) -> str:
    """Write one setting to the user's file without changing its other lines; returns the path of the file.

    Raises: SettingsError when the name or the value is invalid, or the file cannot be written.
    """
    from keepmum.workspace import toml_edit

    path = _user_file(home)
    declaration = SETTINGS.get(name)
    if declaration is None:
        _refuse_unknown(path, name, USER_FILE)
    _check(declaration, value, USER_FILE, path)
    text = toml_file.read_text(path) or ""
    toml_file.write_text(path, toml_edit.changed(path, text, name, value))
    return path


def unset_user_setting(home: str, name: str) -> str:
    """Remove one setting from the user's file, if it is there, and the file if nothing is left; returns its path.

    Raises: SettingsError when the file is invalid or cannot be written.
    """
    from keepmum.workspace import toml_edit

    path = _user_file(home)
    toml_edit.unset(path, name)
    return path


def _raise(error: SettingsError) -> None:
    raise error


def _read(path: str, kind: str, report: _Report = _raise) -> _Values:
    """The values in the user's or a project's file; none when it does not exist.

    `report` is called with each SettingsError, which names the file, the line and the allowed values.
    """
    text = ""
    try:
        read = toml_file.read_text(path)
        if read is None:
            return {}
        text = read
        file = toml_file.parse(path, text)
    except SettingsError as error:
        report(error)
        return _readable(path, text)
    keys = [name for name, raw in file.values.items() if name not in SETTINGS and _may_be_key(name, raw)]
    if keys and kind == PROJECT_FILE:
        report(
            SettingsError(
                f"{file.place(keys[0])}: a project file must not contain a key or an authentication header, since it "
                "is shared with the repository. Remove the line, and if it held a real key, revoke that key"
            )
        )
    found: _Values = {}
    faults = 0
    for name, raw in file.values.items():
        if name in keys and kind == PROJECT_FILE:
            continue
        place = file.place(name)
        declaration = SETTINGS.get(name)
        try:
            if declaration is not None:
                found[name] = (_check(declaration, raw, kind, place), place)
            elif raw != {} or not any(known.startswith(f"{name}.") for known in SETTINGS):
                _refuse_unknown(place, name, kind, is_key=name in keys, with_hint=faults < _HINTS)
        except SettingsError as error:
            faults += 1
            report(error)
    return found


def _readable(path: str, text: str) -> _Values:
    """From a file that is not TOML, what decides where memories belong and whether any are stored."""
    lines = toml_lines.read(text).values
    found: _Values = {}
    for name in ("project", "enabled"):
        with contextlib.suppress(SettingsError):
            if (raw := lines.get((name,))) is not None:
                found[name] = (_check(SETTINGS[name], raw, PROJECT_FILE, path), path)
    return found


def _read_project(path: str, trusted: tuple[str, ...], home: str | None, report: _Report) -> _Values:
    """The values in a project's file, which a stranger may have written.

    Raises: SettingsError when it names a server that the user did not approve, since only the user can decide where
        its memories go. Other errors, such as switching Keepmum on, are reported.
    """
    found = _read(path, PROJECT_FILE, report)
    enabled, where = found.get("enabled", (False, ""))
    if enabled:
        report(SettingsError(f"{where}: a project file may switch Keepmum off, never on"))
        del found["enabled"]
    origin, where = found.get("backend.origin", (None, ""))
    if origin is not None and origin not in trusted and not (home and origin in credentials.origins(home)):
        raise SettingsError(
            f"{where}: this server is not approved. If you trust it with this project's "
            f"memories, run `keepmum login {origin}`, or add it to `approved` under [backend] in your own config.toml"
        )
    return found


def _read_environment(environ: Mapping[str, str]) -> _Values:
    found: _Values = {}
    for name, declaration in SETTINGS.items():
        variable = next((variable for variable in declaration.variables if environ.get(variable, "").strip()), None)
        if variable is None:
            continue
        try:
            found[name] = (from_text(declaration, environ[variable]), variable)
        except ValueError as allowed:
            raise SettingsError(f"the variable {variable} must be {allowed}; it sets {name}") from None
    return found


def _trusted_servers(user: _Values) -> tuple[str, ...]:
    """The servers that the user's own file names."""
    listed = user["backend.approved"][0] if "backend.approved" in user else ()
    own = user["backend.origin"][0] if "backend.origin" in user else None
    assert isinstance(listed, tuple)
    return (*listed, own) if isinstance(own, str) else listed


def _restricted(project: _Values, user: _Values) -> _Values:
    """The project's values that apply: it cannot switch on what the user switched off, and lists only grow."""
    applied = {name: found for name, found in project.items() if found[0] is not True or name not in user}
    for name, (value, place) in applied.items():
        users = user[name][0] if name in user else None
        if isinstance(value, tuple) and isinstance(users, tuple):
            applied[name] = ((*users, *value), place)
    return applied


def _build(group: type[_Group], prefix: str, found: _Values) -> _Group:
    """An instance of `group` and its nested groups with the values found; the others have their defaults."""
    values: dict[str, object] = {}
    for item in dataclasses.fields(group):  # type: ignore[arg-type]  # every group is a dataclass
        name = prefix + item.name
        if name in found:
            values[item.name] = found[name][0]
        elif (nested := nested_group(item)) is not None:
            values[item.name] = _build(nested, f"{name}.", found)
    return group(**values)


def _may_be_key(name: str, raw: object) -> bool:
    """Whether a value may be a key or an authentication header: by its name; numbers and booleans are none."""
    return _KEY.search(name) is not None and isinstance(raw, str | list | dict)


def _check(declaration: Setting, raw: object, kind: str, place: str) -> Value:
    if kind not in declaration.files:
        where = "your own config.toml" if kind == PROJECT_FILE else f"a project's {PROJECT_FILE_NAME}"
        raise SettingsError(f"{place}: {declaration.name} is not allowed in this file, only in {where}")
    try:
        return from_toml(declaration, raw)
    except ValueError as allowed:
        raise SettingsError(f"{place}: {declaration.name} must be {allowed}") from None


def _refuse_unknown(place: str, name: str, kind: str, *, is_key: bool = False, with_hint: bool = True) -> NoReturn:
    if not with_hint:
        raise SettingsError(f"{place}: there is no setting of that name")
    from difflib import get_close_matches

    known = [known for known, declaration in SETTINGS.items() if kind in declaration.files]
    near = get_close_matches(name, known, n=1) or [other for other in known if other.endswith(f".{name}")]
    shown = f"there is no setting `{name}`" if _SHOWABLE.fullmatch(name) else "there is no setting of that name"
    if is_key:
        shown += ", and this file holds no keys: `keepmum login URL` stores one, in credentials.toml"
    hint = f"did you mean `{near[0]}`?" if near else f"the settings are: {', '.join(known)}"
    raise SettingsError(f"{place}: {shown}; {hint}")
