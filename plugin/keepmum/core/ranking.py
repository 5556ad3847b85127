"""How a question becomes search terms and candidates become an order: pure functions."""

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
    "Ranked",
    "embedding_text",
    "estimate_tokens",
    "index_terms",
    "is_lone_character",
    "prior",
    "rank",
    "subwords",
    "terms",
]

_WORD = re.compile(r"[^\W_]+(?:[_.'-][^\W_]+)*")
_IDENTIFIER = re.compile(r"\w(?:[\w.\-/]*\w)?")  # a full stop after it is none of it
_SEAM = re.compile(r"[_.\-/]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Scripts that put no space between words, or hang particles on them: Thai, Lao, Khmer, Burmese; kana, Han, Hangul.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
_MAX_TERMS = 32
_MOST_PRIOR = 1.05  # of a memory of this project that matters most and has not faded
_ELSEWHERE = 0.6  # what a memory of another project is worth when every project was asked for
# Words that say nothing about a topic. Dropping them is worth .011 nDCG@10 on our development questions.
_STOP_WORDS = frozenset(
    "a about after again all also am an and any are as at be because been before being but by can could did do does "
    "doing don for from further get had has have having he her here him his how i if in into is it its just let me "
    "more my no nor not of off on once only or other our out over own same she should so some such than that the "
    "their them then there these they this those through to too under until up us very was we were what when where "
    "which while who whom why will with would you your".split()
)


# How words and meaning are weighed (`rank`). All three are flat around these values, on either half of our development
# questions: weights from .5 to .7, floors from the 20th to the 50th and leads over the 10th to the 20th move the mean
# nDCG@10 by less than .003.
_WORDS_WEIGH = 0.6  # beside a cosine
_FLOOR = 50  # a match is worth what it stands above the match of this rank
_LEAD = 10  # and the leg is trusted by what its first stands above the match of this rank
# A cosine below which two texts have nothing in common: what has no word of a question either is no answer to it.
_FAR = 0.1


def terms(query: str, limit: int | None = _MAX_TERMS) -> list[str]:
    """The words of a question worth looking up, in order, each once, at most `limit`.

    An identifier yields itself and its parts: `getUserName` also looks for `user`. A run of a script without spaces
    yields its pairs of characters. A question of stop words alone keeps them: something was asked.
    """
    unique = index_terms(query)
    telling = [word for word in unique if word not in _STOP_WORDS]
    return (telling or unique)[:limit]


def index_terms(text: str) -> list[str]:
    """All that a text can be found by, as `terms` has it, stop words among them."""
    plain = [word.strip("'").lower() for word in _WORD.findall(_UNSPACED.sub(" ", text))]
    return list(dict.fromkeys(word for word in (*plain, *subwords(text).split()) if word))


def subwords(text: str) -> str:
    """The words in `text` that no blank sets apart, lower case, each once, in one line.

    These are the parts of identifiers (camelCase, snake_case, dotted), and the pairs of neighbours in runs of a script
    without spaces: with pairs any word of two characters or more is found, whatever stands around it.
    """
    found: dict[str, None] = {}
    # Most words have no seam; passing over them before the expression looks is what makes this quick.
    seamed = [token for token in dict.fromkeys(text.split()) if not (token.isalpha() and token[1:].islower())]
    for word in dict.fromkeys(_IDENTIFIER.findall(" ".join(seamed))):
        if word.isalnum() and word[1:].islower():
            continue
        parts = _SEAM.split(word)
        if len(parts) > 1:
            found.update((part.lower(), None) for part in parts if len(part) > 1)
    if not text.isascii():
        found.update((pair, None) for run in _UNSPACED.findall(text) for pair in _pairs(run))
    return " ".join(found)


def is_lone_character(word: str) -> bool:
    """Whether a term is a lone character of a script without spaces."""
    return len(word) == 1 and _UNSPACED.fullmatch(word) is not None


def embedding_text(memory: Memory) -> str:
    """What of a memory is embedded: title, text and tags, identifiers opened at their seams, which models read better.

    Tags name what a text is about and does not say: with them the cosine alone finds .02 more nDCG@10.
    """
    begins_so = memory.title.removesuffix("…") in " ".join(memory.text[: 2 * LIMITS.title].split())
    parts = ["" if begins_so else memory.title, memory.text, " ".join(memory.tags)]
    return _CAMEL.sub(" ", "\n".join(filter(None, parts)))


class Ranked(NamedTuple):
    """Where a candidate came to stand, and why."""

    candidate: Candidate
    score: float
    lexical: float  # 0 to 1, beside the best of its leg
    ranks: tuple[int, int]  # in the leg of words and in the leg of meaning, from 1; 0 where it is in none
    prior: float  # the factor that age, importance and distance put on the score

    @property
    def why(self) -> str:
        """What decided, leg by leg."""
        by_words, by_meaning = self.ranks
        meaning = self.candidate.cosine or 0.0
        legs = [f"words {self.lexical:.2f} (rank {by_words})"] if by_words else []
        legs += [f"meaning {meaning:.2f} (rank {by_meaning})"] if by_meaning else []
        return ", ".join([*legs, f"prior {self.prior:.2f}"])


def rank(candidates: Sequence[Candidate], wanted: Filter, limit: int | None = None) -> list[Ranked]:
    """Candidates in the order in which they fit, best first, or the first `limit` of them.

    Meaning counts as it is; words count by how far they stand out. The best match of a question that every memory
    answers in part, such as one about code, says little: its first match leads its tenth by little, and then the cosine
    decides. Where one memory alone has the rare word, that decides. What shares neither word nor meaning is left out.
    """
    relevances = [candidate.lexical for candidate in candidates]
    cosines = [candidate.cosine for candidate in candidates if candidate.cosine is not None]
    best = max(relevances, default=0.0) or 1.0
    # What is taken for the cosine of a memory that has not been embedded yet, while others are.
    usual = sum(cosines) / len(cosines) if cosines else 0.0
    meanings = [usual if candidate.cosine is None else candidate.cosine for candidate in candidates]
    if cosines:
        fits = [
            max(0.0, meaning + _WORDS_WEIGH * share)
            for meaning, share in zip(meanings, _shares(relevances), strict=True)
        ]
    else:
        fits = [relevance / best for relevance in relevances]
    near = [at for at, one in enumerate(candidates) if one.lexical > 0.0 or one.cosine is None or one.cosine >= _FAR]
    chosen = _first(candidates, fits, near, wanted, len(candidates) if limit is None else limit)
    by_words, by_meaning = _Ranks(relevances), _Ranks([candidate.cosine or 0.0 for candidate in candidates])
    return [
        Ranked(candidates[at], score, relevances[at] / best, (by_words.of(at), by_meaning.of(at)), factor)
        for score, factor, at in chosen
    ]


def _first(
    candidates: Sequence[Candidate], fits: Sequence[float], near: Sequence[int], wanted: Filter, limit: int
) -> list[tuple[float, float, int]]:
    """Scores, priors and places among the candidates of the `limit` best of those at `near`, best first.

    The best fit is looked at first, and the search ends where no prior could bring what is left among the first.
    """
    scored: list[tuple[float, float, int]] = []
    least: list[float] = []  # the `limit` best scores, the least of them first
    for at in sorted(near, key=fits.__getitem__, reverse=True):
        if len(least) >= max(limit, 1) and fits[at] * _MOST_PRIOR < least[0]:
            break
        factor = prior(candidates[at], wanted)
        score = fits[at] * factor
        scored.append((score, factor, at))
        if len(least) < limit:
            heapq.heappush(least, score)
        else:
            heapq.heappushpop(least, score)
    return sorted(scored, key=lambda one: (-one[0], candidates[one[2]].id))[:limit]


def prior(memory: Memory | Candidate, wanted: Filter) -> float:
    """The factor that age, importance and distance put on a score; the order where nothing is asked."""
    near = wanted.project is None or memory.project in {None, wanted.project} or memory.scope == "global"
    weight = _MOST_PRIOR - 0.1 * (1.0 - memory.importance)
    return retention.prior(memory, wanted.now) * weight * (1.0 if near else _ELSEWHERE)


def estimate_tokens(text: str) -> int:
    """About how many tokens a model reads for `text`: four bytes of UTF-8 each, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def _shares(relevances: Sequence[float]) -> list[float]:
    """What each match of the leg of words is worth, 0 to 1: how far it stands out, if the first one does."""
    ordered = sorted(relevances, reverse=True)
    best, tenth, floor = ((ordered[rank - 1] if rank <= len(ordered) else 0.0) for rank in (1, _LEAD, _FLOOR))
    if best <= 0.0:
        return [0.0] * len(relevances)
    trust = (best - tenth) / best
    return [trust * max(0.0, relevance - floor) / best for relevance in relevances]


class _Ranks:
    """The place of each value among them, from 1 for the greatest; equal ones share theirs."""

    def __init__(self, values: Sequence[float]) -> None:
        self._values = values
        self._ordered = sorted(values)

    def of(self, at: int) -> int:
        """The place of one of them; 0 when it is not above 0."""
        value = self._values[at]
        return 1 + len(self._ordered) - bisect.bisect_right(self._ordered, value) if value > 0.0 else 0


def _pairs(run: str) -> Iterator[str]:
    """The pairs of neighbours in a run, without the marks that full-text indexes drop; a lone character is itself."""
    letters = [letter for letter in run if letter.isalnum()]
    if len(letters) == 1:
        yield letters[0]
    for one, two in itertools.pairwise(letters):
        yield one + two
