"""Switching Keepmum off and on: for everything, for a project, or for one session of a client.

What is switched off is off: hooks say nothing and count nothing, and the server offers no tools.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping

from keepmum import application, private_files, settings
from keepmum.errors import SettingsError
from keepmum_hooks import places

__all__ = ["SWITCHES"]

_SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"


def _everywhere(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - the position of a switch
    """Switch for this user; gives the file that now says so."""
    return settings.write_user_setting(_home(environ), "enabled", enabled)


def _project(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - as above
    """Switch for the project of the working folder, for everyone who has its `.keepmum.toml`."""
    root = application.find_project(environ).root
    return settings.write_project_setting(root, "enabled", None if enabled else False)


def _session(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - as above
    """Switch for the client's session that this command runs in."""
    session = environ.get(_SESSION_VARIABLE)
    if not session:
        raise SettingsError(
            "no session to switch: run this from inside a client's session, or start the client with KEEPMUM_ENABLED=0"
        )
    marker = places.off_marker(_home(environ), session)
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
