"""Reading: what fits a question, what a name means, what a session should know."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

from keepmum.core import briefing, ranking, similarity, validation
from keepmum.core.errors import NotFound, ScannerFailed, StoreError
from keepmum.core.memory import LIMITS, Action, Activity, Candidate, Filter, Match, Memory, Order, Revision
from keepmum.service.briefing_files import told
from keepmum.service.context import Context, Wanted
from keepmum.stores.base import QueryVector, known_folders

__all__ = ["Reading"]

_CANDIDATES = 60  # of each leg, from which the ranking picks
_SPARE = 5  # places that are looked at beyond those asked for, to stand in for repeats
_WORTH_TELLING: frozenset[Action] = frozenset({"created", "updated", "conflict", "superseded", "restored", "imported"})


class Reading(Context):
    """The part of the service that reads: nothing is shown that today's rules would refuse."""

    def recall(
        self,
        query: str | None = None,
        *,
        limit: int = 10,
        offset: int = 0,
        order: Order = "updated",
        tokens: int | None = None,
        **wanted: Unpack[Wanted],
    ) -> list[Match]:
        """The memories that fit best, best first; without a query those that pass the filters, latest first.

        Of several that say the same, the best stands for all. With `tokens`, the list ends before their texts would
        cost more than that together, though not before the first. Nothing is reinforced by being found.

        Raises: InvalidInput, StoreError.
        """
        text = validation.clean("query", query or "", LIMITS.query)
        looked_at = self._filter(wanted)
        if not text:
            found = self.store.browse(looked_at, order=order, limit=limit, offset=offset)
            return _within(tokens, [Match(self._masker.memory(memory), 0.0, "latest") for memory in found])
        question = self._embeddings.question(text)
        told = self._loggable(text, "a query")  # while the question is embedded
        candidates = self._candidates(text, question, looked_at, max(_CANDIDATES, limit + offset))
        places = self._without_repeats(ranking.rank(candidates, looked_at, _SPARE + offset + limit))
        matches = _within(tokens, self._matches(places[offset : offset + limit]))
        detail = f"{told} ({len(matches)} found)"
        self._journal.hold_back(self._journal.entry("recalled", detail=detail, project=self.place.project or ""))
        return matches

    def load(self, references: Sequence[str]) -> list[Memory]:
        """These memories in full, and note that they were used: the only read that reinforces.

        Raises: NotFound, Ambiguous naming the reference.
        """
        memories, now = self._named(references), self._clock()
        for memory in memories:
            if memory.status == "active" and not memory.is_visible(now):
                raise NotFound(f"{memory.id} has expired; `forget` with `undo` brings it back")
        if self.store.capabilities.writable:
            with contextlib.suppress(StoreError):  # a full disk must not keep anyone from reading
                self.store.reinforce([memory.id for memory in memories], now)
        shown = [self._masker.memory(memory) for memory in memories]
        self._journal.hold_back(*(self._journal.entry("loaded", memory) for memory in shown))
        return shown

    def find(self, reference: str) -> Memory:
        """The one memory that goes by a key, an id in either spelling, or the beginning of an id.

        Raises: NotFound, Ambiguous.
        """
        return self._masker.memory(self._find(reference))

    def filed(self, memory: Memory) -> tuple[str, str] | None:
        """Id and path that a memory has in a repository's files; None where it lies in none."""
        files = self.store.features.files
        return None if files is None else files.file_of(memory.id)

    def called(self, name: str) -> list[Memory]:
        """The memories whose files give this id, active ones alone."""
        files = self.store.features.files
        ids = [] if files is None else files.with_file_id(name)
        now = self._clock()
        return [self._masker.memory(memory) for memory in self.store.get(ids) if memory.is_visible(now)]

    def resume(self, tokens: int = 1000) -> str:
        """What is needed to go on with this project, in at most `tokens`; empty when nothing is known."""
        memories = self._told()
        events = self.store.activity(50, self.place.project)
        lately = [event for event in events if event.action in _WORTH_TELLING][:5]
        return briefing.resume(self.place.name, memories, [self._masker.activity(event) for event in lately], tokens)

    def brief(self, tokens: int = 1000) -> str:
        """The index of what a session should know from its start, in at most `tokens`."""
        memories = self._told()
        return briefing.brief(self.place.name, memories, tokens)

    def history(self, reference: str) -> list[Revision]:
        """What a memory was before each change, latest first."""
        return [self._masker.revision(past) for past in self.store.history(self._find(reference).id)]

    def activity(self, limit: int = 50, *, everywhere: bool = False) -> list[Activity]:
        """Who did what here lately, latest first."""
        self._journal.flush()
        project = None if everywhere else self.place.project
        return [self._masker.activity(event) for event in self.store.activity(limit, project)]

    def note(self, action: Action, detail: str, memory: Memory | None = None) -> None:
        """Tell the activity log of something done here, without its words when they look like a secret.

        What is told of a memory goes when that is purged.
        """
        entry = self._journal.entry(action, memory, self._loggable(detail, "a note"), self.place.project or "")
        self._journal.hold_back(entry)

    def masked(self, text: str) -> str:
        """What an answer repeats of a call, without what looks like a secret."""
        return self._masker.text(text)

    def every(self, *, everywhere: bool = False, page: int = 200) -> Iterator[Memory]:
        """Every memory that is neither trashed nor superseded, for an export."""
        wanted = replace(self._filter({"statuses": ("active", "archived", "tombstoned")}), everywhere=everywhere)
        offset = 0
        while found := self.store.browse(wanted, order="created", limit=page, offset=offset):
            yield from map(self._masker.memory, found)
            offset += len(found)

    def project_name(self, project: str) -> str:
        """What a project is called: as it was where it was seen on this machine, or by the last part of its id."""
        if project == self.place.project and self.place.name:
            return self.place.name
        seen = {owner: name for _, owner, name in known_folders(self.store) if name}
        return seen.get(project) or project.rpartition("/")[2]

    def count(self, **wanted: Unpack[Wanted]) -> int:
        """How many memories a recall here looks through."""
        return self.store.count(self._filter(wanted))

    @property
    def lexical_only(self) -> str:
        """Why the last search went by words alone; empty when meaning counted, or was not wanted."""
        return self._embeddings.lexical_only

    @property
    def model_missing(self) -> bool:
        """Whether that is for want of a model on this machine, which may be what the user wants."""
        return self._embeddings.model_missing

    def _candidates(self, text: str, question: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        words = ranking.terms(text)
        vectors = self.store.features.vector_search
        if vectors is not None:
            return vectors.search(words, question, wanted, limit)
        return [Candidate.lexical_only(*pair) for pair in self.store.search(words, wanted, limit)]

    def _without_repeats(self, places: list[ranking.Ranked]) -> list[ranking.Ranked]:
        """Places without those that say the same as one before them."""
        vectors = self.store.features.vector_search
        if vectors is None or all(place.candidate.cosine is None for place in places):
            return places
        repeats = vectors.duplicates([place.candidate.id for place in places], similarity.SAME)
        return [place for place in places if place.candidate.id not in repeats]

    def _matches(self, places: Sequence[ranking.Ranked]) -> list[Match]:
        """What was found, as it may be shown; what was purged meanwhile is left out."""
        found = {memory.id: memory for memory in self.store.get([place.candidate.id for place in places])}
        return [
            Match(self._masker.memory(found[place.candidate.id]), place.score, place.why)
            for place in places
            if place.candidate.id in found
        ]

    def _told(self) -> list[Memory]:
        """What a session should know of, as it may be shown."""
        found = told(self.store, self._clock(), self.place.project, self.place.user)
        return [self._masker.memory(memory) for memory in found]

    def _loggable(self, words: str, what: str) -> str:
        """`words` as the log may keep them: that there was `what`, where they look like a secret."""
        try:
            return (
                f"{what} that was not kept, it looked like a secret"
                if validation.scan_text(words, self._scan)
                else words
            )
        except ScannerFailed:
            return f"{what} that was not kept, the scanner failed"


def _within(tokens: int | None, matches: list[Match]) -> list[Match]:
    """The first of `matches` that can be read in full for so many tokens; one at least."""
    if tokens is None:
        return matches
    kept: list[Match] = []
    left = tokens
    for match in matches:
        left -= ranking.estimate_tokens(match.memory.title + match.memory.text)
        if left < 0 and kept:
            break
        kept.append(match)
    return kept
