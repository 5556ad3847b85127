"""A small MCP server for the tests of the stdio loop, with handlers that misbehave on request.

Run as a script it serves over standard input and output. Settings, from the environment:
SAMPLE_GATE names a FIFO that opening the handlers waits on; SAMPLE_TRACE a file to which events are appended, one per
line; SAMPLE_GRACE the seconds from the end of input to the forced end.
"""

from __future__ import annotations

import os
import sys
import time

if __name__ == "__main__":  # `-I -S` puts nothing of ours on the path
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "plugin"))

from keepmum.core.errors import KeepmumError, NotFound
from keepmum.mcp.surface import Answer, Context, Prompt, PromptArgument, Resource, Surface, Template, Tool

READ_ONLY = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 65_536}},
    "required": ["text"],
    "additionalProperties": False,
}
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
SECRET_WORDS = "the words of an error may hold a secret"

SURFACE = Surface(
    "Echoes what it is given.",
    tools=(
        Tool("echo", "Answers with its text.", TEXT, READ_ONLY, meta={"anthropic/alwaysLoad": True}, title="Echo"),
        Tool("refuse", "Refuses its text in a sentence.", TEXT, READ_ONLY),
        Tool("fail", "Has a bug.", NOTHING, READ_ONLY),
        Tool("leave", "Calls exit.", NOTHING, READ_ONLY),
        Tool("chatter", "Prints, and runs a child that prints and reads.", NOTHING, READ_ONLY),
        Tool("report", "Tells progress and logs.", NOTHING, READ_ONLY),
        Tool("who", "Tells who is asking.", NOTHING, READ_ONLY),
        Tool("wait", "Answers with a line from the FIFO that its text names.", TEXT, READ_ONLY),
        Tool("watch", "Waits for its own cancellation.", NOTHING, READ_ONLY),
    ),
    resources=(Resource("memory://note", "note", "A note."),),
    templates=(Template("memory://{key}", "by key", "A note by its key."),),
    prompts=(Prompt("greet", "Greets.", (PromptArgument("name", "Whom.", required=True),)),),
)


class SampleHandlers:
    """Handlers that record their calls in `seen`."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def call(self, name: str, arguments: dict[str, object], context: Context) -> str:
        self.seen.append(name)
        answer: str = getattr(self, f"_{name}")(str(arguments.get("text", "")), context)
        return answer

    def show(self, name: str, arguments: dict[str, object], context: Context) -> Answer:
        return Answer(f"{name} for {context.agent}", arguments)

    def read(self, uri: str, context: Context) -> tuple[str, str]:
        if uri == "memory://broken":
            raise KeepmumError("the store is away")
        if uri != "memory://note":
            raise NotFound("nothing goes by that name")
        return "text/markdown", f"a note for {context.agent}"

    def prompt(self, name: str, arguments: dict[str, str], context: Context) -> str:
        return f"{name} {arguments['name']}, {context.agent}"

    def roots_changed(self, context: Context) -> None:
        self.seen.append("roots " + ", ".join(context.roots))

    def close(self) -> None:
        self.seen.append("close")
        trace = os.environ.get("SAMPLE_TRACE")
        if trace:
            with open(trace, "w", encoding="utf-8") as file:
                file.write("\n".join(self.seen))

    def _echo(self, text: str, _: Context) -> str:
        return text

    def _refuse(self, _text: str, _: Context) -> str:
        raise KeepmumError("refused, nothing stored")

    def _fail(self, _text: str, _: Context) -> str:
        raise RuntimeError(SECRET_WORDS)

    def _leave(self, _text: str, _: Context) -> str:
        raise SystemExit(SECRET_WORDS)

    def _chatter(self, _text: str, _: Context) -> str:
        print("a stray line")  # noqa: T201 - the loop must keep stray output off the protocol
        os.write(1, b"stray bytes\n")
        child = "import os; os.write(1, b'from a child\\n'); print(len(os.read(0, 1000)))"
        status = os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-I", "-S", "-c", child])
        return f"child ended with {status}"

    def _report(self, _text: str, context: Context) -> str:
        context.progress(1, 2, "half")
        context.log("debug", "a detail")
        context.log("error", "a trouble")
        context.progress(2, 2)
        return "reported"

    def _who(self, _text: str, context: Context) -> str:
        return " | ".join((context.agent, context.agent_version, context.protocol, *context.roots))

    def _wait(self, text: str, context: Context) -> str:
        context.log("error", "waiting")
        return _line_from(text)

    def _watch(self, _text: str, context: Context) -> str:
        context.log("error", "watching")
        while not context.cancelled():
            time.sleep(0.001)
        self.seen.append("cancelled")
        return "nobody reads this"


def open_sample(_: Context) -> SampleHandlers:
    """The handlers; waits until the gate is open."""
    gate = os.environ.get("SAMPLE_GATE")
    if gate:
        _line_from(gate)
    return SampleHandlers()


def _line_from(fifo: str) -> str:
    with open(fifo, encoding="utf-8") as gate:
        return gate.readline()


def main() -> int:
    """Serve over standard input and output; returns the exit status."""
    from keepmum.mcp import stdio

    stdio.GRACE = float(os.environ.get("SAMPLE_GRACE", stdio.GRACE))
    return stdio.serve(SURFACE, open_sample, name="sample", version="1.2.3")


if __name__ == "__main__":
    raise SystemExit(main())
