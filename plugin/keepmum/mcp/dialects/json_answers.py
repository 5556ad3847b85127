"""Handlers of dialects whose tools answer with JSON and nothing around it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from keepmum.core.memory import JsonValue
from keepmum.mcp.dialects.keepmum.handlers import MemoryHandlers
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService

__all__ = ["Answer", "JsonHandlers", "iso"]

Answer = Callable[[dict[str, Any]], JsonValue]


def iso(milliseconds: int | None) -> str | None:
    """A time as JSON carries it, `2026-11-21T09:30:00.000Z`; None for none."""
    if milliseconds is None:
        return None
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonHandlers(MemoryHandlers):
    """Tools that answer with JSON; what a user has to know of the store goes to the client's log, once."""

    def __init__(
        self,
        service: MemoryService,
        context: Context,
        answers: Mapping[str, Answer],
        *,
        routes: Sequence[str] = (),
        session: str = "",
    ) -> None:
        super().__init__(service, context, routes=routes, session=session)
        self._answers = answers

    def _answer(self, name: str, arguments: dict[str, Any], context: Context) -> str:
        answer = self._spelled(self._answers[name](arguments))
        for notice in filter(None, (*self._service.notices(), self._service.caveat())):
            if notice not in self._told:
                self._told.add(notice)
                context.log("warning", notice)
        return answer

    def _spelled(self, answer: JsonValue) -> str:
        return json.dumps(answer, ensure_ascii=False)
