"""The two files that settings stand in: where they are, what they say, and one value of the user's own changed.

Keys stand in neither (see `keepmum.workspace.credentials`).
"""

from __future__ import annotations

import os
import re
from typing import NoReturn

from keepmum.core.errors import SettingsError
from keepmum.system.folders import is_world_writable, real_folder, upward
from keepmum.workspace import toml_file
from keepmum.workspace.settings.declared import SETTINGS
from keepmum.workspace.settings.setting import PROJECT_FILE, USER_FILE, Setting, Value, from_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.workspace.toml_edit import Scalar

__all__ = [
    "PROJECT_FILE_NAME",
    "Found",
    "find_project_file",
    "found_in",
    "user_file",
    "write_user_setting",
]

Found = dict[str, tuple[Value, str]]  # value and source by name
PROJECT_FILE_NAME = ".keepmum.toml"

# What the name of a key looks like. A project file with one is refused whole, rather than read without it: whoever
# wrote it there believes it to be in use, and has to learn that it lies in the repository.
_KEY = re.compile(r"key|token|secret|passw|credential|auth|bearer|header|cookie", re.IGNORECASE)
_SHOWABLE = re.compile(r"[A-Za-z_.-]{1,40}")  # a secret pasted in the wrong place has digits


def user_file(home: str) -> str:
    """The file of the user's own settings."""
    return os.path.join(home, "config.toml")


def find_project_file(start: str) -> str | None:
    """The nearest `.keepmum.toml` at or above `start`.

    A folder where everyone may leave files, such as `/tmp`, is passed over: its settings would be anybody's.
    """
    for folder in upward(real_folder(start)):
        path = os.path.join(folder, PROJECT_FILE_NAME)
        if os.path.isfile(path) and not is_world_writable(folder):
            return path
    return None


def found_in(path: str, kind: str) -> Found:
    """What the file at `path` sets, of the user or of a project; nothing where there is none.

    Raises: SettingsError naming file and line, and what is allowed there.
    """
    text = toml_file.read_text(path)
    if text is None:
        return {}
    file = toml_file.parse(path, text)
    keys = [name for name, raw in file.values.items() if name not in SETTINGS and _may_be_key(name, raw)]
    if keys and kind == PROJECT_FILE:
        _refuse_key(file.place(keys[0]))
    found: Found = {}
    for name, raw in file.values.items():
        place = file.place(name)
        declaration = SETTINGS.get(name)
        if declaration is not None:
            found[name] = (_checked(declaration, raw, kind, place), place)
        elif raw != {} or not any(known.startswith(f"{name}.") for known in SETTINGS):
            _refuse_unknown(place, name, kind, is_key=name in keys)
    return found


def write_user_setting(home: str, name: str, value: Scalar) -> str:
    """Keep a setting in the user's own file, whose other lines stay as they are; gives the file's path.

    Raises: SettingsError when there is no such setting, the value is not allowed, or the file cannot be written.
    """
    from keepmum.workspace import toml_edit

    path = user_file(home)
    declaration = SETTINGS.get(name)
    if declaration is None:
        _refuse_unknown(path, name, USER_FILE)
    _checked(declaration, value, USER_FILE, path)
    text = toml_file.read_text(path) or ""
    toml_file.write_text(path, toml_edit.changed(path, text, name, value))
    return path


def _may_be_key(name: str, raw: object) -> bool:
    """Whether a value may be a key, or say how one is sent: by its name, and since no number or switch is one."""
    return _KEY.search(name) is not None and isinstance(raw, str | list | dict)


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
