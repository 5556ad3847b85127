"""What the handlers of all dialects share."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from keepmum.core import validation
from keepmum.core.errors import InvalidInput, NotFound, ScannerFailed, SecretFound, SwitchedOff, report
from keepmum.core.framing import inline
from keepmum.core.memory import JsonValue, Memory
from keepmum.mcp import surface
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService, opening
from keepmum.service.browsing import browse
from keepmum.system.private_files import replace_file
from keepmum.workspace import allowlist
from keepmum.workspace.resolve import resolve
from keepmum_hooks import places

__all__ = [
    "Answer",
    "DialectHandlers",
    "JsonHandlers",
    "browse",
    "iso",
    "open_service",
    "outside_mark",
    "record_client",
]

ToolFunction = Callable[[dict[str, Any]], str]  # Any: the values were validated against the tool's schema
Answer = Callable[[dict[str, Any]], JsonValue]
_PANEL, _PANEL_TYPE = "ui://keepmum/memory", "text/html;profile=mcp-app"  # as `keepmum.mcp.panel` lists it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.dashboard.panel import Panel


def open_service(context: Context, *, session: str = "", routes: Sequence[str] = ()) -> MemoryService:
    """The memory of the client's folder; records the client.

    `session` is the default for a client that names none; `routes` override the configured store per scope.

    Raises: KeepmumError when the settings are invalid or the store cannot be opened.
    """
    chosen_session = context.session or session
    service = opening.open_session(os.environ, context.agent, context.roots, session=chosen_session, routes=routes)
    record_client(context, os.environ)
    return service


def record_client(context: Context, environ: Mapping[str, str]) -> None:
    """Write the client's name and version next to the heartbeats of its hooks, unless they look like a secret."""
    home = places.home(environ)
    text = json.dumps({"name": context.client_name, "version": context.agent_version}, ensure_ascii=False) + "\n"
    # A full disk or a failing scanner must not prevent reading.
    with contextlib.suppress(OSError, ScannerFailed):
        if home is None or validation.scan_text(text, allowlist.AllowlistScanner(None)):
            return
        replace_file(places.heartbeat_file(home, places.plain_name(context.agent), "server"), text)


