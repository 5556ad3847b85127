"""Determines the settings, project, kind of store, server and key of a session."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from keepmum.system.folders import is_inside, real_folder, upward, user_home
from keepmum.workspace import credentials, project, settings
from keepmum.workspace.git.repository import find_repository
from keepmum_hooks import places

__all__ = [
    "Workspace",
    "backend_kind",
    "is_users_server",
    "key_for",
    "left_out",
    "resolve",
    "resolve_folder",
    "server_of",
]

_NAMING_VARIABLES = frozenset(
    {"KEEPMUM_PROJECT", "DEFAULT_PROJECT", "CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "COPILOT_AGENT_SESSION_ID"}
)
_DEFAULT_ORIGIN = "http://localhost:3100"  # where servers of the first API listen


class Workspace(NamedTuple):
    """The settings and the project of a session."""

    settings: settings.Settings
    project: project.Project


def resolve(environ: Mapping[str, str], roots: Sequence[str] | None = None, session: str = "") -> Workspace:
    """The settings and the project that apply in the working folder.

    Args:
        environ: the variables of the process.
        roots: the folders that the client reports, since clients start servers in unrelated folders; None for a
            person in a terminal, where the working folder counts.
        session: the client's session id; a note by the SessionStart hook contains the folder of that session.

    Raises: SettingsError, but not for a project file that is wrong: see `problems` of the settings.
    """
    start = real_folder(os.curdir)
    candidates = (start,) if roots is None else (*_noted_folder(environ, session, roots), *roots)
    chosen = settings.load(environ, project.working_folder(start, environ, candidates), lenient=True)
    return Workspace(chosen, project.find_project(start, environ, chosen, candidates))


def resolve_folder(environ: Mapping[str, str], folder: str, known: Collection[str] = ()) -> Workspace:
    """The settings and the project of a folder, not of the working folder; variables that name a project are ignored.

    Sessions in a folder without a repository belong to that folder, and so does what is below it: of a folder in no
    repository, the nearest of the `known` roots of projects above it decides.

    Raises: SettingsError.
    """
    others = {name: value for name, value in environ.items() if name not in _NAMING_VARIABLES}
    start = real_folder(folder)
    if find_repository(start) is None and settings.find_project_file(start) is None:
        home = real_folder(user_home(environ) or os.sep)
        above = (each for each in upward(start) if each in known and each != home)
        start = next(above, start)
    chosen = settings.load(others, start, lenient=True)
    return Workspace(chosen, project.find_project(start, others, chosen, (start,)))


def left_out(chosen: settings.Settings) -> str:
    """What is wrong in the project's file, in a sentence for the user; empty when nothing is."""
    if not chosen.problems:
        return ""
    others = len(chosen.problems) - 1
    more = f" (and {others} more like this)" if others else ""
    return f"{chosen.problems[0]}{more}. Until that is fixed, it has no effect; the other settings apply"


def backend_kind(chosen: settings.Settings) -> str:
    """The configured kind of store; "rest" when only a server is configured."""
    is_set = chosen.source_of("backend.kind") != "default"
    return chosen.backend.kind if is_set or chosen.backend.origin is None else "rest"


def key_for(chosen: settings.Settings, environ: Mapping[str, str], origin: str) -> credentials.Key | None:
    """The key that may be sent to a server; None when there is none for it.

    Raises: SettingsError when the credentials file is invalid.
    """
    approved, listed = settings.is_approved(chosen, origin), origin in chosen.named
    return credentials.find(chosen.home, environ, origin, approved=approved, listed=listed)


def is_users_server(chosen: settings.Settings, origin: str) -> bool:
    """Whether the user chose a server: in their own settings, or by storing a key for it.

    Raises: SettingsError when the credentials file is invalid.
    """
    return origin in chosen.named or (chosen.home is not None and origin in credentials.origins(chosen.home))


def server_of(chosen: settings.Settings, environ: Mapping[str, str]) -> credentials.Server:
    """The configured server, with the key that may be sent to it.

    Raises: SettingsError when the credentials file is invalid.
    """
    origin = chosen.backend.origin or _DEFAULT_ORIGIN
    key = key_for(chosen, environ, origin)
    return credentials.Server(
        origin,
        key.secret if key else None,
        no_key="" if key else f"there is no key for {origin}; the user can store one by `keepmum login {origin}`",
        ca_file=chosen.backend.ca_file,
    )


def _noted_folder(environ: Mapping[str, str], session: str, roots: Sequence[str]) -> tuple[str, ...]:
    """The folder in the session's note; empty when the client has since moved to folders outside it."""
    home = places.home(environ)
    if home is None or not session:
        return ()
    try:
        with open(places.session_note(home, session), encoding="utf-8") as file:
            folder = json.load(file).get("cwd")
    except (OSError, ValueError, AttributeError):
        return ()
    if not isinstance(folder, str) or not os.path.isdir(folder):
        return ()
    is_current = not roots or any(is_inside(real_folder(folder), real_folder(root)) for root in roots)
    return (folder,) if is_current else ()
