"""The default tools, resources and prompts: each is one call of the service, rendered as text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from keepmum.core import ids, memory_text
from keepmum.core.errors import Ambiguous, InvalidInput, NotFound
from keepmum.core.framing import inline, word
from keepmum.core.memory import TRUSTED, Match, Memory
from keepmum.core.when import parse_when
from keepmum.mcp.dialects.handlers import DialectHandlers, open_service
from keepmum.mcp.dialects.keepmum import prompts, resources
from keepmum.mcp.surface import Context
from keepmum.service import Forgotten, MemoryService, Remembered

__all__ = ["MemoryHandlers", "handlers_over", "open_handlers"]

_RESUME_TOKENS = 1500
_ACTIVITY = 50
_MOST_LISTED = 100  # memories that are about to be removed, line by line
_SECONDS_PER_DAY = 86_400
_LOST = "No memory can be read here."
_EMPTY = "Nothing is remembered for this project yet. `remember` keeps something for the next session."
_ALL_FROM_OUTSIDE = (
    "Every memory here comes from outside and is shown only on request: `recall` finds it. "
    "The user decides about them with `keepmum review`."
)
_OUTCOMES = {
    "created": "Kept",
    "updated": "Updated",
    "conflict": "Replaced",
    "restored": "Brought back",
    None: "Known already, nothing changed",
}


def open_handlers(context: Context) -> MemoryHandlers:
    """Handlers for the memory of the client's folder.

    Raises: KeepmumError when the settings are invalid or the store cannot be opened.
    """
    return MemoryHandlers(open_service(context), context)


def handlers_over(service: MemoryService, context: Context) -> MemoryHandlers:
    """Handlers for a client of a team's server."""
    return MemoryHandlers(service, context, environ=None)


class MemoryHandlers(DialectHandlers):
    """The default tools over one service (see `keepmum.mcp.surface.Handlers`)."""

    _names = MappingProxyType({"id": "ids", "key": "ids"})

    def __init__(
        self, service: MemoryService, context: Context, environ: Mapping[str, str] | None = os.environ
    ) -> None:
        tools = {
            "remember": self._remember,
            "recall": self._recall,
            "load": self._load,
            "forget": self._forget,
            "resume": self._resume,
        }
        super().__init__(service, context, tools, environ=environ)

    def _parameters_of(self, tool: str) -> Mapping[str, str]:
        return {"id": "supersedes", "ttl_seconds": "ttl_days"} if tool == "remember" else self._names

    def _content(self, uri: str, context: Context) -> tuple[str, str]:
        return "text/markdown", self._with_notices(self._resource(uri), context)

    def _prompted(self, name: str, arguments: dict[str, str]) -> str:
        if name == "capture":
            return prompts.CAPTURE
        parts = [prompts.BRIEFING, self._service.resume(_RESUME_TOKENS) or self._nothing_unasked()]
        if focus := arguments.get("focus"):
            parts.append(self._recall({"query": focus, "trusts": TRUSTED}))
        return "\n\n".join(parts)

    def _resource(self, uri: str) -> str:
        if uri == resources.CONTEXT:
            return self._service.brief() or self._nothing_unasked()
        if uri == resources.ACTIVITY:
            events = self._service.trusted(self._service.activity(_ACTIVITY))
            lines = [memory_text.event_line(event) for event in events]
            return memory_text.block(lines) if lines else self._empty()
        if not uri.startswith(resources.SCHEME):
            raise NotFound("the resources of this server start with memory://")
        from urllib.parse import unquote  # rarely needed

        loaded = self._service.load([unquote(uri.removeprefix(resources.SCHEME))])
        return memory_text.block([memory_text.full(loaded[0], remarks=self._service.remarks(loaded))])

    # -- tools

    def _remember(self, arguments: dict[str, Any]) -> str:
        days = arguments.pop("ttl_days", None)
        if days is not None:
            arguments["ttl_seconds"] = days * _SECONDS_PER_DAY
        return _outcome(self._service.remember(**arguments))

    def _recall(self, arguments: dict[str, Any]) -> str:
        since = arguments.pop("since", None)
        if since is not None:
            arguments["since"] = parse_when("since", since, self._service.now())
        explain = arguments.pop("explain", False)
        tokens = arguments.pop("tokens", self._service.recall_tokens)
        found: Sequence[Match] = self._service.recall(**arguments)
        if arguments.get("query") and "limit" not in arguments:
            found = memory_text.leading(found)
        if found:
            memories = [match.memory for match in found]
            elsewhere, remarks = self._service.elsewhere(memories), self._service.remarks(memories)
            answer = memory_text.matches(found, elsewhere, tokens, explain=explain, remarks=remarks)
            self._service.note_use(answer.used)
            return "\n".join([answer.framed, *self._left_out(answer, arguments), *self._lexical_only()])
        if not self._service.count():
            return self._empty()
        no_match = "No memories match. Try other words, fewer filters, or scope `all`."
        return "\n".join([no_match, *(self._lexical_only() if arguments.get("query") else ())])

    def _left_out(self, answer: memory_text.Answer, arguments: dict[str, Any]) -> list[str]:
        """That a list is not complete: of all memories, or of those that match."""
        shown = len(answer.entries)
        total = 0 if arguments.get("query") else self._service.count(**_filters(arguments))
        if total > shown:
            return [f"The latest {shown} of {total:,}."]
        return [f"{answer.left_out:,} more left out; raise `tokens`."] if answer.left_out else []

    def _empty(self) -> str:
        """That there are no memories; after damage, that there were some."""
        return f"{_LOST} {self._service.store.notice}" if self._service.store.notice else _EMPTY

    def _nothing_unasked(self, reason: str = _EMPTY) -> str:
        """Why nothing is shown without a query: `reason`, unless there are no such memories."""
        if self._service.count(trusts=TRUSTED):
            return reason
        return _ALL_FROM_OUTSIDE if self._service.count() else self._empty()

    def _lexical_only(self) -> list[str]:
        """Why search is lexical only; each reason is shown once."""
        reason = self._service.lexical_only
        if not reason or reason in self._shown_notices:
            return []
        self._shown_notices.add(reason)
        return [f"Lexical only: {reason}."]

    def _load(self, arguments: dict[str, Any]) -> str:
        if not arguments["ids"]:
            raise InvalidInput("ids", "is empty; give ids or keys that `recall` listed")
        loaded, missing = self._service.load_each(arguments["ids"])
        elsewhere, remarks = self._service.elsewhere(loaded), self._service.remarks(loaded)
        shown = memory_text.block(memory_text.full_each(loaded, elsewhere, remarks, self._service.replaced(loaded)))
        return "\n".join([shown, *_not_done("Not loaded", missing)])

    def _forget(self, arguments: dict[str, Any]) -> str:
        references = arguments.get("ids", [])
        if arguments.get("undo"):
            if not references:
                raise InvalidInput("ids", "is missing; undo needs the ids or keys to restore")
            return self._undo(references)
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
            return _nothing_removed(forgotten, arguments.get("query"))
        count = len(forgotten.memories)
        lines = memory_text.index_lines(forgotten.memories[:_MOST_LISTED])
        if count > _MOST_LISTED:
            lines.append(f"and {count - _MOST_LISTED:,} more")
        listed = memory_text.block(lines)
        if forgotten.queued:
            return f"{_queued(forgotten.queued)}: {count} will be removed there.\n{listed}"
        if forgotten.done:
            them = "it" if count == 1 else "them"
            return f"{count} {forgotten.action}; `forget` with `undo` brings {them} back within 30 days.\n{listed}"
        return (
            f"{count} would be {forgotten.action}, nothing was removed yet. "
            f'Call again with the same arguments and confirm "{forgotten.confirmation}".\n{listed}'
        )

    def _undo(self, references: Sequence[str]) -> str:
        """Undo the last change of each memory; one that cannot be undone does not stop the others."""
        done: list[str] = []
        failed: list[str] = []
        for number, reference in enumerate(references):
            try:
                done.append(_outcome(self._service.undo(reference)))
            except (NotFound, Ambiguous, InvalidInput) as error:
                if len(references) == 1:
                    raise
                failed.append(f"ids[{number}]: {error}")
        return "\n".join([*done, *_not_done("Not brought back", failed)])

    def _resume(self, arguments: dict[str, Any]) -> str:
        tokens = arguments.get("tokens", _RESUME_TOKENS)
        return self._service.resume(tokens) or self._nothing_unasked(f"No memory fits into {tokens} tokens.")


