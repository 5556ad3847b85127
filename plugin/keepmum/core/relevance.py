"""Whether the best-ranked memories answer a query at all: pure functions of their cosines and the words they hold.

The evidence of a memory is the sum of two values. The first is its cosine as a number of standard deviations above that
of unrelated texts. The second is its coverage: the share of the query's words that it holds, where a word that few of
the best-ranked memories hold counts more. A memory with enough evidence is a match, any other is weak.

Measured on six sets of questions, each threshold learnt on the others: of logistic models of up to 13 figures (gaps
between ranks, BM25, number of words ...) none separates answerable questions from foreign ones, or from those whose
answer was removed, better than this sum (AUC within .003). `tests/bench/retrieval/retrieval_abstention.py` measures it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from keepmum.core.calibration import COMMON, DEVIATION
from keepmum.core.memory import Band, Legs
from keepmum.core.ranking import Ranked, is_unspaced, stem
from keepmum.core.spelling import MIN_LENGTH, PREFIX, is_typo, misspelt

__all__ = ["WINDOW", "Judged", "answering", "explanation", "judge"]

WINDOW = 15  # best-ranked memories whose texts are read; those behind them keep their order
_COVERED = 5.0  # evidence of a memory that holds every word of a long query
_FEW_WORDS = 2.0  # added to the weight of all words, because a short query is covered by chance
_RARITY = 0.75  # exponent of a word's weight
_LEXICAL = (1.5, 15.0)  # evidence without a vector: this, plus this times the coverage
_CROWD = 0.25  # evidence that is taken off when e times as many memories are searched: the best of many is better
_FEW = 100  # memories, from which on it is taken off
_BONUS = 0.09  # added to the relevance of a memory that holds every word; gains .003 nDCG@10 on the development sets

_MATCH = 4.55  # evidence of a match
_WEAK, _WEAKEST = 2.5, 1.0  # of two weak matches that are shown, and of a single one
_MAX_WEAK = 2
_MARGIN, _SLOPE = 1.0, 3.0  # what is weaker than the best is left out, unless the best is far above a match

_MIN_NAME = 4  # characters of an identifier
_MIN_NUMBER = 5  # digits of an identifier that is a number
_MAX_HOLDERS = 3  # of the best-ranked memories; a name that more of them hold does not single out any


class Judged(NamedTuple):
    """A ranked memory with the words of the query that it holds, and how well it answers."""

    ranked: Ranked  # its score includes the coverage
    terms: tuple[str, ...]
    evidence: float
    band: Band

    @property
    def fit(self) -> float:
        """How well it answers the query, 0 to 1; at least .5 for a match."""
        fit = 1.0 / (1.0 + math.exp(_MATCH - self.evidence))
        return max(0.5, fit) if self.band == "match" else fit

    @property
    def legs(self) -> Legs:
        """The values that ranked it."""
        ranked = self.ranked
        return Legs(ranked.lexical, ranked.ranks[0], ranked.candidate.cosine, ranked.ranks[1], ranked.prior, self.terms)


def judge(ranked: Sequence[Ranked], texts: Sequence[str | None], words: Sequence[str], searched: int) -> list[Judged]:
    """The ranked memories, of which the first `WINDOW` are put in order again.

    `texts` are all fields of each memory in which words are looked up; a memory with None counts as a match, because
    its text is not known here. `searched` is the number of memories that could have been found.
    """
    held = _held(words, [text or "" for text in texts])
    holders = [sum(each) for each in zip(*held[:WINDOW], strict=True)] or [0] * len(words)
    weights = [math.log1p((WINDOW - count + 0.5) / (count + 0.5)) ** _RARITY for count in holders]
    total = sum(weights) + _FEW_WORDS
    crowd = _CROWD * math.log(max(searched, _FEW) / _FEW)
    names = [count <= _MAX_HOLDERS and _is_name(word) for word, count in zip(words, holders, strict=True)]
    cosines = [each.candidate.cosine for each in ranked if each.candidate.cosine is not None]
    mean = sum(cosines) / len(cosines) if cosines else None
    judged = []
    for each, text, holds in zip(ranked, texts, held, strict=True):
        coverage = sum(weight for weight, is_held in zip(weights, holds, strict=True) if is_held) / total
        evidence = _evidence(each.candidate.cosine, mean, coverage) - crowd
        is_named = any(is_held and is_name for is_held, is_name in zip(holds, names, strict=True))
        is_match = text is None or evidence >= _MATCH or is_named or (bool(words) and all(holds))
        judged.append(
            Judged(
                each._replace(score=each.score + _BONUS * coverage * each.prior),
                tuple(word for word, is_held in zip(words, holds, strict=True) if is_held),
                evidence,
                "match" if is_match else "weak",
            )
        )
    return sorted(judged[:WINDOW], key=lambda one: -one.ranked.score) + judged[WINDOW:]


def answering(judged: Sequence[Judged]) -> list[Judged]:
    """The memories that answer the query, in order; when none does, at most two weak matches."""
    if any(each.band == "match" for each in judged):
        best = max(_MATCH, *(each.evidence for each in judged))
        least = best - _MARGIN - _SLOPE * (best - _MATCH)
        return [each for each in judged if each.band == "match" or each.evidence >= least]
    weak = [each for each in judged if each.evidence >= _WEAK][:_MAX_WEAK]
    return weak or [each for each in judged[:_MAX_WEAK] if each.evidence >= _WEAKEST][:1]


def explanation(legs: Legs, fit: float) -> str:
    """The values in one line, for `explain`."""
    parts = [f"fit {fit:.2f}"]
    parts += [f"lexical {legs.lexical:.2f} (rank {legs.lexical_rank})"] if legs.lexical_rank else []
    parts += [f"vector {legs.cosine or 0.0:.2f} (rank {legs.vector_rank})"] if legs.vector_rank else []
    parts += [f"words {' '.join(legs.terms)}"] if legs.terms else []
    return ", ".join([*parts, f"prior {legs.prior:.2f}"])


def _evidence(cosine: float | None, mean: float | None, coverage: float) -> float:
    """The evidence of one memory; one that has no vector yet is assumed to have the mean cosine."""
    if mean is None:
        return _LEXICAL[0] + _LEXICAL[1] * coverage
    return ((mean if cosine is None else cosine) - COMMON.mean) / DEVIATION + _COVERED * coverage


def _is_name(word: str) -> bool:
    """Whether a word is an identifier, a path, an error code or a long number."""
    if word.isdigit():
        return len(word) >= _MIN_NUMBER
    return len(word) >= _MIN_NAME and any(sign.isdigit() or sign in "_." for sign in word)


def _held(words: Sequence[str], texts: Sequence[str]) -> list[list[bool]]:
    """For each text and each word whether the text holds it, in any of its English forms.

    A word that no text holds counts as held where one letter makes the difference, as in the search.
    """
    lowered = [text.lower() for text in texts]
    cased = [text if len(lower) == len(text) else lower for text, lower in zip(texts, lowered, strict=True)]
    stems = [stem(word) for word in words]
    held = [[_holds(*pair, stemmed) for stemmed in stems] for pair in zip(lowered, cased, strict=True)]
    unknown = [word for place, word in enumerate(words) if not any(holds[place] for holds in held)]
    for word in misspelt(unknown):
        place = words.index(word)
        if len(stems[place]) >= MIN_LENGTH:
            for holds, lower in zip(held, lowered, strict=True):
                holds[place] = _resembles(lower, stems[place])
    return held


def _holds(lower: str, cased: str, stemmed: str) -> bool:
    """Whether a text holds a word with this stem: between other characters, or in a part of a camelCase name."""
    sought = stemmed.removesuffix("i")  # `query` has the stem `queri`
    start = lower.find(sought)
    while start >= 0:
        if is_unspaced(sought):
            return True
        if _begins(cased, start) and stem(_word(cased, lower, start, len(sought))) == stemmed:
            return True
        start = lower.find(sought, start + 1)
    return False


def _resembles(lower: str, stemmed: str) -> bool:
    """Whether a text holds a word that one typo turns into this stem."""
    start = lower.find(stemmed[:PREFIX])
    while start >= 0:
        if _begins(lower, start) and is_typo(stemmed, stem(_word(lower, lower, start, PREFIX))):
            return True
        start = lower.find(stemmed[:PREFIX], start + 1)
    return False


def _word(cased: str, lower: str, start: int, least: int) -> str:
    """The word that starts at a place, in lower case, with at least `least` characters."""
    end = start + least
    while end < len(lower) and lower[end].isalnum() and not _begins(cased, end):
        end += 1
    return lower[start:end]


def _begins(text: str, place: int) -> bool:
    """Whether a word, or a part of a camelCase name, begins at a place of a text."""
    if place == 0:
        return True
    before, after = text[place - 1], text[place : place + 1]
    return not before.isalnum() or (after.isupper() and not before.isupper())
