"""Search: the memories that answer a query, ranked, judged, and of several versions the newest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from keepmum.core import ids, ranking, relevance, validation
from keepmum.core.errors import Ambiguous, InvalidInput, NotFound
from keepmum.core.memory import LIMITS, LISTED, Candidate, Embedding, Filter, Match, Memory, Order
from keepmum.service import lookup
from keepmum.service.context import ServiceContext
from keepmum.service.lookup import Wanted
from keepmum.service.versions import BLOCK, Shown, Versions, newest_first
from keepmum.stores import Store
from keepmum.stores.base import QueryVector, reading

__all__ = ["Searcher"]

_CANDIDATES = 60  # of each kind of search, for the ranking
_SPARE = 5  # ranked results beyond those asked for, to replace duplicates


class Searcher:
    """Searches memories and shows them without any secret that the scanner finds now."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def recall(  # noqa: PLR0913 - each way of narrowing a search is one keyword
        self,
        query: str | None = None,
        *,
        limit: int = 10,
        offset: int = 0,
        order: Order = "updated",
        tokens: int | None = None,
        quiet: bool = False,
        weak: bool = False,
        embedding: Embedding | None = None,
        **wanted: Unpack[Wanted],
    ) -> list[Match]:
        """The memories that match best, best first; without a query those that pass the filters, latest first.

        Memories that hardly answer the query are left out, and when none answers it, only two weak matches are
        returned at most; with `weak` all are returned. Of several versions of a memory the newest is returned, with the
        one before it as `previous`. With `tokens`, the list ends before the texts cost more than that together, but has
        at least one. Being found does not reinforce a memory (see `note_use`). A `quiet` search is not logged: it is a
        person's in a dashboard. `embedding` is the vector of the query, where its client has computed it.

        Raises: InvalidInput, StoreError.
        """
        context = self.context
        text = validation.clean("query", query or "", LIMITS.query)
        accepted = lookup.filter_of(context, wanted)
        if not text:
            latest = context.store.browse(accepted, order=order, limit=limit, offset=offset)
            return _within(tokens, [Match(context.masker.memory(memory), 0.0, "latest") for memory in latest])
        if (named := self._with_id(text, accepted)) is not None:
            return [Match(context.masker.memory(named), 1.0, "its id")]
        vector = context.embeddings.of_query(text) if embedding is None else lambda: embedding
        logged = "" if quiet else context.loggable(text, "a query")  # while the vector is computed
        with reading(context.store):
            candidates = self._candidates(text, vector, accepted, max(_CANDIDATES, limit + offset))
            found = self._found(candidates, accepted, text, offset + limit, weak=weak)
        matches = _within(tokens, [self._match(*one) for one in found[offset:]])
        if not quiet:
            detail = f"{logged} ({len(matches)} found)"
            context.log.defer(context.log.entry("recalled", detail=detail, project=context.place.project or ""))
        return matches

    def _candidates(self, text: str, vector: QueryVector, accepted: Filter, limit: int) -> list[Candidate]:
        words = ranking.terms(text)
        vectors = self.context.embeddings.search
        if vectors is not None:
            return vectors.search(words, vector, accepted, limit)
        if (questions := self.context.store.features.questions) is not None:
            return questions.candidates(words, vector, accepted, limit)
        return [Candidate.lexical_only(*pair) for pair in self.context.store.search(words, accepted, limit)]

    def _found(
        self, candidates: Sequence[Candidate], accepted: Filter, query: str, count: int, *, weak: bool
    ) -> list[tuple[relevance.Judged, Shown]]:
        """The first `count` results, each by the judgement on the best of its versions.

        Memories that were purged since are left out.
        """
        context = self.context
        among = [each.id for each in candidates]
        versions = Versions(context.near, accepted, among, context.embeddings.calibration)
        most = max(relevance.WINDOW, count)
        shown: list[tuple[relevance.Judged, Shown]] = []
        for limit in (-(-(_SPARE + most) // BLOCK) * BLOCK, None):  # whole blocks
            ranked = ranking.rank(candidates, accepted, limit)
            found = _loaded(context.store, [each.candidate for each in ranked])
            judged = self._judged([each for each in ranked if each.candidate in found], found, query, accepted)
            if not weak:
                judged = relevance.answering(judged)
            memories = [found[each.ranked.candidate] for each in judged]
            shown = [(judged[one.place], one) for one in newest_first(memories, versions, query, count)]
            if len(shown) >= count or limit is None or not len(memories) == len(ranked) == limit:
                break
        return shown

    def _with_id(self, text: str, accepted: Filter) -> Memory | None:
        """The memory whose id, or its start, is the whole query, when a search here may return it."""
        if not text.lower().startswith(ids.PREFIX) or ids.id_range(text) is None:
            return None
        try:
            memory = lookup.find(self.context, text)
        except (NotFound, Ambiguous, InvalidInput):
            return None
        is_here = accepted.everywhere or memory.scope == "global" or memory.project == accepted.project
        is_theirs = memory.user == accepted.user and memory.scope != "session"
        is_trusted = not accepted.trusts or memory.trust in accepted.trusts
        return memory if is_here and is_theirs and is_trusted and memory.is_visible(accepted.now) else None

    def _judged(
        self, ranked: Sequence[ranking.Ranked], found: Mapping[Candidate, Memory], query: str, accepted: Filter
    ) -> list[relevance.Judged]:
        """How well each memory answers the query. What a server found in its own way is taken as it is."""
        store = self.context.store
        is_foreign = "search" in store.capabilities.cannot and all(each.candidate.cosine is None for each in ranked)
        texts = [
            None if is_foreign or (memory := found[each.candidate]).origin == LISTED else _searched(memory)
            for each in ranked
        ]
        return relevance.judge(ranked, texts, ranking.terms(query), self.context.sizes.of(accepted))

    def _match(self, judged: relevance.Judged, shown: Shown) -> Match:
        """A result as it may be shown."""
        mask, legs = self.context.masker.memory, judged.legs
        return Match(
            mask(shown.memory),
            judged.ranked.score,
            relevance.explanation(legs, judged.fit),
            legs,
            shown.previous and mask(shown.previous),
            band=judged.band,
            fit=judged.fit,
        )


def _loaded(store: Store, candidates: Sequence[Candidate]) -> dict[Candidate, Memory]:
    """The memories of candidates, without those that were purged since. Several projects of a team may use one id."""
    memories = store.get(list(dict.fromkeys(each.id for each in candidates)))
    by_id = {memory.id: memory for memory in memories}
    if len(by_id) == len(memories):
        return {each: by_id[each.id] for each in candidates if each.id in by_id}
    by_both = {(memory.id, memory.project): memory for memory in memories}
    return {each: by_both[each.id, each.project] for each in candidates if (each.id, each.project) in by_both}


def _searched(memory: Memory) -> str:
    """All fields of a memory in which words are looked up."""
    return "\n".join(filter(None, [memory.title, memory.text, memory.why, memory.key, *memory.tags]))


def _within(tokens: int | None, matches: list[Match]) -> list[Match]:
    """The first of `matches` whose texts cost at most `tokens` together; at least one."""
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
