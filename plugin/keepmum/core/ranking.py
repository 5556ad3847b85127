"""Search terms of a query, and the ranking of candidates: pure functions."""

from __future__ import annotations

import bisect
import heapq
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keepmum.core import retention
from keepmum.core.memory import LIMITS, Candidate, Filter, Memory

__all__ = [
    "OUTSIDE",
    "Ranked",
    "embedding_text",
    "estimate_tokens",
    "index_terms",
    "is_lone_character",
    "is_stop_word",
    "is_unspaced",
    "plain_terms",
    "prior",
    "rank",
    "spaced",
    "stem",
    "subwords",
    "terms",
]

_WORD = re.compile(r"[^\W_]+(?:[_.'-][^\W_]+)*")
_IDENTIFIER = re.compile(r"\w(?:[\w.\-/]*\w)?")  # without a full stop after it
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BOUNDARY = re.compile(rf"[_.\-/]+|{_CAMEL.pattern}")
# Scripts without spaces between words, or with particles attached: Thai, Lao, Khmer, Burmese; kana, Han, Hangul.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
_MAX_TERMS = 32
# Endings of forms of an English word, the longest first, each with the length of the shortest stem it is removed from:
# `location` and `located` are one word, `mission` and `missed` are not.
_ENDINGS = (("ions", 5), ("ings", 3), ("ion", 5), ("ing", 3), ("es", 3), ("ed", 3), ("s", 3), ("e", 3))
_SHORTEST_Y = 3  # letters of a word whose ending `y` may change, as in `queries`
_VOWELS = "aeiou"
_MAX_PRIOR = 1.05  # of a memory of this project with importance 1 that has not faded
_OTHER_PROJECT = 0.6  # factor for memories of other projects
# Lexical search in a store leaves out common words. They take longest to look up and distinguish little: without them
# nDCG@10 changes by at most .001 on our development queries.
COMMON = 0.15  # share of all memories; a word that more of them hold is common
MIN_MEMORIES = 1000  # in a smaller store no word is left out
MIN_WORDS = 2  # with fewer other words none is left out
OUTSIDE = 0.8  # factor for text from outside: less than the lowest prior of a comparable match
# Words that say nothing about a topic. Dropping them gains .011 nDCG@10 on the development questions.
_STOP_WORDS = frozenset(
    "a about after again all also am an and any are as at be because been before being but by can could did do does "
    "doing don for from further get had has have having he her here him his how i if in into is it its just let me "
    "more my no nor not of off on once only or other our out over own same she should so some such than that the "
    "their them then there these they this those through to too under until up us very was we were what when where "
    "which while who whom why will with would you your".split()
)

# The weighting of lexical and vector search (see `rank`). Results are flat around these values on both halves of the
# development questions: weights from .5 to .7, floors at ranks 20 to 50 and leads over ranks 10 to 20 change the mean
# nDCG@10 by less than .003.
_LEXICAL_WEIGHT = 0.6  # relative to the cosine
_FLOOR_RANK = 50  # a lexical score counts by how far it exceeds the score at this rank
_LEAD_RANK = 10  # lexical search is trusted by how far its best score exceeds the score at this rank
_MIN_COSINE = 0.1  # below it, a memory without a matching term is not a result


def terms(query: str, limit: int | None = _MAX_TERMS) -> list[str]:
    """The search terms of a query, in order, without duplicates, at most `limit`.

    An identifier yields itself and its parts: `getUserName` also searches for `user`. A run of a script without spaces
    yields its pairs of characters. Stop words are dropped unless the query consists of nothing else.
    """
    every = index_terms(query)
    return ([term for term in every if term not in _STOP_WORDS] or every)[:limit]


def index_terms(text: str) -> list[str]:
    """All terms by which a text can be found, including stop words, in lower case and without duplicates."""
    return list(dict.fromkeys([*_words(text), *subwords(text).split()]))


