"""The panel's calls, for a client of the stdio server: the same views and verbs as the page, with less allowed.

Their caller counts as an agent: a model whose host ignores that they are for the panel can do no more with them than
with its own tools. They remove nothing for good, allow nothing, and read no other user's memories.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from keepmum.core import memory_text
from keepmum.core.agents import identify
from keepmum.core.errors import KeepmumError
from keepmum.core.memory import LIMITS
from keepmum.core.wording import counted
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.desk import Desk
from keepmum.dashboard.failures import failure
from keepmum.service import MemoryService

__all__ = ["Panel", "PanelAnswer", "page"]

_PAGE = Path(__file__).with_name("panel.html")
_LISTED = 5  # memories in the text for the model


class PanelAnswer(NamedTuple):
    """The answer to one call of a panel, as text and as data."""

    text: str
    data: JsonObject | None = None
    failed: bool = False


class Panel:
    """The calls of the panels of one client, over the memory that its tools use."""

    def __init__(self, service: MemoryService, client: str) -> None:
        """`client` is what the user knows the client as."""
        viewer = service.viewed_by(f"you, in {identify(client).title}"[: LIMITS.name])
        self._desk = Desk(Dashboard(viewer, "panel"))

    def call(self, name: str, arguments: JsonObject) -> PanelAnswer:
        """The answer of a panel's tool; an error is an answer too, so that the panel can show what to do."""
        if name == "memory_dashboard":
            return PanelAnswer(self._opened(arguments))
        given = Arguments(arguments)
        try:
            if name == "memory_view":
                data = self._desk.ask(given.text("view"), given.members("args"))
            else:
                data = self._desk.change(given.text("do"), given.members("args"))
        except KeepmumError as error:
            data = failure(error).body
            return PanelAnswer(json.dumps(data, ensure_ascii=False), data, failed=True)
        return PanelAnswer(json.dumps(data, ensure_ascii=False), data)

    def _opened(self, arguments: JsonObject) -> str:
        """The text for the model when the panel opens; it must suffice where no panel is shown."""
        service = self._desk.dashboard.service
        count, review = service.count(), sum(service.review_counts().values())
        waiting = f", {counted(review, 'item')} to review" if review else ""
        lines = [f"The user sees the memory in a panel: {counted(count, 'memory')}{waiting}."]
        if query := Arguments(arguments).text("query", LIMITS.query).strip():
            found = [match.memory for match in service.recall(query, limit=_LISTED, quiet=True)]
            entries = memory_text.index_lines(found, service.elsewhere(found))
            lines.append(memory_text.block(entries) if found else "Its search found nothing.")
        lines.append("Without a panel, `keepmum dashboard` in a terminal shows it in the browser.")
        return "\n".join(lines)


def page() -> str:
    """The panel as one HTML page; it holds no data."""
    return _PAGE.read_text(encoding="utf-8")
