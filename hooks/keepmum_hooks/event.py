"""What happened in a client, in one value that the hooks understand."""

from __future__ import annotations

__all__ = ["GUARD", "KINDS", "SESSION_START", "STOP", "Event"]

STOP = "stop"
SESSION_START = "session-start"
GUARD = "guard"
KINDS = (STOP, SESSION_START, GUARD)


class Event:
    """What happened in a client; a value."""

    __slots__ = (
        "attended",
        "cwd",
        "ends_turn",
        "kind",
        "lasting",
        "once",
        "prompt",
        "reporting",
        "session",
        "source",
        "version",
    )

    def __init__(  # noqa: PLR0913 - one value with many facts; a dataclass would triple the hook's time
        self,
        *,
        kind: str,
        session: str,
        cwd: str,
        source: str = "",
        prompt: str = "",
        ends_turn: bool = True,
        attended: bool = True,
        reporting: tuple[str, ...] = (),
        lasting: tuple[str, ...] = (),
        version: tuple[int, ...] = (),
        once: bool = False,
    ) -> None:
        self.kind = kind  # STOP or SESSION_START
        self.session = session  # the client's id of the conversation, as sent
        self.cwd = cwd  # the folder that the session works in, or ""
        self.source = source  # why a session starts: "startup", "resume", "clear", "compact", "fork"
        self.prompt = prompt  # the id of the prompt that the turn answers, or ""
        self.ends_turn = ends_turn  # False for a continuation that a hook asked for, and inside a subagent
        self.attended = attended  # False when the last answer goes to a program, which must not get ours instead
        self.reporting = reporting  # ids of running tasks that will come back with a result: subagents
        self.lasting = lasting  # ids of running tasks that may never end: shells, monitors
        self.version = version  # the client's, or () when it does not say
        self.once = once  # True where only the first of several hooks that tell of it in a session may answer
