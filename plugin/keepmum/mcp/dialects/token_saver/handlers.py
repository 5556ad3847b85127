"""The tools of the `token-saver` dialect, over the service, rendered as JSON."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from keepmum.core import ids, memory_text, serialization, token_saver, trust, validation
from keepmum.core.errors import InvalidInput, KeepmumError, SecretFound
from keepmum.core.memory import SCOPES, TRUSTED, JsonValue, Memory
from keepmum.core.retention import DAY_MS
from keepmum.core.when import parse_when
from keepmum.mcp.dialects.handlers import JsonHandlers, browse, iso, open_service, outside_mark
from keepmum.mcp.dialects.token_saver import entry, expression, resume, transfer
from keepmum.mcp.dialects.token_saver.options import PROFILES, Options
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService, Remembered, Wanted, opening
from keepmum.service.importers import token_saver as foreign
from keepmum.service.importers.item import NotKept
from keepmum.system.folders import is_inside
from keepmum.workspace import allowlist
from keepmum.workspace.project import UNPLACED
from keepmum.workspace.resolve import resolve_folder
from keepmum_hooks import places

__all__ = ["TokenSaverHandlers", "handlers_over", "open_handlers"]

_LISTED = 50
_SEARCHED = 500  # matches that operators filter
_ALL = sys.maxsize  # memories
_ERRORS = 10  # errors of an import that are listed
_SCOPE_ORDER = ("session", "project", "shared", "global")  # which scope a key is looked up in first


def open_handlers(context: Context) -> TokenSaverHandlers:
    """Handlers for the memory of the client's folder.

    Raises: KeepmumError when the settings are invalid or the store cannot be opened.
    """
    own_session = f"process-{ids.new_id().removeprefix(ids.PREFIX)}"  # for clients without session ids
    service = open_service(context, session=own_session)
    home = places.home(os.environ)
    assert home is not None  # or the store would not have been opened
    return TokenSaverHandlers(service, context, home, own_session)


def handlers_over(service: MemoryService, context: Context) -> TokenSaverHandlers:
    """Handlers for a client of a team's server, which reads and writes no files for it."""
    return TokenSaverHandlers(service, context, None, "", environ=None)


