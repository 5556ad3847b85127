"""Meaning over several stores: each is asked in the best way that it knows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence

from keepmum.core.memory import Candidate, Embedding, Filter, Memory
from keepmum.stores.base import Meaning, Question, Store
from keepmum.stores.joined.fusion import as_ours, has_own_scores

__all__ = ["JoinedMeaning"]

# Those of a store's memories that changed later in another.
Outdated = Callable[[Store, Iterable[Memory | Candidate]], Collection[str]]


class JoinedMeaning:
    """A `Meaning` over stores of which some go by words alone."""

    def __init__(
        self, each: Sequence[tuple[Store, Meaning | None]], far: Callable[[], Sequence[Store]], outdated: Outdated
    ) -> None:
        self._each = each
        self._far = far
        self._outdated = outdated

    def find(self, words: Sequence[str], question: Question, wanted: Filter, limit: int) -> list[Candidate]:
        """What each store finds, by words and meaning where it can, by words elsewhere; each memory once."""
        question = functools.cache(question)  # each store asks for it; it is embedded once
        asked = [*self._each, *((store, store.meaning) for store in (self._far() if wanted.everywhere else ()))]
        ours: dict[str, Candidate] = {}
        for store, meaning in (pair for pair in asked if not has_own_scores(pair[0])):
            own = meaning.find(words, question, wanted, limit) if meaning else _by_words(store, words, wanted, limit)
            ours = self._current(store, own) | ours
        found = ours
        for store in (store for store, _ in asked if has_own_scores(store)):
            theirs = _by_words(store, words, wanted, limit)  # asked first: what it shows is known here from then on
            near = store.at_hand.meaning
            here = _by_id(near.find(words, question, wanted, limit) if near is not None else ())
            found = self._current(store, as_ours(theirs, here, list(ours.values()), wanted)) | found
        return list(found.values())

    def alike(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text, of all stores that know, nearest first."""
        found: dict[str, tuple[Memory, float]] = {}
        for store, meaning in self._each:
            own = [] if meaning is None else meaning.alike(embedding, wanted, limit)
            outdated = self._outdated(store, (memory for memory, _ in own))
            found |= {pair[0].id: pair for pair in own if pair[0].id not in outdated}
        return sorted(found.values(), key=lambda pair: -pair[1])[:limit]

    def repeats(self, ids: Sequence[str], cosine: float) -> dict[str, tuple[str, float]]:
        """Which of these memories say nearly the same as one before them in the same store."""
        return {each: first for meaning in self._knowing for each, first in meaning.repeats(ids, cosine).items()}

    @property
    def problem(self) -> str:
        """Why one of the stores searches no meaning, in a sentence; empty when none says."""
        return next(filter(None, (meaning.problem for meaning in self._knowing)), "")

    def other_model(self, model: str) -> str | None:
        """Another model that vectors of one of the stores are of, if any."""
        return next(filter(None, (meaning.other_model(model) for meaning in self._knowing)), None)

    def awaiting(self, model: str, limit: int) -> list[Memory]:
        """Memories that have no vector of `model` yet."""
        return [memory for meaning in self._knowing for memory in meaning.awaiting(model, limit)][:limit]

    def count_awaiting(self, model: str) -> int:
        """How many these are."""
        return sum(meaning.count_awaiting(model) for meaning in self._knowing)

    def is_ready(self, model: str) -> bool:
        """Whether that is so in every store that knows meaning."""
        return all(meaning.is_ready(model) for meaning in self._knowing)

    def keep(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        """Keep vectors in the stores whose memories they are of; how many these were."""
        return sum(meaning.keep(embedded) for meaning in self._knowing)

    def prepare(self, model: str) -> None:
        """Bring every index of vectors up to date."""
        for meaning in self._knowing:
            meaning.prepare(model)

    def _current(self, store: Store, found: Sequence[Candidate]) -> dict[str, Candidate]:
        outdated = self._outdated(store, found)
        return _by_id(candidate for candidate in found if candidate.id not in outdated)

    @property
    def _knowing(self) -> list[Meaning]:
        return [meaning for _, meaning in self._each if meaning is not None]


def _by_id(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    return {candidate.id: candidate for candidate in candidates}


def _by_words(store: Store, words: Sequence[str], wanted: Filter, limit: int) -> list[Candidate]:
    """What a store finds that knows no meaning."""
    return [Candidate.lexical_only(*pair) for pair in store.search(words, wanted, limit)]
