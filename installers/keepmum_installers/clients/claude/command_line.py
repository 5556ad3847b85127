"""What the `claude` command reports about itself and our plugin."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence

from keepmum.system import private_files
from keepmum_installers import files
from keepmum_installers.clients.checks import json_list
from keepmum_installers.clients.claude.settings import settings_folder
from keepmum_installers.locking import locked
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.source import Source

__all__ = ["WHOLE_SINCE", "call", "entries", "known_source", "program", "version"]

WHOLE_SINCE = (2, 1, 163)
"""The first version that passes a Stop hook's additionalContext to the model without showing it as a problem."""
# Source: https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md, read 2026-11-21

_SECONDS = 20
_NEXT = "Run `claude update`, then try again."


def program(machine: Machine) -> str | None:
    """The path of `claude`: on PATH, else where the client's own installer puts it; None when it is in neither."""
    usual = (os.path.join(machine.user_home, *names, "claude") for names in ((".local", "bin"), (".claude", "local")))
    return machine.find("claude") or next((path for path in usual if os.access(path, os.X_OK)), None)


def call(claude: str, arguments: Sequence[str], seconds: float, machine: Machine) -> Outcome:
    """The outcome of a command of the client, which sends no telemetry and leaves the user's `~/.claude.json` as it is.

    Each start of the client writes that file, which a session may be writing too. So the command gets a state file of
    its own, inside the settings folder, which is where the client looks when that folder is named by a variable.
    """
    if machine.environ.get("CLAUDE_CONFIG_DIR"):  # there the user's own state file is in that folder
        return machine.run((claude, *arguments), seconds, _QUIET)
    folder = settings_folder(machine)
    with _own_state(folder) as is_there:
        environ = {**_QUIET, "CLAUDE_CONFIG_DIR": folder} if is_there else _QUIET
        return machine.run((claude, *arguments), seconds, environ)


_QUIET = {"DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1"}
_OWN_STATE = b'{"keepmum": "the state of one command of the installer"}'


@contextlib.contextmanager
def _own_state(folder: str) -> Iterator[bool]:
    """A state file in the folder while the block runs; False when it cannot be created there.

    The client's backups of state files stay as they were.
    """
    state, backups = os.path.join(folder, ".claude.json"), os.path.join(folder, "backups")
    missing = [*private_files.missing_folders(folder), *([] if os.path.isdir(backups) else [backups])]
    if not os.access(os.path.dirname(missing[0]) if missing else folder, os.W_OK):
        yield False
        return
    files.private_folder(folder)
    try:
        with locked(folder):
            if _is_foreign(state):
                yield True
                return
            before = _contents(backups)
            with open(state, "wb", opener=_private) as file:
                file.write(_OWN_STATE)
            try:
                yield True
            finally:
                _unlink(state)
                _restore(backups, before)
    finally:
        for path in reversed(missing):
            with contextlib.suppress(OSError):  # it has files
                os.rmdir(path)


def _restore(backups: str, before: dict[str, bytes]) -> None:
    """Remove the backups of our state file, and put those back that they displaced: the client keeps the newest."""
    after = _contents(backups)
    for path in after.keys() - before.keys():
        if _OWN_STATE[:10] in after[path]:
            _unlink(path)
    for path in before.keys() - after.keys():
        files.write(path, before[path])


def _contents(folder: str) -> dict[str, bytes]:
    """The content of each file in the folder, by path; empty when there is no such folder."""
    try:
        paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return {}
    return {path: files.read(path) or b"" for path in paths if os.path.isfile(path)}


def _is_foreign(state: str) -> bool:
    """Whether there is a state file that no earlier run of ours left behind."""
    content = files.read(state)
    return content is not None and _OWN_STATE[:10] not in content


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _listed(claude: str, command: str, machine: Machine) -> list[dict[str, object]]:
    return json_list(f"claude {command}", call(claude, command.split(), _SECONDS, machine), _NEXT)


def version(claude: str, machine: Machine) -> tuple[int, ...] | None:
    """The client's version; None when it does not report one."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", call(claude, ("--version",), _SECONDS, machine).out)
    return tuple(map(int, found.groups())) if found else None


def known_source(claude: str, machine: Machine) -> Source | None:
    """The source that the client has for our marketplace; None when it has none."""
    for entry in _listed(claude, "plugin marketplace list --json", machine):
        kind, where = entry.get("source"), entry.get("path") or entry.get("url") or entry.get("repo")
        if entry.get("name") == MARKETPLACE and isinstance(where, str):
            if kind == "directory":
                return Source("directory", os.path.realpath(where))
            return Source("github", where) if kind == "github" else Source("git", where)
    return None


def entries(claude: str, machine: Machine) -> list[dict[str, object]]:
    """The client's entries of plugins with our name, one per scope."""
    name = PLUGIN.partition("@")[0] + "@"
    entries = _listed(claude, "plugin list --json", machine)
    return [entry for entry in entries if str(entry.get("id", "")).startswith(name)]
