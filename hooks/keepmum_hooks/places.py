"""Where the state that hooks and server share lies: paths only, no I/O.

The one source of these paths; the server imports it too.

    <home>/state/briefings/<hash of a root>.md      what SessionStart prints, rendered ahead by the server
    <home>/state/sessions/<session>.turns           one line per Stop: the tickets that are counted
    <home>/state/sessions/<session>.json            the session's note: its working folder, whether it was briefed
    <home>/state/sessions/<session>.off             exists while the user has switched this session off
    <home>/state/heartbeat/<client>.<event>         its time says when that hook last ran
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "briefing_file",
    "briefings_folder",
    "heartbeat_file",
    "home",
    "off_marker",
    "session_note",
    "sessions_folder",
    "turns_file",
]

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_LONGEST_PLAIN = 80

# Windows opens a device when a file has one of these names, whatever its extension.
# Source: https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file, read 2026-11-21
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789"))
)


def home(environ: Mapping[str, str] = os.environ) -> str | None:
    """The folder that holds all of Keepmum's state, or None where the user has no home at all.

    `KEEPMUM_HOME` wins over `~/.keepmum`. The password database is not asked: a process that was started without
    a home (a service, a stripped environment) gets no state rather than somebody's.
    """
    user = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    chosen = environ.get("KEEPMUM_HOME", "")
    if chosen == "~" or chosen.startswith(("~/", "~" + os.sep)):
        if not user:
            return None
        chosen = user + chosen[1:]
    if chosen:
        return os.path.abspath(chosen)
    return os.path.join(user, ".keepmum") if os.path.isabs(user) else None


def briefings_folder(home: str) -> str:
    """The folder of all rendered briefings."""
    return os.path.join(home, "state", "briefings")


def briefing_file(home: str, root: str) -> str:
    """The briefing of the project whose top folder is `root`, however that folder is spelt.

    Symbolic links are resolved, and case is folded where the platform does so, because server and hook may have
    reached the folder by different names. A linked worktree has a top folder, and so a briefing, of its own.
    """
    true_root = os.path.normcase(os.path.realpath(root))
    return os.path.join(briefings_folder(home), _digest(true_root) + ".md")


def sessions_folder(home: str) -> str:
    """The folder of everything that is kept for one session only."""
    return os.path.join(home, "state", "sessions")


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
    return os.path.join(home, "state", "heartbeat", f"{client}.{event}")


def _session_file(home: str, session: str, suffix: str) -> str:
    return os.path.join(sessions_folder(home), _file_name(session) + suffix)


def _file_name(session: str) -> str:
    """A file name for a session id; different ids never share one, even where the file system ignores case.

    Clients send UUIDs, which stay readable. Whatever else arrives is hashed, with a dot that no plain name has.
    """
    if 0 < len(session) <= _LONGEST_PLAIN and _PLAIN.issuperset(session) and session not in _DEVICES:
        return session
    return "id." + _digest(session)


def _digest(text: str) -> str:
    """The first 32 hexadecimal digits of the SHA-256 of `text`, which may hold lone surrogates.

    By the interpreter's own module where it can be found: `hashlib` costs 3 ms, half a bare start.
    """
    try:
        from _sha2 import sha256  # type: ignore[import-not-found]  # Python 3.12 and later; private, no stub
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found]  # up to 3.11; private, no stub
        except ImportError:
            from hashlib import sha256
    return str(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])
