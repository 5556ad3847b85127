"""The settings that hold in one place, from variables, the project's file, the user's own and the defaults."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from keepmum.core.errors import SettingsError
from keepmum.workspace import credentials
from keepmum.workspace.settings import files
from keepmum.workspace.settings.declared import DEFAULT, SETTINGS, Settings
from keepmum.workspace.settings.files import Found
from keepmum.workspace.settings.setting import PROJECT_FILE, USER_FILE, from_text, nested_group
from keepmum_hooks import places

__all__ = ["is_approved", "is_listed", "load"]


def load(environ: Mapping[str, str], start: str | None) -> Settings:
    """The settings that hold for a process with these variables, at work in the folder `start` (None: in no project).

    Raises: SettingsError naming file and line, or the variable, and what is allowed there.
    """
    home = places.home(environ)
    of_user = files.found_in(files.user_file(home), USER_FILE) if home else {}
    named = _named(of_user)
    project_file = files.find_project_file(start) if start else None
    of_project = _from_project(project_file, named, home) if project_file else {}
    found = {**of_user, **_unless_off(of_project, of_user), **_from_environment(environ)}
    if home and "store.path" not in found:
        found["store.path"] = (os.path.join(home, "memory.db"), DEFAULT)
    loaded: Settings = dataclasses.replace(
        _built(Settings, "", found),
        home=home,
        project_file=project_file,
        named=named,
        sources=MappingProxyType({name: source for name, (_, source) in found.items()}),
    )
    return loaded


def is_approved(chosen: Settings, origin: str) -> bool:
    """Whether the user's own file says that `origin` may have what a variable holds for a server.

    What a project's file names may not: that key is for another server, as likely as not.
    """
    source = chosen.source_of("backend.origin")
    named_by_project = chosen.project_file is not None and source.startswith(chosen.project_file)
    return not named_by_project and is_listed(chosen, origin)


def is_listed(chosen: Settings, origin: str) -> bool:
    """Whether the user's own file names `origin`, whoever chose it for this project."""
    return origin in chosen.named


def _named(of_user: Found) -> tuple[str, ...]:
    """The servers that the user's own file names."""
    listed = of_user["backend.approved"][0] if "backend.approved" in of_user else ()
    own = of_user["backend.origin"][0] if "backend.origin" in of_user else None
    assert isinstance(listed, tuple)
    return (*listed, own) if isinstance(own, str) else listed


def _from_project(path: str, named: tuple[str, ...], home: str | None) -> Found:
    """What a project's file says, which a stranger may have written.

    Raises: SettingsError where it reaches beyond the project.
    """
    found = files.found_in(path, PROJECT_FILE)
    switched, where = found.get("enabled", (False, ""))
    if switched:
        raise SettingsError(f"{where}: a project file may switch Keepmum off, never on")
    origin, where = found.get("backend.origin", (None, ""))
    if origin is not None and origin not in named and not (home and origin in credentials.origins(home)):
        raise SettingsError(
            f"{where}: this server is not approved. If you trust it with this project's "
            f"memories, run `keepmum login {origin}`, or add it to `approved` under [backend] in your own config.toml"
        )
    return found


def _unless_off(of_project: Found, of_user: Found) -> Found:
    """What a project file decides: it turns nothing on that the user turned off, and takes nothing from a list."""
    decided = {name: found for name, found in of_project.items() if found[0] is not True or name not in of_user}
    for name, (value, place) in decided.items():
        users = of_user[name][0] if name in of_user else None
        if isinstance(value, tuple) and isinstance(users, tuple):
            decided[name] = ((*users, *value), place)
    return decided


def _from_environment(environ: Mapping[str, str]) -> Found:
    found: Found = {}
    for name, declaration in SETTINGS.items():
        variable = next((variable for variable in declaration.variables if environ.get(variable, "").strip()), None)
        if variable is None:
            continue
        try:
            found[name] = (from_text(declaration, environ[variable]), variable)
        except ValueError as allowed:
            raise SettingsError(f"the variable {variable} must be {allowed}; it sets {name}") from None
    return found


def _built(group: type, prefix: str, found: Found) -> Any:
    """An instance of `group`, nested groups included, from the values found; what was not found has its default."""
    values: dict[str, object] = {}
    for item in dataclasses.fields(group):
        name = prefix + item.name
        if name in found:
            values[item.name] = found[name][0]
        elif (nested := nested_group(item)) is not None:
            values[item.name] = _built(nested, f"{name}.", found)
    return group(**values)
