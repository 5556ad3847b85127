"""Calls of a dialect's tools, with arguments checked as for a client."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from keepmum.mcp.arguments import check
from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.surface import Context, Handlers

__all__ = ["Caller", "Open", "opened", "opening"]


class Caller:
    """Calls tools for one agent."""

    def __init__(self, dialect: str, handlers: Handlers, context: Context) -> None:
        self._tools = {tool.name: tool for tool in DIALECTS[dialect][0].tools}
        self.handlers = handlers
        self.context = context

    @property
    def service(self) -> Any:
        """The service below the tools."""
        return self.handlers._service  # type: ignore[attr-defined]

    def shift_clock(self, milliseconds: int) -> None:
        """Move the service's clock from its present time."""
        context = self.service.context
        self.service.context = replace(context, clock=lambda: context.clock() + milliseconds)

    def text(self, name: str, **arguments: object) -> str:
        """The text that a tool returns."""
        return self.handlers.call(name, check(self._tools[name].parameters, arguments), self.context)

    def json(self, name: str, **arguments: object) -> Any:
        """The JSON that a tool returns, parsed."""
        return json.loads(self.text(name, **arguments))


Open = Callable[..., Caller]


@contextlib.contextmanager
def opening(dialect: str) -> Iterator[Open]:
    """A function that opens the tools of a dialect for an agent; it may be called several times."""
    with contextlib.ExitStack() as stack:
        yield lambda agent="claude-code": stack.enter_context(opened(dialect, agent))


@contextlib.contextmanager
def opened(dialect: str, agent: str = "claude-code") -> Iterator[Caller]:
    """The tools of a dialect for one agent, in the working directory."""
    context = Context(agent=agent)
    handlers = DIALECTS[dialect][1](context)
    with contextlib.closing(handlers):
        yield Caller(dialect, handlers, context)
