"""What stands behind the tools, resources and prompts: arguments in, one call of the service, text out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from keepmum.core import briefing
from keepmum.core.errors import InvalidInput, NotFound, SwitchedOff
from keepmum.core.memory import Memory
from keepmum.core.when import parse_when
from keepmum.mcp.dialects.keepmum import introduction, prompts, resources
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService, Remembered, opening
from keepmum.workspace.resolve import resolve

__all__ = ["MemoryHandlers", "open_handlers", "open_service"]

_RESUME_TOKENS = 1500
_ACTIVITY = 50
_SECONDS_A_DAY = 86_400
_NOTHING_YET = "Nothing is remembered for this project yet. `remember` keeps something for the next session."
_SAID = {
    "created": "Kept",
    "updated": "Updated",
    "conflict": "Replaced",
    "restored": "Brought back",
    None: "Known already, nothing changed",
}


def open_handlers(context: Context) -> MemoryHandlers:
    """Handlers over the memory of the place that this process was started in.

    Raises: KeepmumError when settings are wrong or the store cannot be opened.
    """
    return MemoryHandlers(open_service(context), context)


def open_service(context: Context, *, session: str = "", routes: Sequence[str] = ()) -> MemoryService:
    """The memory of the place that this process was started in, with who asked noted.

    `session` is for a client that names none; `routes` say which store a new memory goes to, as the settings else do.

    Raises: KeepmumError when settings are wrong or the store cannot be opened.
    """
    told = context.session or session
    service = opening.open_session(os.environ, context.agent, context.roots, session=told, routes=routes)
    introduction.note(context, os.environ)
    return service


class MemoryHandlers:
    """The default tools over one service (see `keepmum.mcp.surface.Handlers`).

    `routes` and `session` are those that the service was opened with, for the places that the client moves to.
    """

    def __init__(
        self, service: MemoryService, context: Context, *, routes: Sequence[str] = (), session: str = ""
    ) -> None:
        self._service = service
        self._routes = routes
        self._own_session = session
        self._off_by = ""  # the place that switches Keepmum off where the session works
        self._told: set[str] = set()  # notices that the client has had
        self._tools: Mapping[str, Callable[[dict[str, Any]], str]] = {
            "remember": self._remember,
            "recall": self._recall,
            "load": self._load,
            "forget": self._forget,
            "resume": self._resume,
        }
        self._heed_switch(context)

    def call(self, name: str, arguments: dict[str, object], context: Context) -> str:
        """The text that a tool answers with, and below it what the user has to know of the store, once.

        Raises: KeepmumError as the service does, and where Keepmum is switched off.
        """
        self._refuse_where_off()
        return self._answer(name, arguments, context)

    def _answer(self, name: str, arguments: dict[str, Any], context: Context) -> str:
        return self._with_news(self._tools[name](arguments), context)

    def _with_news(self, text: str, context: Context) -> str:
        """The text, and below it what the user has to know of the store and was not told."""
        news = [notice for notice in self._service.notices() if notice not in self._told]
        self._told.update(news)
        for notice in news:
            context.log("warning", notice)
        caveat = self._service.caveat()
        return "\n".join([text, *filter(None, [caveat]), *(f"Tell the user: {notice}" for notice in news)])

    def read(self, uri: str, context: Context) -> tuple[str, str]:
        """A resource, in most cases Markdown, with news below it as a tool's answer has them.

        Raises: KeepmumError as `call`; NotFound when nothing goes by that URI.
        """
        self._refuse_where_off()
        return self._content(uri, context)

    def _content(self, uri: str, context: Context) -> tuple[str, str]:
        return "text/markdown", self._with_news(self._resource(uri), context)

    def prompt(self, name: str, arguments: dict[str, str], context: Context) -> str:
        """The text of a prompt.

        Raises: KeepmumError as `call`.
        """
        self._refuse_where_off()
        return self._prompted(name, arguments)

    def _prompted(self, name: str, arguments: dict[str, str]) -> str:
        if name == "capture":
            return prompts.CAPTURE
        parts = [prompts.BRIEFING, self._service.resume(_RESUME_TOKENS) or _NOTHING_YET]
        if focus := arguments.get("focus"):
            parts.append(self._recall({"query": focus}))
        return "\n\n".join(parts)

    def roots_changed(self, context: Context) -> None:
        """Move to the session, and to the project that the client's folders name when nothing stronger names one."""
        session = context.session or self._own_session
        self._service = opening.moved(
            self._service, os.environ, context.agent, context.roots, session=session, routes=self._routes
        )
        self._heed_switch(context)

    def _heed_switch(self, context: Context) -> None:
        """Learn whether Keepmum is off where the session works.

        Where the client starts a server in the session's folder that is known before the handshake, and no tool is
        offered. Where it says the folder with each call, the tools were offered by then.
        """
        chosen = resolve(os.environ, context.roots, context.session).settings if context.session else None
        self._off_by = chosen.source_of("enabled") if chosen is not None and not chosen.enabled else ""

    def _refuse_where_off(self) -> None:
        """Nothing, unless Keepmum is switched off where the session works.

        Raises: SwitchedOff.
        """
        if self._off_by:
            raise SwitchedOff(self._off_by)

    def close(self) -> None:
        """Leave everything on disk and let go."""
        self._service.close()

    def _resource(self, uri: str) -> str:
        if uri == resources.CONTEXT:
            return self._service.brief() or _NOTHING_YET
        if uri == resources.ACTIVITY:
            lines = [briefing.event_line(event) for event in self._service.activity(_ACTIVITY)]
            return briefing.block(lines) if lines else _NOTHING_YET
        if not uri.startswith(resources.SCHEME):
            raise NotFound("resources of this server begin with memory://")
        from urllib.parse import unquote  # which seldom is wanted

        memory = self._service.load([unquote(uri.removeprefix(resources.SCHEME))])[0]
        return briefing.block([briefing.full(memory)])

    # -- tools

    def _remember(self, arguments: dict[str, Any]) -> str:
        days = arguments.pop("ttl_days", None)
        if days is not None:
            arguments["ttl_seconds"] = days * _SECONDS_A_DAY
        return _kept(self._service.remember(**arguments))

    def _recall(self, arguments: dict[str, Any]) -> str:
        since = arguments.pop("since", None)
        if since is not None:
            arguments["since"] = parse_when("since", since, self._service.now())
        explain = arguments.pop("explain", False)
        found = self._service.recall(**arguments)
        if found:
            elsewhere = self._service.elsewhere([match.memory for match in found])
            return "\n".join([briefing.matches(found, elsewhere, explain=explain), *self._lexical_only()])
        if not self._service.count():
            return _NOTHING_YET
        none = "No memories match. Try other words, fewer filters, or scope `all`."
        return "\n".join([none, *(self._lexical_only() if arguments.get("query") else ())])

    def _lexical_only(self) -> list[str]:
        """Why more may be found another time; once for each reason, since every word costs each time it is read."""
        reason = self._service.lexical_only
        if not reason or reason in self._told:
            return []
        self._told.add(reason)
        return [f"Lexical only: {reason}."]

    def _load(self, arguments: dict[str, Any]) -> str:
        if not arguments["ids"]:
            raise InvalidInput("ids", "is empty; give ids or keys that `recall` listed")
        loaded = self._service.load(arguments["ids"])
        elsewhere = self._service.elsewhere(loaded)
        return briefing.block(briefing.full(memory, elsewhere.get(memory.id, "")) for memory in loaded)

    def _forget(self, arguments: dict[str, Any]) -> str:
        references = arguments.get("ids", [])
        if arguments.get("undo"):
            if not references:
                raise InvalidInput("ids", "is missing; undo needs the ids or keys to bring back")
            return "\n".join(_kept(self._service.undo(reference)) for reference in references)
        older_than = arguments.get("older_than")
        forgotten = self._service.forget(
            references,
            query=arguments.get("query"),
            tags=arguments.get("tags", []),
            older_than=None if older_than is None else parse_when("older_than", older_than, self._service.now()),
            mode="archive" if arguments.get("archive") else "trash",
            dry_run=arguments.get("dry_run", False),
            confirmation=arguments.get("confirm"),
        )
        if not forgotten.memories:
            return "No memories match, nothing was removed."
        count = len(forgotten.memories)
        listed = briefing.block(briefing.index_line(memory) for memory in forgotten.memories)
        if forgotten.queued:
            return f"{_queued(forgotten.queued)}: {count} will be removed there.\n{listed}"
        if forgotten.done:
            return f"{count} {forgotten.action}; `forget` with `undo` brings them back within 30 days.\n{listed}"
        return (
            f"{count} would be {forgotten.action}, nothing was removed yet. "
            f'Call again with the same arguments and confirm "{forgotten.confirmation}".\n{listed}'
        )

    def _resume(self, arguments: dict[str, Any]) -> str:
        tokens = arguments.get("tokens", _RESUME_TOKENS)
        nothing = f"Nothing of what is known fits into {tokens} tokens." if self._service.count() else _NOTHING_YET
        return self._service.resume(tokens) or nothing


def _kept(answer: Remembered) -> str:
    """One line on what a write did, and one on what it replaced."""
    memory = answer.memory
    said = f"{_queued(answer.queued) or _SAID[answer.action]}: {briefing.index_line(memory).removeprefix('- ')}"
    lines = [said]
    if answer.previous is not None and answer.action != "restored":
        lines.append(_replaced(memory, answer.previous, conflict=answer.action == "conflict"))
    if answer.similar:
        lines.append(briefing.block(map(briefing.similar_line, answer.similar)))
    return "\n".join(lines)


def _queued(count: int) -> str:
    """What is said of a write that waits for the server; nothing of one that is stored."""
    return f"Queued, not stored yet (the server cannot be reached; {count} waiting)" if count else ""


def _replaced(memory: Memory, previous: Memory, *, conflict: bool) -> str:
    if previous.id != memory.id:
        return f"It supersedes {previous.id}."
    if conflict:
        when = briefing.day(previous.updated_at)
        return briefing.as_data(
            f"Conflict: on {when} {previous.updated_by} had kept something else under this key: {previous.title}. "
            "`forget` with `undo` puts that back; tell the user if you are not sure which is right."
        )
    return "The value before is in its history; `forget` with `undo` puts it back."
