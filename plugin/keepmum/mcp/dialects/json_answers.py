"""Handlers of dialects whose tools answer with JSON and nothing around it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from keepmum import application
from keepmum.errors import SwitchedOff
from keepmum.mcp import introduction
from keepmum.mcp.handlers import MemoryHandlers
from keepmum.mcp.surface import Context
from keepmum.memory import JsonValue
from keepmum.service import MemoryService

__all__ = ["Answer", "JsonHandlers", "iso", "open_service"]

Answer = Callable[[dict[str, Any]], JsonValue]


def open_service(context: Context, *, session: str = "") -> MemoryService:
    """The memory of the place that this process was started in, with who asked noted.

    Raises: KeepmumError when settings are wrong or the store cannot be opened.
    """
    told = context.session or session
    service = application.open_memory(os.environ, context.agent, context.roots, session=told)
    introduction.note(context, os.environ)
    return service


def iso(milliseconds: int | None) -> str | None:
    """A time as JSON carries it, `2026-11-21T09:30:00.000Z`; None for none."""
    if milliseconds is None:
        return None
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonHandlers(MemoryHandlers):
    """Tools that answer with JSON; what a user has to know of the store goes to the client's log, once."""

    def __init__(self, service: MemoryService, answers: Mapping[str, Answer]) -> None:
        super().__init__(service)
        self._answers = answers

    def call(self, name: str, arguments: dict[str, object], context: Context) -> str:
        """What a tool answers with, as JSON.

        Raises: KeepmumError as the service does, and where Keepmum is switched off.
        """
        if self._off_by:
            raise SwitchedOff(self._off_by)
        answer = json.dumps(self._answers[name](arguments), ensure_ascii=False)
        for notice in filter(None, (*self._service.notices(), self._service.caveat())):
            if notice not in self._told:
                self._told.add(notice)
                context.log("warning", notice)
        return answer
