"""Switching Keepmum off and on: for everything, for a project, or for one session of a client.

What is switched off is off: hooks say nothing and count nothing, and the server offers no tools.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping

from keepmum.core.errors import SettingsError
from keepmum.system import private_files
from keepmum.system.folders import is_world_writable, user_home
from keepmum.workspace import settings, toml_edit, toml_file
from keepmum.workspace.resolve import resolve
from keepmum_hooks import places

__all__ = ["SWITCHES", "overruled_by"]

_SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
_STRONGEST = "KEEPMUM_ENABLED"


def overruled_by(environ: Mapping[str, str], enabled: bool) -> str | None:  # noqa: FBT001 - the position of a switch
    """What keeps a switch from having an effect here: a file and line, a variable, or the session; None when nothing.

    Raises: SettingsError when a file is wrong.
    """
    chosen = resolve(environ).settings
    source = chosen.source_of("enabled")
    session, home = environ.get(_SESSION_VARIABLE), places.home(environ)
    # As the hooks read it: only a variable is stronger than the session's own switch.
    if session and home and source != _STRONGEST and os.path.exists(places.off_marker(home, session)):
        return "this session" if enabled else None
    return None if chosen.enabled is enabled else source


def _everywhere(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - the position of a switch
    """Switch for this user; gives the file that now says so."""
    return settings.write_user_setting(_home(environ), "enabled", enabled)


def _project(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - as above
    """Switch for the project of the working folder, for everyone who has its `.keepmum.toml`; gives that file.

    Such a file can switch off and never on, so that switching on takes the line out of it again, and takes the file
    away that held nothing else.
    """
    path = _project_file(environ)
    text = toml_file.read_text(path)
    if not enabled:
        toml_file.write_text(path, toml_edit.changed(path, text or "", "enabled", value=False))
    elif text:
        rest = toml_edit.without(path, text, "enabled")
        if not rest:
            toml_edit.remove_file(path)
        elif rest != text:
            toml_file.write_text(path, rest)
    return path


def _project_file(environ: Mapping[str, str]) -> str:
    """The file of this project alone: the one that holds here if it lies in the project, else one at its top.

    Raises: SettingsError where a file would hold for more than one project, or for none.
    """
    chosen, found = resolve(environ)
    root = found.root
    home = user_home(environ) or os.sep
    if root in {os.path.dirname(root), os.path.realpath(home)} or is_world_writable(root):
        raise SettingsError(f"{root} is no project's folder; go to one, or switch everywhere: leave --project out")
    holds = chosen.project_file
    if holds is not None and holds.startswith(root + os.sep):
        return holds
    return os.path.join(root, settings.PROJECT_FILE_NAME)


def _session(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - as above
    """Switch for the client's session that this command runs in."""
    session = environ.get(_SESSION_VARIABLE)
    home = _home(environ)
    if not session:
        raise SettingsError(
            "no session to switch: run this from inside a client's session, or start the client with KEEPMUM_ENABLED=0"
        )
    marker = places.off_marker(home, session)
    if enabled:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(marker)
    else:
        private_files.replace_file(marker, "")
    return session


def _home(environ: Mapping[str, str]) -> str:
    home = places.home(environ)
    if home is None:
        raise SettingsError("there is no home folder to keep the setting in; set HOME, or KEEPMUM_HOME to a folder")
    return home


SWITCHES: Mapping[str, Callable[[Mapping[str, str], bool], str]] = {
    "everywhere": _everywhere,
    "project": _project,
    "session": _session,
}
