"""The paths of the state that hooks and server share.

    <home>/state/briefings/<hash of a root>.md      what SessionStart prints, rendered in advance by the server
    <home>/state/sessions/<session>.turns           one line per Stop
    <home>/state/sessions/<session>.json            the session's note: its working folder, whether it got a briefing
    <home>/state/sessions/<session>.off             exists while Keepmum is switched off for the session
    <home>/state/heartbeat/<client>.<event>         its modification time is the last run of that hook
    <home>/cache/modules/                           the guard's module caches

No other module builds these paths.
"""

from __future__ import annotations

import sys

from keepmum_hooks.home import find
from keepmum_hooks.system import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "briefing_file",
    "briefings_folder",
    "heartbeat_file",
    "home",
    "module_cache_folder",
    "off_marker",
    "plain_name",
    "session_note",
    "sessions_folder",
    "turns_file",
]

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_LONGEST_PLAIN = 80

# Windows opens a device when a file has one of these names, with any extension.
# Source: https://github.com/MicrosoftDocs/win32/blob/docs/desktop-src/FileIO/naming-a-file.md, read 2026-11-21
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in "123456789"))
)


def home(environ: Mapping[str, str] | None = None) -> str | None:
    """The folder of all of Keepmum's state, or None when the user has no home; see `keepmum_hooks.home.find`."""
    if environ is None:
        import os

        environ = os.environ
    return find(environ)


def briefings_folder(home: str) -> str:
    """The folder of all rendered briefings."""
    return f"{home}/state/briefings"


def briefing_file(home: str, root: str) -> str:
    """The briefing of the project whose root folder is `root`.

    Symbolic links are resolved, and case is folded where the platform ignores it, because server and hook may use
    different names for the folder. A linked worktree has its own root, and so its own briefing.
    """
    return f"{briefings_folder(home)}/{_digest(real_path(root))}.md"


def sessions_folder(home: str) -> str:
    """The folder of the files that belong to single sessions."""
    return f"{home}/state/sessions"


def turns_file(home: str, session: str) -> str:
    """The log of the session's Stop events."""
    return _session_file(home, session, ".turns")


def session_note(home: str, session: str) -> str:
    """The session's note, a JSON object with `cwd` (string) and `briefed` (boolean)."""
    return _session_file(home, session, ".json")


def off_marker(home: str, session: str) -> str:
    """The file whose existence switches Keepmum's hooks off for this session."""
    return _session_file(home, session, ".off")


def heartbeat_file(home: str, client: str, event: str) -> str:
    """The file whose modification time says when this hook last ran in this client."""
    return f"{home}/state/heartbeat/{client}.{event}"


def module_cache_folder(home: str) -> str:
    """The folder of the guard's module caches."""
    return f"{home}/cache/modules"


def plain_name(text: str) -> str:
    """A name of `[a-z0-9._-]` for any id; different ids get different names, even on file systems that ignore case.

    Clients send UUIDs, which stay readable. Anything else is hashed and prefixed with "id.", which no UUID contains.
    """
    if 0 < len(text) <= _LONGEST_PLAIN and _PLAIN.issuperset(text) and text not in _DEVICES:
        return text
    return "id." + _digest(text)


def _session_file(home: str, session: str, suffix: str) -> str:
    return f"{sessions_folder(home)}/{plain_name(session)}{suffix}"


def _digest(text: str) -> str:
    """The first 32 hexadecimal digits of the SHA-256 of `text`, which may contain lone surrogates.

    Uses the interpreter's private module if it has one: importing `hashlib` takes 3 ms, half a bare start.
    """
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]  # private, no stub
    except ImportError:
        from hashlib import sha256
    return str(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])