def _outcome(answer: Remembered) -> str:
    """What a write did, what it replaced, and near duplicates."""
    memory = answer.memory
    line = f"{_queued(answer.queued) or _OUTCOMES[answer.action]}: {memory_text.index_line(memory).removeprefix('- ')}"
    lines = [line]
    if answer.kept is not None:
        lines.append(memory_text.kept_line(answer.kept))
    if answer.previous is not None and answer.action != "restored":
        lines.append(_replaced(memory, answer.previous, conflict=answer.action == "conflict"))
    if answer.wrong is not None:
        lines.append(memory_text.wrong_line(*answer.wrong))
    if answer.similar:
        lines.append(memory_text.block(map(memory_text.similar_line, answer.similar)))
    return "\n".join(lines)


def _filters(arguments: dict[str, Any]) -> dict[str, Any]:
    """Of the arguments of a recall, those that choose memories."""
    return {name: value for name, value in arguments.items() if name not in {"query", "limit"}}


def _not_done(what: str, reasons: Sequence[str]) -> list[str]:
    """A line for each reference that names no memory; long lists are cut, with the number left out."""
    lines = [inline(f"{what}: {reason}") for reason in reasons[:_MOST_LISTED]]
    more = len(reasons) - _MOST_LISTED
    return [*lines, f"{what}: {more:,} more"] if more > 0 else lines


def _nothing_removed(forgotten: Forgotten, query: str | None) -> str:
    if forgotten.already:
        return f"Nothing was removed: {forgotten.action} already."
    advice = " A memory must have every word of the query; `recall` finds similar ones, to be removed by id."
    return f"No memories match, nothing was removed.{advice if query else ''}"


def _queued(count: int) -> str:
    """The note for a queued write; "" for a stored one."""
    return f"Queued, not stored yet (the server is unreachable; {count} queued)" if count else ""


def _replaced(memory: Memory, previous: Memory, *, conflict: bool) -> str:
    if previous.id != memory.id:
        return f"It supersedes {ids.shortened([previous.id])[previous.id]}."
    if conflict:
        when = memory_text.day(previous.updated_at)
        return (
            f"Conflict: on {when} {word(previous.updated_by)} stored something else under this key: "
            f"{inline(previous.title).removesuffix('.')}. "
            "`forget` with `undo` puts that back; tell the user if you are not sure which is right."
        )
    return "The value before is in its history; `forget` with `undo` puts it back."
