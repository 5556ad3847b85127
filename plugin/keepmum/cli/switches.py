"""`keepmum on` and `off`: for everything, for a project, or for one session of a client.

While Keepmum is off, hooks print and count nothing, and the server offers no tools. The guard follows only the switch
for everything, which is in the user's `config.toml`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Mapping

from keepmum.cli import console
from keepmum.core.errors import KeepmumError, SettingsError
from keepmum.system import private_files
from keepmum.system.folders import is_world_writable, user_home
from keepmum.workspace import allowlist, settings, toml_edit, toml_file
from keepmum.workspace.resolve import resolve
from keepmum_hooks import places

__all__ = ["SWITCHES", "overruled_by", "register"]

_SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
_STRONGEST = "KEEPMUM_ENABLED"


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    for word in ("off", "on"):
        switch = commands.add_parser(word)
        where = switch.add_mutually_exclusive_group()
        where.add_argument("--project", action="store_true", help="for this project, in its .keepmum.toml")
        where.add_argument("--session", action="store_true", help="for the session of the client that runs this")
        switch.set_defaults(run=_switch, enabled=word == "on")


def _switch(arguments: argparse.Namespace) -> int:
    where = "session" if arguments.session else "project" if arguments.project else "everywhere"
    word = "on" if arguments.enabled else "off"
    if where == "everywhere" and not arguments.enabled:
        _refuse_agent(os.environ)
    place = SWITCHES[where](os.environ, arguments.enabled)
    console.out(f"Keepmum is switched {word} ({where}: {place}).")
    overruled = overruled_by(os.environ, arguments.enabled)
    if overruled:
        console.err(f"this has no effect here yet: {overruled} overrides it")
    if not arguments.enabled and where != "everywhere":
        console.err("the guard for other memories stays on; only your own config.toml can disable it")
    console.err("hooks follow at once; the tools appear or disappear with the client's next session")
    return 0


def _refuse_agent(environ: Mapping[str, str]) -> None:
    """Check that no agent switches everything off, which also disables the guard.

    Raises: KeepmumError in a client's session.
    """
    session = allowlist.session_of(environ)
    if session:
        raise KeepmumError(
            f"nothing was changed: this is a client's session ({session} is set), and only a person at their own "
            "terminal disables the guard; `keepmum off --session` switches everything else off for this session"
        )


def overruled_by(environ: Mapping[str, str], enabled: bool) -> str | None:  # noqa: FBT001 - the state of the switch
    """What overrides the switch here: a file and line, a variable, or the session; None when nothing does.

    Raises: SettingsError when a settings file is invalid.
    """
    chosen = resolve(environ).settings
    source = chosen.source_of("enabled")
    session, home = environ.get(_SESSION_VARIABLE), places.home(environ)
    # Same precedence as in the hooks: only the variable overrides the session's switch.
    if session and home and source != _STRONGEST and os.path.exists(places.off_marker(home, session)):
        return "this session" if enabled else None
    return None if chosen.enabled is enabled else source


def _everywhere(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - the state of the switch
    """Switch for this user; return the file. Without a line in it, Keepmum is on."""
    home = console.state_home(environ)
    if enabled:
        return settings.unset_user_setting(home, "enabled")
    return settings.write_user_setting(home, "enabled", enabled)


def _project(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - as above
    """Switch for everyone who has the project's `.keepmum.toml`; return that file.

    A project file can only switch off, so switching on removes the line, and the file if nothing else is in it.
    """
    path = _project_file(environ)
    if enabled:
        toml_edit.unset(path, "enabled")
    else:
        text = toml_file.read_text(path)
        toml_file.write_text(path, toml_edit.changed(path, text or "", "enabled", value=False))
    return path


def _project_file(environ: Mapping[str, str]) -> str:
    """The settings file of this project only: the one in effect if it is inside the project, else one at its root.

    Raises: SettingsError when a file there would apply to several projects, or to none.
    """
    chosen, found = resolve(environ)
    root = found.root
    home = user_home(environ) or os.sep
    if root in {os.path.dirname(root), os.path.realpath(home)} or is_world_writable(root):
        raise SettingsError(f"{root} is not a project folder; change to one, or omit --project to switch everywhere")
    in_effect = chosen.project_file
    if in_effect is not None and in_effect.startswith(root + os.sep):
        return in_effect
    return os.path.join(root, settings.PROJECT_FILE_NAME)


def _session(environ: Mapping[str, str], enabled: bool) -> str:  # noqa: FBT001 - as above
    """Switch for the client session that runs this command; return its id."""
    session = environ.get(_SESSION_VARIABLE)
    home = console.state_home(environ)
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


SWITCHES: Mapping[str, Callable[[Mapping[str, str], bool], str]] = {
    "everywhere": _everywhere,
    "project": _project,
    "session": _session,
}
