"""SessionStart: hand the model the briefing that the server rendered ahead."""

from __future__ import annotations

from keepmum_hooks import files, places, system, turns
from keepmum_hooks.payload import parse, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_hooks.event import Event
    from keepmum_hooks.switches import Switches

__all__ = ["start"]

# Claude Code 2.1.329 puts a longer context in a file and shows the model its first 2 KB.
_LONGEST = 10_000  # characters
_FILE_LIMIT = 4 * _LONGEST  # bytes, all that so many characters can take
_NOTE_LIMIT = 64 << 10
_DAY = 86_400  # seconds
_PROJECT_MARKS = (".git", ".keepmum.toml")


def start(event: Event, switches: Switches, home: str) -> str | None:
    """The briefing for the model, or None when there is none or the session has it already.

    Leaves the session's note either way: the server reads from it which folder a session works in.
    """
    has_it = _is_repeated(home, event) if event.once else event.source == "resume" and _was_briefed(home, event.session)
    briefing = _briefing(home, event.cwd) if switches.briefing and not has_it else None
    _leave_note(home, event, briefed=has_it or briefing is not None)
    if files.seconds_since_change(f"{home}/state/swept") > _DAY:
        from keepmum_hooks import sweep

        sweep.sweep(home)
    return briefing


def _is_repeated(home: str, event: Event) -> bool:
    """Whether another hook was told of this start: our plugin may have come to the client by two ways.

    Both run at once, so the first to append to the session's log is the one to answer.
    """
    try:
        log = files.append(places.turns_file(home, event.session), turns.STARTED, turns.LOG_CAP)
    except OSError:
        return False  # a briefing that is given twice is better than none
    return log.count(turns.STARTED) > 1


def _briefing(home: str, cwd: str) -> str | None:
    """The text of the nearest briefing of the project that `cwd` lies in, cut at a line where it is too long."""
    for folder in _candidates(cwd):
        raw = files.read(places.briefing_file(home, folder), _FILE_LIMIT)
        if raw is not None:
            text = raw.decode("utf-8", "ignore").strip("\n")
            return _cut(text) if text.strip() else None
    return None


def _candidates(cwd: str) -> list[str]:
    """`cwd` and the folders above it up to the project's top; `cwd` alone when nothing marks a project.

    Without that end, a briefing of the home folder would be handed to every new project below it.
    A project file above the repository makes one project of all repositories below it.
    """
    if not cwd:
        return []
    folders = system.ancestors(system.real_path(cwd))
    return folders[: 1 + max(_depth_of(mark, folders) for mark in _PROJECT_MARKS)]


def _depth_of(mark: str, folders: list[str]) -> int:
    """The place of the first folder that has the mark; 0 when none has it."""
    return next((depth for depth, folder in enumerate(folders) if system.exists(f"{folder}/{mark}")), 0)


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    end = text.rfind("\n", 0, _LONGEST + 1)
    return text[: end if end > 0 else _LONGEST]


def _was_briefed(home: str, session: str) -> bool:
    raw = files.read(places.session_note(home, session), _NOTE_LIMIT)
    note = parse(raw) if raw else None
    return note is not None and note.get("briefed") is True


def _leave_note(home: str, event: Event, *, briefed: bool) -> None:
    note = f'{{"briefed":{"true" if briefed else "false"},"cwd":{quote(event.cwd)}}}\n'
    try:
        files.replace(places.session_note(home, event.session), note.encode("ascii"))
    except OSError:
        return  # a full or read-only disk is no reason to withhold the briefing
