"""Switching Keepmum off and on: for everything, for a project, or for one session of a client.

What is switched off is off: hooks say nothing and count nothing, and the server offers no tools.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping

from keepmum import application, private_files, settings, toml_edit, toml_file
from keepmum.errors import SettingsError
from keepmum_hooks import places

__all__ = ["SWITCHES"]

_SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"


def _everywhere(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - the position of a switch
    """Switch for this user; gives the file that now says so."""
    return settings.write_user_setting(_home(environ), "enabled", enabled)


def _project(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - as above
    """Switch for the project of the working folder, for everyone who has its `.keepmum.toml`.

    Such a file can switch off and never on, so that switching on takes the line out of it again.
    """
    root = application.survey(environ)[1].root
    path = settings.find_project_file(root) or os.path.join(root, settings.PROJECT_FILE_NAME)
    text = toml_file.read_text(path) or ""
    if enabled:
        line = toml_file.parse(path, text).lines.get("enabled")
        lines = text.splitlines(keepends=True)
        text = "".join(lines[: line - 1] + lines[line:]) if line else text
    else:
        text = toml_edit.changed(path, text, "enabled", value=False)
    toml_edit.replace_file(path, text)
    return path


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