def plain_terms(text: str) -> list[str]:
    """The words of a text without stop words, and without the words inside them; found in a third of the time."""
    return [word for word in dict.fromkeys(_words(text)) if word not in _STOP_WORDS]


def _words(text: str) -> list[str]:
    """The words of a text in lower case, but for those of scripts without spaces."""
    if text.isascii():
        return _WORD.findall(text.lower())
    return [word.lower() for word in _WORD.findall(_UNSPACED.sub(" ", text))]


def stem(word: str) -> str:
    """An English word without the ending of its form, so that `location` and `located` are one word.

    `query` becomes `queri`, as `queries` does.
    """
    for ending, shortest in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= shortest:
            return word[: -len(ending)]
    if word.endswith("y") and len(word) > _SHORTEST_Y and word[-2] not in _VOWELS:
        return f"{word[:-1]}i"
    return word


def subwords(text: str) -> str:
    """The words inside the words of `text`: lower case, without duplicates, joined by spaces.

    These are the parts of identifiers (camelCase, snake_case, dotted), and all pairs of neighbours in runs of a script
    without spaces; with the pairs in the index, every word of two or more characters can be found.
    """
    found: dict[str, None] = {}
    # Most words have no inner boundary; skipping them before the expression runs makes this fast.
    candidates = [token for token in dict.fromkeys(text.split()) if not (token.isalpha() and token[1:].islower())]
    for word in dict.fromkeys(_IDENTIFIER.findall(" ".join(candidates))):
        if word.isalnum() and word[1:].islower():
            continue
        parts = _BOUNDARY.split(word)
        if len(parts) > 1:
            found.update((part.lower(), None) for part in parts if len(part) > 1)
    if not text.isascii():
        found.update((pair, None) for run in _UNSPACED.findall(text) for pair in _pairs(run))
    return " ".join(found)


def spaced(text: str) -> str:
    """A text with spaces between the characters of scripts without spaces."""
    return _UNSPACED.sub(lambda run: f" {' '.join(run[0])} ", text)


def is_lone_character(term: str) -> bool:
    """Whether a term is a single character of a script without spaces."""
    return len(term) == 1 and _UNSPACED.fullmatch(term) is not None


def is_stop_word(word: str) -> bool:
    """Whether a word in lower case says nothing about a topic."""
    return word in _STOP_WORDS


def is_unspaced(term: str) -> bool:
    """Whether a term is of a script without spaces between words."""
    return not term.isascii() and _UNSPACED.fullmatch(term) is not None


def embedding_text(memory: Memory) -> str:
    """The text of a memory that is embedded: title, text and tags, with camelCase split, which models read better.

    Tags name topics that the text may not mention: with them, nDCG@10 of the cosine alone is .02 higher.
    """
    is_start = memory.title.removesuffix("…") in " ".join(memory.text[: 2 * LIMITS.title].split())
    parts = ["" if is_start else memory.title, memory.text, " ".join(memory.tags)]
    return _CAMEL.sub(" ", "\n".join(filter(None, parts)))


class Ranked(NamedTuple):
    """A candidate with its score and the values that led to it."""

    candidate: Candidate
    score: float
    lexical: float  # 0 to 1, relative to the best lexical score
    ranks: tuple[int, int]  # in lexical and in vector search, from 1; 0 when not found by it
    prior: float  # the factor for age, importance and project


