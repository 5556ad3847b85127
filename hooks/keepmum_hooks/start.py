"""SessionStart: give the model the briefing that the server rendered in advance, and remove old state."""

from __future__ import annotations

import sys

from keepmum_hooks import files, places, system, turns
from keepmum_hooks.payload import parse, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_hooks.event import Event
    from keepmum_hooks.switches import Switches

__all__ = ["remove_old_state", "start"]

# Claude Code 2.1.329 writes a longer context to a file and shows the model its first 2 KB.
_LONGEST = 10_000  # characters
_CUT_END = "\nThe rest is left out.\n</keepmum-memories>"  # closes the frame (`keepmum.core.memory_text.TAG`)
_BRIEFING_LIMIT = 2 * 4 * _LONGEST  # bytes, the most that this many characters take, with and without remarks
_SEPARATOR = "\x1e"  # in a briefing with remarks on code (`keepmum_hooks.checked_out`); memories hold no such character
_NOTE_LIMIT = 64 << 10
_PROJECT_MARKS = (".git", ".keepmum.toml")

_DAY = 86_400  # seconds
_KEEP = 60 * _DAY
_HOUR = 3600
_UNFINISHED = (".part", ".tmp")  # files that are being written, `….PID-RANDOM.part` or `….PID.tmp`
_BATCH = 500  # files checked at a time: about 2 ms, once a day


def start(event: Event, settings: Switches, home: str) -> str | None:
    """The briefing for the model, or None when there is none or the session already has it.

    Always writes the session's note, from which the server reads the session's working folder.
    """
    has_it = _is_repeated(home, event) if event.once else event.source == "resume" and _was_briefed(home, event.session)
    briefing = _briefing(home, event.cwd, settings.dialect) if settings.briefing and not has_it else None
    _write_note(home, event, briefed=has_it or briefing is not None)
    if files.seconds_since_change(f"{home}/state/swept") > _DAY:
        remove_old_state(home)
    return briefing


def _is_repeated(home: str, event: Event) -> bool:
    """Whether another hook already reported this start: our plugin may be installed in the client in two ways.

    Both hooks run at the same time, so the first to append to the session's log answers.
    """
    try:
        log = files.append(places.turns_file(home, event.session), turns.STARTED, turns.LOG_CAP)
    except OSError:
        return False  # giving a briefing twice is better than not at all
    return log.count(turns.STARTED) > 1


def _briefing(home: str, cwd: str, dialect: str) -> str | None:
    """The nearest briefing of the project that contains `cwd`, cut at a line end when it is too long.

    The server renders it with the tools of the default dialect, since sessions with others may read it too.
    """
    for folder in _candidates(cwd):
        raw = files.read(places.briefing_file(home, folder), _BRIEFING_LIMIT)
        if raw is not None:
            text = raw.decode("utf-8", "ignore")
            if _SEPARATOR in text:
                from keepmum_hooks import checked_out

                text = checked_out.for_commit(text, folder)
            text = text.strip("\n")
            if dialect:
                from keepmum_hooks import tool_names

                text = text.replace(tool_names.reading_hint(), tool_names.reading_hint(dialect), 1)
            return _cut(text) if text.strip() else None
    return None


def _candidates(cwd: str) -> list[str]:
    """`cwd` and its parents up to the project's root; only `cwd` when nothing marks a project.

    Without this limit a briefing of the home folder would be given to every new project below it.
    A project file above a repository makes all repositories below it one project.
    """
    if not cwd:
        return []
    folders = system.ancestors(system.real_path(cwd))
    return folders[: 1 + max(_depth_of(mark, folders) for mark in _PROJECT_MARKS)]


def _depth_of(mark: str, folders: list[str]) -> int:
    """The index of the first folder that contains the mark; 0 when none does."""
    return next((depth for depth, folder in enumerate(folders) if system.exists(f"{folder}/{mark}")), 0)


def _cut(text: str) -> str:
    """The text up to the last line end that leaves room for the notice and the closing tag."""
    if len(text) <= _LONGEST:
        return text
    room = _LONGEST - len(_CUT_END)
    end = text.rfind("\n", 0, room + 1)
    return text[: end if end > 0 else room] + _CUT_END


def _was_briefed(home: str, session: str) -> bool:
    raw = files.read(places.session_note(home, session), _NOTE_LIMIT)
    note = parse(raw) if raw else None
    return note is not None and note.get("briefed") is True


def _write_note(home: str, event: Event, *, briefed: bool) -> None:
    note = f'{{"briefed":{"true" if briefed else "false"},"cwd":{quote(event.cwd)}}}\n'
    try:
        files.replace(places.session_note(home, event.session), note.encode("ascii"))
    except OSError:
        return  # a full or read-only disk is no reason to withhold the briefing


def remove_old_state(home: str) -> None:
    """Remove session files and module caches of 60 days ago, and what dead processes left unfinished; record the time.

    An unfinished file may hold titles of memories, or a key.
    """
    try:
        files.touch(f"{home}/state/swept")
    except OSError:
        return
    for folder in (places.sessions_folder(home), places.module_cache_folder(home)):
        _remove_old_files(folder)
    state = f"{home}/state"
    for folder in (home, places.module_cache_folder(home), state, *(f"{state}/{name}" for name in _names(state))):
        for name in _names(folder):
            is_ours = folder != home or ".toml." in name  # the store removes its own
            if is_ours and name.endswith(_UNFINISHED) and _is_abandoned(f"{folder}/{name}"):
                files.remove(f"{folder}/{name}")


def _names(folder: str) -> list[str]:
    """The sorted names in the folder; none where there is no folder."""
    try:
        return sorted(system.calls.listdir(folder))
    except OSError:
        return []


def _is_abandoned(path: str) -> bool:
    """Whether the process that wrote the file is dead; writing takes milliseconds."""
    process = path.rpartition(".")[0].rpartition(".")[2].partition("-")[0]
    if process.isdecimal() and sys.platform != "win32":  # where this call would end the process
        try:
            system.calls.kill(int(process), 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            pass  # it runs as another user, or is not a process
    return _HOUR < files.seconds_since_change(path) < float("inf")


def _remove_old_files(folder: str) -> None:
    """Remove old files among a batch; with more files than that, each day checks another batch."""
    import time

    names = _names(folder)
    first = int(time.time() // _DAY) * _BATCH % max(len(names), 1)
    for name in (names[first:] + names[:first])[:_BATCH]:
        path = f"{folder}/{name}"
        if _KEEP < files.seconds_since_change(path) < float("inf"):
            files.remove(path)