class TokenSaverHandlers(JsonHandlers):
    """Nine tools over one service."""

    _names = MappingProxyType({"text": "value", "title": "value", "data": "value", "ttl_seconds": "ttl"})

    def __init__(
        self,
        service: MemoryService,
        context: Context,
        home: str | None,
        own_session: str,
        *,
        environ: Mapping[str, str] | None = os.environ,
    ) -> None:
        super().__init__(
            service,
            context,
            {
                "write_memory": self._write,
                "read_memory": self._read,
                "list_memories": self._list,
                "delete_memory": self._delete,
                "search_memories": self._search,
                "smart_resume": self._smart_resume,
                "configure_memory": self._configure,
                "export_memories": self._export,
                "import_memories": self._import,
            },
            session=own_session,
            environ=environ,
        )
        self._options = Options(home)
        self._home = home

    # -- tools

    def _write(self, arguments: dict[str, Any]) -> JsonValue:
        answer = self._store(**arguments)
        self._export_if_due()
        return answer

    def _read(self, arguments: dict[str, Any]) -> JsonValue:
        history = arguments.pop("history", False)
        key, pattern = arguments.get("key"), arguments.get("pattern")
        if pattern is None and key is not None and "*" in key:
            key, pattern = None, key
        if not arguments:
            raise InvalidInput("key", "is missing; give a key, a pattern, tags or a scope")
        if key is not None and pattern is None and not arguments.get("tags"):
            found = self._with_key(key, arguments.get("scope"))
            return self._loaded(found[:1], history=history)[0] if found else None
        wanted = self._wanted(pattern=pattern or key, scope=arguments.get("scope"), tags=arguments.get("tags"))
        return self._loaded(list(self._browse(wanted)), history=history)

    def _list(self, arguments: dict[str, Any]) -> JsonValue:
        limit = arguments.pop("limit", _LISTED)
        return [entry.row(memory, cut=True) for memory in self._chosen(limit, **arguments)]

    def _delete(self, arguments: dict[str, Any]) -> JsonValue:
        key, scope = arguments["key"], arguments.get("scope")
        if arguments.get("pattern"):
            found = list(self._browse(self._wanted(pattern=key, scope=scope)))
        else:
            found = self._with_key(key, scope)
        if found:
            self._service.forget([memory.id for memory in found])
        return bool(found)

    def _search(self, arguments: dict[str, Any]) -> JsonValue:
        limit, query = arguments.get("limit", _LISTED), arguments["query"]
        levels = {name: arguments[name] for name in ("minImportance", "maxVerbosity") if name in arguments}
        wanted = self._wanted(scope=arguments.get("scope"))
        condition = expression.parse(query)
        if condition is None:
            most = _SEARCHED if levels else limit
            found = [match.memory for match in self._service.recall(query, limit=most, weak=True, **wanted)]
        elif condition.words:
            matches = self._service.recall(condition.words, limit=_SEARCHED, weak=True, **wanted)
            found = [  # what an older version said finds the newest
                match.memory
                for match in matches
                if any(condition.matches(_searchable_text(one)) for one in (match.memory, match.previous) if one)
            ]
        else:
            found = [memory for memory in self._browse(wanted) if condition.matches(_searchable_text(memory))]
        return [entry.row(memory, cut=True) for memory in found if _passes(memory, **levels)][:limit]

    def _smart_resume(self, arguments: dict[str, Any]) -> JsonValue:
        """The briefing. Levels that the call names are filters; those of the settings never empty a section."""
        options, session = self._options.all(), arguments.pop("session_id", None)
        path = arguments.pop("project_path", None)
        levels = {} if arguments.pop("verbose", False) else {
            "minImportance": options["smartResumeMinImportance"], "maxVerbosity": options["smartResumeMaxVerbosity"],
        }  # fmt: skip
        if "verbosity" in arguments:
            arguments["maxVerbosity"] = arguments.pop("verbosity")
        usual = {name: level for name, level in levels.items() if name not in arguments}
        with contextlib.ExitStack() as stack:
            if path is not None:
                self._home_for("project_path")
            service = self._service if path is None else stack.enter_context(self._in_project(path))
            if session:
                stack.enter_context(service.at(replace(service.place, session=session)))
            found = [memory for memory in self._chosen(_ALL, service, **arguments) if memory.trust in TRUSTED]
            answer = resume.resume(found, options["smartResumeMaxTokens"], lambda memory: _passes(memory, **usual))
            elsewhere = service.caveat() if service is not self._service else ""
            return {**answer, "notice": elsewhere} if elsewhere else answer

    @contextlib.contextmanager
    def _in_project(self, path: str) -> Iterator[MemoryService]:
        """The memory of the project that a folder belongs to, as a session there has it.

        Raises: InvalidInput when there is no such folder; KeepmumError when its memory cannot be opened.
        """
        place = self._service.place
        folder = os.path.realpath(os.path.join(place.root or os.getcwd(), os.path.expanduser(path)))
        if not os.path.isdir(folder):
            problem = "is not a folder" if os.path.exists(folder) else "does not exist, or cannot be read"
            raise InvalidInput("project_path", f"{problem}; give the path of a project's folder")
        environ = self._environ or {}
        found = resolve_folder(environ, folder, self._service.known_roots())
        if found.project.id == UNPLACED:
            raise InvalidInput("project_path", "belongs to no project; give the path of a project's folder")
        if found.project.id == place.project or found.project.root == place.root:
            yield self._service
            return
        with opening.open_session(
            environ, self._service.agent, (folder,), session=place.session or "", upkeep=False, resolved=found
        ) as service:
            yield service

    def _configure(self, arguments: dict[str, Any]) -> JsonValue:
        action = arguments["action"]
        if action != "get":
            self._home_for("action")
        if action == "set":
            if "setting" not in arguments or "value" not in arguments:
                raise InvalidInput("setting", "and value are needed to set one")
            old, new = self._options.set(arguments["setting"], arguments["value"])
            return {"setting": arguments["setting"], "old": old, "new": new}
        if action == "profile" and "profile" not in arguments:
            raise InvalidInput("profile", f"is missing; choose one of {', '.join(PROFILES)}")
        if action == "profile":
            return {"profile": arguments["profile"], "settings": self._options.apply(arguments["profile"])}
        if action == "reset":
            return {"settings": self._options.reset()}
        return {"settings": self._options.all(), "file": self._options.path, "memories": self._service.count()}

    def _export(self, arguments: dict[str, Any]) -> JsonValue:
        self._home_for("output")
        output, pretty = arguments.pop("output", "auto"), arguments.pop("pretty", True)
        # The answer contains the file name.
        validation.refuse_secrets({"output": output}, allowlist.AllowlistScanner(None))
        with_metadata = arguments.pop("includeMetadata", True)
        return self._write_export(output, self._chosen(_ALL, **arguments), pretty=pretty, with_metadata=with_metadata)

    def _import(self, arguments: dict[str, Any]) -> JsonValue:
        home = self._home_for("file")
        path = os.path.join(self._service.place.root or os.getcwd(), os.path.expanduser(arguments["file"]))
        rows, dry = transfer.read(path), arguments.get("dryRun", False)
        # Only Keepmum writes there; any other file can be anybody's.
        is_own = is_inside(os.path.realpath(path), os.path.realpath(os.path.join(home, "exports")))
        counts: dict[str, int] = {"imported": 0, "updated": 0, "skipped": 0, "failed": 0}
        errors: list[JsonValue] = []
        not_kept: Counter[str] = Counter()
        saved: JsonValue = None
        if arguments.get("backup", True) and not dry and self._service.count():
            saved = self._write_export("auto", self._chosen(_ALL), pretty=True, with_metadata=True)
        for number, row in enumerate(rows, 1):
            try:
                parsed = transfer.parse(row)
                parsed = parsed if is_own else parsed._replace(is_outside=True)
                outcome = self._import_one(parsed, row, arguments, dry=dry)
                counts[outcome] = counts.get(outcome, 0) + 1
                if outcome != "skipped":
                    not_kept.update(parsed.not_kept)
            except (InvalidInput, SecretFound) as error:  # the other memories are still imported
                counts["failed"] += 1
                errors.append(f"memory {number}: {error.renamed(self._names)}")
        if len(errors) > _ERRORS:
            errors[_ERRORS:] = [f"and {len(errors) - _ERRORS} more"]
        return {**counts, "dry_run": dry, "not_kept": dict(not_kept), "errors": errors, "backup": saved}

    # -- parts of tools

    def _home_for(self, field: str) -> str:
        """Keepmum's home, for a call that needs files or settings there.

        Raises: InvalidInput naming `field` for a client of a team's server.
        """
        if self._home is None:
            raise InvalidInput(
                field, "names a file or setting of one machine; a team's server has none for you. Nothing was done"
            )
        return self._home

    def _store(  # noqa: PLR0913 - the parameters of the tool
        self,
        *,
        key: str,
        value: JsonValue = None,
        scope: str = "project",
        ttl: float | None = None,
        tags: list[str] | None = None,
        importance: int | None = None,
        verbosity: int | None = None,
        source_kind: str | None = None,
    ) -> dict[str, JsonValue]:
        """Write a value under a key, with_metadata: what is not said has its default, not what was there before."""
        if not key.strip():
            raise InvalidInput("key", "is empty")
        if "*" in key:
            raise InvalidInput("key", "contains *, which is a wildcard for reading; write to one key")
        worth, detail = self._options.levels(key)
        lifetime = ttl if ttl is not None else self._options.all()["ttlDefault"]
        kept = self._service.remember(
            token_saver.text_of(value),
            key=key,
            scope=scope,
            kind=token_saver.kind_of(key),
            tier="long",  # nothing fades in this dialect; use ttl
            tags=tags or [],
            importance=token_saver.importance_of(importance or worth),
            data=token_saver.data_of(value, verbosity or detail),
            ttl_seconds=lifetime or None,
            endless=not lifetime,
            source_kind=source_kind,
        )
        return self._stored(kept)

    def _stored(self, kept: Remembered) -> dict[str, JsonValue]:
        """The answer to a write."""
        status = "queued" if kept.queued else kept.action or "unchanged"
        answer: dict[str, JsonValue] = {"status": status, "memory": self._row(kept.memory)}
        if kept.queued:
            answer["queued"] = kept.queued
        if kept.wrong is not None:
            answer["warning"] = memory_text.wrong_line(*kept.wrong)
        if kept.action == "conflict" and kept.previous is not None:
            answer["replaced"] = {"value": entry.value(kept.previous), "updated_by": kept.previous.updated_by}
        if kept.kept is not None:
            answer["notice"] = memory_text.kept_line(kept.kept)
        if kept.similar:
            answer["similar"] = [
                {"key": similar.memory.key, "similarity": round(similar.cosine, 2), "advice": similar.advice}
                for similar in kept.similar
            ]
        return answer

    def _with_key(self, key: str, scope: str | None) -> list[Memory]:
        """The memories with this key, in `_SCOPE_ORDER`; those from outside last, since they hide no other."""
        found = [memory for memory in self._browse(self._wanted(pattern=key, scope=scope)) if memory.key == key]
        return sorted(found, key=lambda memory: (memory.trust == "outside", _SCOPE_ORDER.index(memory.scope)))

    def _chosen(  # noqa: PLR0913 - the filters of the tools
        self,
        limit: int,
        service: MemoryService | None = None,
        *,
        scope: str | None = None,
        pattern: str | None = None,
        tags: list[str] | None = None,
        minImportance: int = 1,  # noqa: N803 - the parameters of the tools
        maxVerbosity: int = 4,  # noqa: N803
        daysAgo: float | None = None,  # noqa: N803
        since: str | None = None,
        until: str | None = None,
    ) -> list[Memory]:
        """Up to `limit` memories of a service, by default this one, most important first, then latest."""
        now = self._service.now()
        wanted = self._wanted(pattern=pattern, scope=scope, tags=tags)
        if daysAgo is not None:
            wanted["since"] = now - int(daysAgo * DAY_MS)
        if since is not None:
            wanted["since"] = max(parse_when("since", since, now), wanted.get("since") or 0)
        if until is not None:
            wanted["until"] = parse_when("until", until, now)
        chosen: list[Memory] = []
        for memory in self._browse(wanted, service):
            if entry.importance(memory) < minImportance or len(chosen) == limit:
                break  # sorted by importance
            if _passes(memory, maxVerbosity=maxVerbosity):
                chosen.append(memory)
        return chosen

    def _browse(self, wanted: Wanted, service: MemoryService | None = None) -> Iterator[Memory]:
        """Memories that pass the filter, most important first, read lazily."""
        return browse(service or self._service, order="importance", **wanted)

    def _wanted(self, *, pattern: str | None = None, scope: str | None = None, tags: list[str] | None = None) -> Wanted:
        return {"scope": scope, "tags": tags or (), "keys": pattern}

    def _loaded(self, memories: list[Memory], *, history: bool) -> list[JsonValue]:
        """The memories in full, with `history` also their earlier values; counts as use, which other reads do not."""
        loaded = self._service.load([memory.id for memory in memories])
        return [{**self._row(memory), **({"history": self._history(memory)} if history else {})} for memory in loaded]

    def _history(self, memory: Memory) -> JsonValue:
        """The values that a memory had before, latest first, and who replaced each."""
        return [
            {
                "value": entry.value(serialization.parse({"trust": trust.first(revision.before), **revision.before})),
                "replaced_at": iso(revision.at),
                "replaced_by": revision.agent,
                "action": revision.action,
            }
            for revision in self._service.history(memory.id)
        ]

    def _row(self, memory: Memory) -> dict[str, JsonValue]:
        here = memory.project is not None and memory.project == self._service.place.project
        return entry.row(memory, root=self._service.place.root if here else None)

    def _write_export(self, output: str, memories: list[Memory], *, pretty: bool, with_metadata: bool) -> JsonValue:
        now = self._service.now()
        path = transfer.Folders(self._home_for("output"), self._service.place.root).file(output, now)
        rows: list[JsonValue] = [
            self._row(memory)
            if with_metadata
            else {"key": memory.key, "value": entry.value(memory), "scope": memory.scope, **outside_mark(memory)}
            for memory in memories
            if memory.key
        ]
        transfer.write(path, rows, now, pretty=pretty)
        return {"path": path, "count": len(rows)}

    def _export_if_due(self) -> None:
        """Run the automatic export if it is enabled and due."""
        options = self._options.all()
        if not options["autoExportEnabled"]:
            return
        folders = transfer.Folders(self._home_for("output"), self._service.place.root)
        output = options["autoExportPath"]
        try:
            last = transfer.newest(folders.exports) if output == "auto" else os.path.getmtime(folders.file(output, 0))
        except OSError:
            last = 0.0
        if self._service.now() / 1000 - last >= options["autoExportFrequency"] * 3600:
            self._write_export(output, self._chosen(_ALL), pretty=True, with_metadata=True)

    def _import_new(self, values: Mapping[str, Any], row: transfer.Row) -> str:
        """Import a memory of others whose key is free, with its author, dates and use; return the outcome to count.

        Raises: InvalidInput, SecretFound.
        """
        now = self._service.now()
        found = foreign.item("", values, now)
        if isinstance(found, NotKept) or found.values is None:
            raise InvalidInput("key", "or value is missing")
        kept = self._service.import_memory({
            **found.values, "id": ids.new_id(now),  # keys say what is stored already, whatever was removed
            "project": self._service.place.project if values["scope"] in {"project", "shared"} else None,
        })  # fmt: skip
        row.not_kept[:] = [name for name in row.not_kept if name not in transfer.ATTRIBUTES]
        return "queued" if kept.queued else "imported"

    def _import_one(self, row: transfer.Row, raw: Mapping[str, Any], options: Mapping[str, Any], *, dry: bool) -> str:
        """Import one memory; return the outcome to count.

        Raises: InvalidInput, SecretFound.
        """
        scope = options.get("scope") or row.scope
        if scope not in SCOPES:
            raise InvalidInput("scope", f"must be one of {', '.join(SCOPES)}")
        key = options.get("keyPrefix", "") + row.key
        usual = self._options.levels(key)
        worth, detail = row.importance or usual[0], row.verbosity or usual[1]
        if worth < options.get("minImportance", 1):
            return "skipped"
        present = self._with_key(key, scope)
        if present and not _wins(row.updated_at, worth, present[0], options, self._service.now()):
            return "skipped"
        is_kept_whole = row.is_outside and not present and row.ttl is None and scope != "session"
        if not dry and is_kept_whole:  # a time to live counts from a write of today
            changed = {"key": key, "scope": scope, "importance": worth, "verbosity": detail}
            return self._import_new({**raw, **dict(raw.get("metadata") or {}), "metadata": None, **changed}, row)
        if not dry:
            stored = self._store(
                key=key, value=row.value, scope=scope, ttl=row.ttl, tags=row.tags, importance=worth, verbosity=detail,
                source_kind="file" if row.is_outside else None,
            )  # fmt: skip
            if "notice" in stored:  # what the user's agents wrote under this key stays
                row.not_kept.append("key")
            if stored["status"] == "queued":
                return "queued"
        return "updated" if present else "imported"


def _searchable_text(memory: Memory) -> str:
    """The text that a search with operators matches."""
    return "\n".join((memory.key or "", memory.title, memory.text, " ".join(memory.tags)))


def _passes(memory: Memory, minImportance: int = 1, maxVerbosity: int = 4) -> bool:  # noqa: N803 - the tools' names
    return entry.importance(memory) >= minImportance and entry.verbosity(memory) <= maxVerbosity


def _wins(updated_at: str, worth: int, present: Memory, options: Mapping[str, Any], now: int) -> bool:
    """Whether an imported value replaces the present one."""
    mode, rule = options.get("mode", "merge"), options.get("onConflict", "newer")
    if mode == "skip" or (mode == "merge" and rule == "skip"):
        return False
    if mode == "replace":
        return True
    if rule == "higher_importance":
        return worth > entry.importance(present)
    try:
        written = parse_when("updated_at", updated_at, now)
    except KeepmumError:
        return False  # unknown age: keep the present value
    return written > present.updated_at if rule == "newer" else written < present.updated_at