def rank(candidates: Sequence[Candidate], wanted: Filter, limit: int | None = None) -> list[Ranked]:
    """The candidates in descending order of score, at most `limit`.

    The cosine counts as it is; lexical scores count by how far they stand out. When a query's terms occur in every
    memory, as in a question about code, the best lexical score hardly exceeds the tenth, and the cosine decides. When
    only one memory contains a rare term, that decides. Memories with neither a matching term nor a similar vector are
    dropped.
    """
    scores = [candidate.lexical for candidate in candidates]
    cosines = [candidate.cosine for candidate in candidates if candidate.cosine is not None]
    best = max(scores, default=0.0) or 1.0
    if cosines:
        mean = sum(cosines) / len(cosines)  # assumed for a memory that has no vector yet
        relevances = [
            max(0.0, (mean if candidate.cosine is None else candidate.cosine) + _LEXICAL_WEIGHT * share)
            for candidate, share in zip(candidates, _shares(scores), strict=True)
        ]
    else:
        relevances = [score / best for score in scores]
    related = [
        number
        for number, candidate in enumerate(candidates)
        if candidate.lexical > 0.0 or candidate.cosine is None or candidate.cosine >= _MIN_COSINE
    ]
    top = _top(candidates, relevances, related, wanted, len(candidates) if limit is None else limit)
    lexical_ranks, vector_ranks = _Ranks(scores), _Ranks([candidate.cosine or 0.0 for candidate in candidates])
    return [
        Ranked(
            candidates[number],
            score,
            scores[number] / best,
            (lexical_ranks.of(number), vector_ranks.of(number)),
            factor,
        )
        for score, factor, number in top
    ]


def _top(
    candidates: Sequence[Candidate], relevances: Sequence[float], related: Sequence[int], wanted: Filter, limit: int
) -> list[tuple[float, float, int]]:
    """Score, prior and index of the `limit` best of the `related` candidates, best first.

    Candidates are scored in descending order of relevance, until no prior could lift the rest into the result.
    """
    scored: list[tuple[float, float, int]] = []
    lowest: list[float] = []  # a heap of the `limit` best scores
    for number in sorted(related, key=relevances.__getitem__, reverse=True):
        if len(lowest) >= max(limit, 1) and relevances[number] * _MAX_PRIOR < lowest[0]:
            break
        factor = prior(candidates[number], wanted)
        score = relevances[number] * factor
        scored.append((score, factor, number))
        if len(lowest) < limit:
            heapq.heappush(lowest, score)
        else:
            heapq.heappushpop(lowest, score)
    return sorted(scored, key=lambda one: (-one[0], candidates[one[2]].id))[:limit]


def prior(memory: Memory | Candidate, wanted: Filter) -> float:
    """The factor for age, importance and project; it alone orders memories when there is no query."""
    is_near = wanted.project is None or memory.project in {None, wanted.project} or memory.scope == "global"
    weight = _MAX_PRIOR - 0.1 * (1.0 - memory.importance)
    weight *= OUTSIDE if memory.trust == "outside" else 1.0
    return retention.prior(memory, wanted.now) * weight * (1.0 if is_near else _OTHER_PROJECT)


def estimate_tokens(text: str) -> int:
    """The approximate number of tokens of `text`: its bytes of UTF-8 divided by four, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def _shares(scores: Sequence[float]) -> list[float]:
    """The weight of each lexical score, 0 to 1: how far it exceeds the floor, times the trust in lexical search."""
    ordered = sorted(scores, reverse=True)
    best, tenth, floor = (ordered[rank - 1] if rank <= len(ordered) else 0.0 for rank in (1, _LEAD_RANK, _FLOOR_RANK))
    if best <= 0.0:
        return [0.0] * len(scores)
    trust = (best - tenth) / best
    return [trust * max(0.0, score - floor) / best for score in scores]


class _Ranks:
    """The rank of each value, from 1 for the greatest; equal values share a rank."""

    def __init__(self, values: Sequence[float]) -> None:
        self._values = values
        self._ordered = sorted(values)

    def of(self, number: int) -> int:
        """The rank of the value at an index; 0 when the value is not positive."""
        value = self._values[number]
        return 1 + len(self._ordered) - bisect.bisect_right(self._ordered, value) if value > 0.0 else 0


def _pairs(run: str) -> Iterator[str]:
    """The pairs of neighbours in a run, without the marks that full-text indexes drop; a lone character as it is."""
    letters = [letter for letter in run if letter.isalnum()]
    if len(letters) == 1:
        yield letters[0]
    for one, two in itertools.pairwise(letters):
        yield one + two
