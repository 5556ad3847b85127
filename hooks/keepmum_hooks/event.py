"""What a client reports, in the same form for every client: an event, or a tool call that it is about to make."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["GUARD", "KINDS", "SESSION_START", "STOP", "Event", "ToolCall"]

STOP = "stop"
SESSION_START = "session-start"
GUARD = "guard"
KINDS = (STOP, SESSION_START, GUARD)


class Event:
    """A session that starts, or a turn that ends; a value."""

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

    def __init__(  # noqa: PLR0913 - a value with many fields; importing dataclasses would triple the hook's run time
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
        self.cwd = cwd  # the session's working folder, or ""
        self.source = source  # why a session starts: "startup", "resume", "clear", "compact", "fork"
        self.prompt = prompt  # the id of the prompt that the turn answers, or ""
        self.ends_turn = ends_turn  # False for a continuation that a hook asked for, and inside a subagent
        self.attended = attended  # False when a program reads the last answer, which our reminder must not replace
        self.reporting = reporting  # ids of running tasks that will return a result: subagents
        self.lasting = lasting  # ids of running tasks that may never end: shells, monitors
        self.version = version  # the client's version, or () when unknown
        self.once = once  # True when several hooks may report the event and only the first may answer


class ToolCall:
    """A tool call before it is made; a value."""

    __slots__ = ("command", "cwd", "existing", "input", "paths", "session", "tool")

    def __init__(  # noqa: PLR0913 - as above
        self,
        *,
        tool: str,
        input: dict[str, Any],  # noqa: A002 - the name that every client uses
        session: str = "",
        cwd: str = "",
        paths: tuple[str, ...] = (),
        command: str = "",
        existing: tuple[str, ...] = (),
    ) -> None:
        self.tool = tool  # the client's name of the tool; tools of MCP servers are `mcp__<server>__<tool>`
        self.input = input  # the tool's input, as parsed JSON
        self.session = session  # the client's id of the conversation, or ""
        self.cwd = cwd  # the folder that relative paths start from, or ""
        self.paths = paths  # files that the tool writes
        self.command = command  # text for a shell, or ""
        self.existing = existing  # names of input fields that repeat text from the file, such as `old_string`

    def without(self, fields: tuple[str, ...]) -> ToolCall:
        """The same call, of which the fields with these names are not scanned."""
        return ToolCall(
            tool=self.tool,
            input=self.input,
            session=self.session,
            cwd=self.cwd,
            paths=self.paths,
            command=self.command,
            existing=(*self.existing, *fields),
        )
