"""Read memories: load by reference, briefings, history and the activity log."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Unpack

from keepmum.core import briefing, serialization, trust
from keepmum.core.errors import InvalidInput, NotFound, StoreError
from keepmum.core.memory import Action, Activity, DayCount, Facets, LogFilter, Memory, Revision
from keepmum.service import lookup
from keepmum.service.briefing_files import briefed
from keepmum.service.citations import IN_AN_ANSWER
from keepmum.service.context import ServiceContext
from keepmum.service.freshness import CodeReader
from keepmum.service.lookup import Found, Wanted
from keepmum.stores.base import EVERY_ENTRY, known_folders, local
from keepmum_hooks import tool_names

__all__ = ["Reader"]

_IN_RESUME: frozenset[Action] = frozenset({"created", "updated", "conflict", "superseded", "restored", "imported"})


class Reader:
    """Reads memories and shows them without any secret that the scanner finds now."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def load(self, references: Sequence[str], *, quiet: bool = False) -> list[Memory]:
        """These memories in full; reinforces them, unless the read is `quiet`.

        Raises: NotFound, Ambiguous naming the place of the reference.
        """
        found = lookup.find_each(self.context, references, unexpired=True)
        if found.missing:
            raise NotFound("; ".join(found.missing))
        return list(self.context.show(found.memories)) if quiet else self._loaded(found.memories)

    def load_each(self, references: Sequence[str]) -> Found:
        """Those of these memories that exist, as `load` returns them, and why the others could not be loaded.

        Raises: NotFound, Ambiguous when none could.
        """
        found = lookup.find_each(self.context, references, unexpired=True)
        return found._replace(memories=self._loaded(found.memories))

    def load_known(self, memories: Sequence[str], *, quiet: bool = False) -> list[Memory]:
        """Those of the memories with these complete ids that are neither removed nor another user's, as `load` does.

        One read of the store for all of them, without an error for those that are missing.
        """
        context, now = self.context, self.context.clock()
        found = [
            memory
            for memory in context.store.get(memories)
            if memory.status not in {"trashed", "superseded"}
            and (memory.status != "active" or memory.is_visible(now))
            and memory.user == context.place.user
            and (memory.scope != "session" or memory.session == context.place.session)
        ]
        return list(context.show(found)) if quiet else self._loaded(found)

    def _loaded(self, memories: Sequence[Memory]) -> list[Memory]:
        """Memories as they may be shown; notes that they were used."""
        context, now = self.context, self.context.clock()
        if context.store.capabilities.writable:
            with contextlib.suppress(StoreError):  # a full disk must not prevent reading
                context.store.reinforce([memory.id for memory in memories], now)
        shown = list(context.show(memories))
        here = context.place.project or ""
        context.log.defer(*(context.log.entry("loaded", memory, project=here) for memory in shown))
        return shown

    def note_use(self, memories: Sequence[str]) -> None:
        """Reinforce the memories with these ids, whose texts an answer gave, with a later write."""
        self.context.log.defer_use(memories)

    def find(self, reference: str) -> Memory:
        """The one memory with this key, id in either spelling, or prefix of an id.

        Raises: NotFound, Ambiguous.
        """
        return self.context.masker.memory(lookup.find(self.context, reference))

    def file_of(self, memory: Memory) -> tuple[str, str] | None:
        """Id and path of a memory's file in the repository; None when it has none."""
        files = self.context.store.features.files
        return None if files is None else files.file_of(memory.id)

    def with_file_id(self, name: str) -> list[Memory]:
        """The active memories whose files have this id."""
        files, now = self.context.store.features.files, self.context.clock()
        found = [] if files is None else self.context.store.get(files.with_file_id(name))
        return [self.context.masker.memory(memory) for memory in found if memory.is_visible(now)]

    def resume(self, tokens: int = 1000, seconds: float = IN_AN_ANSWER) -> str:
        """What is needed to go on with this project, in at most `tokens`; empty when nothing is known.

        It takes up to `seconds` to compare the code that memories cite.
        """
        context = self.context
        events = [e for e in context.store.activity(50, context.place.project) if e.action in _IN_RESUME]
        lately = [context.masker.activity(event) for event in self.trusted(events)][:5]
        memories = self._briefed()
        remarks = CodeReader(context).remarks(memories, seconds)
        return briefing.resume(context.place.name, memories, lately, tokens, tool_names.reading_hint(), remarks)

    def brief(self, tokens: int = 1000) -> str:
        """The index of what a session should know from its start, in at most `tokens`."""
        memories = self._briefed()
        name, reading = self.context.place.name, tool_names.reading_hint()
        return briefing.brief(name, memories, tokens, reading, CodeReader(self.context).remarks(memories))

    def history(self, reference: str) -> list[Revision]:
        """The revisions of a memory before each change, latest first."""
        memory = lookup.find(self.context, reference)
        return [self.context.masker.revision(past) for past in self.context.history(memory)]

    def replaced(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """What each memory replaced, by its id: the memory that it supersedes, or its last version that said else."""
        found = {memory.id: self._replaced(memory) for memory in memories}
        return {memory: previous for memory, previous in found.items() if previous is not None}

    def _replaced(self, memory: Memory) -> Memory | None:
        context = self.context
        with contextlib.suppress(StoreError, InvalidInput):
            revisions = context.history(memory) if memory.revision > 1 else []
            former = (context.masker.revision(past).before for past in revisions)
            earlier = (serialization.parse({"trust": trust.first(before), **before}) for before in former)
            said_else = (past for past in earlier if (past.text, past.why) != (memory.text, memory.why))
            if (previous := next(said_else, None)) is not None:
                return previous
            if memory.supersedes:  # which may be a claim: what is trusted more was kept
                found = context.store.get([memory.supersedes])
                old = next((one for one in found if one.superseded_by == memory.id), None)
                return None if old is None else context.masker.memory(old)
        return None

    def activity(
        self, limit: int = 50, *, everywhere: bool = False, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        """The latest entries of the activity log, latest first, of this project or of all.

        The next page starts `after` the cursor of the last entry.

        Raises: InvalidInput when `after` is not a cursor.
        """
        context = self.context
        context.log.flush()
        project = None if everywhere else context.place.project
        return [context.masker.activity(event) for event in context.store.activity(limit, project, wanted, after)]

    def activity_days(self, since: int, *, everywhere: bool = False) -> list[DayCount]:
        """How often each agent did what on each day since then, in this project or in all, in the order of days."""
        context = self.context
        context.log.flush()
        counted = context.store.activity_days(since, None if everywhere else context.place.project)
        return [each._replace(agent=context.masker.text(each.agent)) for each in counted]

    def facets(self, **wanted: Unpack[Wanted]) -> Facets:
        """How many of the memories that pass the filters have each kind, agent, tag, status and trust."""
        found = self.context.store.facets(lookup.filter_of(self.context, wanted))
        mask = self.context.masker.text
        return Facets(*({mask(value): count for value, count in counts.items()} for counts in found))

    def trusted(self, events: Sequence[Activity]) -> list[Activity]:
        """Entries of the log without those about memories from outside, whose keys and titles others have chosen."""
        concerned = list(dict.fromkeys(event.memory for event in events if event.memory))
        found = local(self.context.store).get(concerned)
        outside = {memory.id for memory in found if memory.trust == "outside"}
        return [event for event in events if event.memory not in outside]

    def note(self, action: Action, detail: str, memory: Memory | None = None) -> None:
        """Log an action; the detail is left out when it looks like a secret.

        A note about a memory is removed when that is purged.
        """
        log, project = self.context.log, self.context.place.project or ""
        log.defer(log.entry(action, memory, self.context.loggable(detail, "a note"), project))

    def masked(self, text: str) -> str:
        """A text that an answer repeats, without what looks like a secret."""
        return self.context.masker.text(text)

    def every(self, **wanted: Unpack[Wanted]) -> Iterator[Memory]:
        """Every memory that passes the filters, latest first; by default also archived and tombstoned ones.

        Raises: InvalidInput; Incomplete after the last one when a server did not list everything.
        """
        accepted = lookup.filter_of(self.context, {"statuses": ("active", "archived", "tombstoned"), **wanted})
        for page in lookup.listing(self.context.store, accepted):
            yield from self.context.show(page)

    def project_name(self, project: str) -> str:
        """The name of a project: the one it has on this machine, or the last part of its id."""
        if project == self.context.place.project and self.context.place.name:
            return self.context.place.name
        seen = {owner: name for _, owner, name in known_folders(self.context.store) if name}
        return seen.get(project) or project.rpartition("/")[2]

    def known_roots(self) -> frozenset[str]:
        """The folders of projects that this machine has seen."""
        return frozenset(root for root, _, _ in known_folders(self.context.store))

    def project_names(self) -> dict[str, str]:
        """The names of the projects that this machine knows, by id; where two are the same, with the folder."""
        seen = {project: (name, root) for root, project, name in reversed(known_folders(self.context.store))}
        names = [name for name, _ in seen.values()]
        return {
            project: self.context.masker.text(name if names.count(name) == 1 else f"{name} ({root})")
            for project, (name, root) in seen.items()
        }

    def elsewhere(self, memories: Iterable[Memory]) -> dict[str, str]:
        """The names of the other projects that these memories belong to, by the projects' ids."""
        here = self.context.place.project
        others = {memory.project for memory in memories if memory.project and memory.project != here}
        names = self.project_names() if others else {}
        return {project: names.get(project) or project.rpartition("/")[2] for project in others}

    def count(self, **wanted: Unpack[Wanted]) -> int:
        """Number of memories that a recall here searches."""
        return self.context.store.count(lookup.filter_of(self.context, wanted))

    def _briefed(self) -> list[Memory]:
        """The memories that a session should know from its start, as they may be shown."""
        place = self.context.place
        return list(self.context.show(briefed(self.context.store, self.context.clock(), place.project, place.user)))
