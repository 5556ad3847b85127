"""A dialect's tools as a client's call reaches them, in a project of the test's own."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from keepmum.mcp.arguments import check
from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.surface import Context, Handlers

__all__ = ["Caller", "Open", "opened", "opening"]


class Caller:
    """One agent's calls; answers that are JSON come parsed from `json`."""

    def __init__(self, dialect: str, handlers: Handlers, context: Context) -> None:
        self._tools = {tool.name: tool for tool in DIALECTS[dialect][0].tools}
        self.handlers = handlers
        self.context = context

    def text(self, name: str, **arguments: object) -> str:
        """What a tool says."""
        return self.handlers.call(name, check(self._tools[name].parameters, arguments), self.context)

    def json(self, name: str, **arguments: object) -> Any:
        """What a tool says, parsed."""
        return json.loads(self.text(name, **arguments))


Open = Callable[..., Caller]


@contextlib.contextmanager
def opening(dialect: str) -> Iterator[Open]:
    """A function that opens the tools of a dialect for an agent, as often as one likes."""
    with contextlib.ExitStack() as stack:
        yield lambda agent="claude-code": stack.enter_context(opened(dialect, agent))


@contextlib.contextmanager
def opened(dialect: str, agent: str = "claude-code") -> Iterator[Caller]:
    """The tools of a dialect in the working folder, for one agent."""
    context = Context(agent=agent)
    handlers = DIALECTS[dialect][1](context)
    with contextlib.closing(handlers):
        yield Caller(dialect, handlers, context)