class DialectHandlers:
    """What all dialects share: one service, notices for the user, the switch, and moves to another folder.

    Subclasses implement `_answer` or set `_tools`, and `_content` and `_prompted` if they have resources and prompts.
    `_names` maps fields of the core to the parameters of the dialect's tools, for error messages.
    `routes` and `session` are those that the service was opened with; they are used again when the client moves.
    `environ` is None for clients of a team's server: its files, settings and notices are not theirs.
    """

    _names: Mapping[str, str] = MappingProxyType({})

    def __init__(  # noqa: PLR0913 - whom it serves, and with what
        self,
        service: MemoryService,
        context: Context,
        tools: Mapping[str, ToolFunction] | None = None,
        *,
        routes: Sequence[str] = (),
        session: str = "",
        environ: Mapping[str, str] | None = os.environ,
    ) -> None:
        self._service = service
        self._environ = environ
        self._tools = tools or {}
        self._routes = routes
        self._own_session = session
        self._off_by = ""  # the setting that disables Keepmum in the session's folder
        self._shown_notices: set[str] = set()
        self._reported = ""  # on standard error
        self._panel: tuple[object, Panel] | None = None  # and the context that it works on
        self._read_switch(context)
        self._report_damage()  # a loss of memories must not wait for a call

    def call(self, name: str, arguments: dict[str, object], context: Context) -> str:
        """The result of a tool, followed by new notices for the user.

        Raises: KeepmumError as the service does, and when Keepmum is off.
        """
        self._refuse_if_off()
        try:
            return self._answer(name, arguments, context)
        except (InvalidInput, SecretFound) as error:
            raise error.renamed(self._parameters_of(name)) from None

    def show(self, name: str, arguments: dict[str, object], context: Context) -> surface.Answer:
        """The result of a tool of the panel.

        Raises: SwitchedOff, and KeepmumError for `memory_dashboard` as the service does.
        """
        self._refuse_if_off()
        answer = self._opened_panel(context).call(name, arguments)
        return surface.Answer(answer.text, answer.data, failed=answer.failed)

    def _opened_panel(self, context: Context) -> Panel:
        """The panel's calls over the service of now, which another folder may replace."""
        from keepmum.dashboard.panel import Panel  # here, since most clients show none

        if self._panel is None or self._panel[0] is not self._service.context:
            self._panel = (self._service.context, Panel(self._service, context.agent))
        return self._panel[1]

    def _parameters_of(self, tool: str) -> Mapping[str, str]:
        """The parameters of a tool, by the field of the core that they are stored in."""
        return self._names

    def _answer(self, name: str, arguments: dict[str, Any], context: Context) -> str:
        return self._with_notices(self._tools[name](arguments), context)

    def _with_notices(self, text: str, context: Context) -> str:
        """The text, followed by notices that were not shown before."""
        new = self._new_notices(context)
        caveat = self._service.caveat()
        return "\n".join(
            [text, *filter(None, [inline(caveat)]), *(f"Tell the user: {inline(notice)}" for notice in new)]
        )

    def _new_notices(self, context: Context) -> list[str]:
        """The notices that were not shown before; each goes to the client's log, and damage to standard error."""
        notices = () if self._environ is None else self._service.notices()
        new = [notice for notice in notices if notice not in self._shown_notices]
        self._shown_notices.update(new)
        for notice in new:
            context.log("warning", notice)
        self._report_damage()
        return new

    def _report_damage(self) -> None:
        """Write damage of the store to standard error, once."""
        damage = self._service.store.notice
        if damage and damage != self._reported:
            self._reported = damage
            report(damage)

    def _remark_damage(self, context: Context) -> None:
        """Let damage of the store follow an answer in JSON, as a text of its own, once."""
        damage = self._service.store.notice
        if damage and damage not in self._shown_notices:
            self._shown_notices.add(damage)
            self._report_damage()
            context.log("warning", damage)
            context.remarks.append(f"Tell the user: {inline(damage)}")

    def read(self, uri: str, context: Context) -> tuple[str, str]:
        """MIME type and text of a resource, followed by new notices.

        Raises: KeepmumError as `call`; NotFound when no resource has this URI.
        """
        self._refuse_if_off()
        if uri == _PANEL:
            from keepmum.dashboard.panel import page

            return _PANEL_TYPE, page()
        return self._content(uri, context)

    def _content(self, uri: str, context: Context) -> tuple[str, str]:
        raise NotFound("this server has no such resource")

    def prompt(self, name: str, arguments: dict[str, str], context: Context) -> str:
        """The text of a prompt.

        Raises: KeepmumError as `call`.
        """
        self._refuse_if_off()
        return self._prompted(name, arguments)

    def _prompted(self, name: str, arguments: dict[str, str]) -> str:
        raise NotFound("this server has no such prompt")

    def roots_changed(self, context: Context) -> None:
        """Move to the session and project of the client's folders, unless a setting names another project."""
        if self._environ is None:
            return  # the folders are on another machine
        session = context.session or self._own_session
        self._service = opening.moved(
            self._service, self._environ, context.agent, context.roots, session=session, routes=self._routes
        )
        self._read_switch(context)

    def _read_switch(self, context: Context) -> None:
        """Read whether Keepmum is off in the session's folder.

        Most clients start the server in that folder, and then it offers no tools. A client that names the folder with
        each call has already been offered them.
        """
        named = context.session and self._environ is not None
        chosen = resolve(self._environ or {}, context.roots, context.session).settings if named else None
        self._off_by = chosen.source_of("enabled") if chosen is not None and not chosen.enabled else ""

    def _refuse_if_off(self) -> None:
        """Check that Keepmum is on.

        Raises: SwitchedOff.
        """
        if self._off_by:
            raise SwitchedOff(self._off_by)

    def close(self) -> None:
        """Close the service."""
        self._service.close()


class JsonHandlers(DialectHandlers):
    """Tools that return JSON; notices for the user go to the client's log, once each, and damage follows an answer."""

    def __init__(  # noqa: PLR0913 - as above
        self,
        service: MemoryService,
        context: Context,
        answers: Mapping[str, Answer],
        *,
        routes: Sequence[str] = (),
        session: str = "",
        environ: Mapping[str, str] | None = os.environ,
    ) -> None:
        super().__init__(service, context, routes=routes, session=session, environ=environ)
        self._answers = answers

    def _answer(self, name: str, arguments: dict[str, Any], context: Context) -> str:
        answer = self._serialised(self._answers[name](arguments))
        self._remark_damage(context)
        self._new_notices(context)
        caveat = self._service.caveat()
        if caveat and caveat not in self._shown_notices:
            self._shown_notices.add(caveat)
            context.log("warning", caveat)
        return answer

    def _serialised(self, answer: JsonValue) -> str:
        return json.dumps(answer, ensure_ascii=False)


def outside_mark(memory: Memory) -> dict[str, JsonValue]:
    """The member of a JSON answer that says that others wrote a memory; none for memories of this user."""
    return {"trust": "outside"} if memory.trust == "outside" else {}


def iso(milliseconds: int | None) -> str | None:
    """A time as `2026-11-21T09:30:00.000Z`; None for None."""
    if milliseconds is None:
        return None
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
