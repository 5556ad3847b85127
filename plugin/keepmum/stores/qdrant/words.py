"""Sparse vectors of texts, as Qdrant's model `Qdrant/bm25` makes them, so that one query finds its points and ours.

A token is a run of letters and digits in lower case, without English stop words, stemmed; its index is a hash of it.
Sources, read 2026-11-23: https://github.com/qdrant/qdrant (lib/bm25/src/lib.rs, src/common/inference/bm25_inference.rs,
lib/segment/src/index/field_index/full_text_index/), https://github.com/qdrant/fastembed (fastembed/sparse/bm25.py).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import mmh3
from py_rust_stemmers import SnowballStemmer

from keepmum.core import ranking
from keepmum.core.memory import Memory

__all__ = ["document", "indices", "query", "tokens"]

_K1, _B, _MEAN_LENGTH = 1.2, 0.75, 256.0  # the model's defaults
_CONTEXT_WEIGHT = 0.5  # of the neighbours in the session, as in the other stores
_WORD = re.compile(r"[^\W_]+")
_STEMMER = SnowballStemmer("english")
# Source: english.rs in the folder of stop words named above. Contractions are left out: no token has an apostrophe.
_STOP_WORDS = frozenset(
    "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers "
    "herself it its itself they them their theirs themselves what which who whom this that these those am is are "
    "was were be been being have has had having do does did doing a an the and but if or because as until while "
    "of at by for with about against between into through during before after above below to from up down in out "
    "on off over under again further then once here there when where why how all any both each few more most "
    "other some such no nor not only own same so than too very s t can will just don should now d ll m o re ve y "
    "ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn weren won wouldn".split()
)


def tokens(text: str) -> list[str]:
    """The tokens of a text, in order, as Qdrant's model has them."""
    words = [word.lower() for word in _WORD.findall(text)]
    return [_stemmed(word) for word in words if word not in _STOP_WORDS]


def document(memory: Memory, context: str) -> dict[int, float]:
    """The weight of each token of a memory: of what the model reads, and of its other fields and its neighbours."""
    said = (memory.title, memory.text, memory.why or "", " ".join(memory.tags), memory.key or "")
    whole = "\n".join(said)
    counts: defaultdict[str, float] = defaultdict(float)
    for token in [*tokens(whole), *tokens(ranking.subwords(whole))]:
        counts[token] += 1.0
    for token in tokens(context):
        counts[token] += _CONTEXT_WEIGHT
    for token in [*map(_plain, list(counts)), *_lone_characters(whole)]:
        counts.setdefault(token, 1.0)
    length = sum(counts.values())
    saturation = _K1 * (1 - _B + _B * length / _MEAN_LENGTH)
    return _by_index({token: count * (_K1 + 1) / (count + saturation) for token, count in counts.items()})


def query(words: Iterable[str]) -> dict[int, float]:
    """The tokens of query words, each with the weight 1; empty when the words are stop words or punctuation."""
    found = [token for word in words for token in tokens(word)]
    return _by_index(dict.fromkeys([*found, *map(_plain, found)], 1.0))


def indices(words: Sequence[str]) -> frozenset[int]:
    """The indices of all tokens of words."""
    return frozenset(_index(token) for word in words for token in tokens(word))


def _plain(token: str) -> str:
    """A token without accents, as many people type it."""
    if token.isascii():
        return token
    return "".join(letter for letter in unicodedata.normalize("NFKD", token) if not unicodedata.combining(letter))


def _lone_characters(text: str) -> list[str]:
    """The characters of scripts without spaces, each of which may be searched for."""
    if text.isascii():
        return []
    return [token for token in ranking.spaced(text).split() if ranking.is_lone_character(token)]


def _by_index(weights: Mapping[str, float]) -> dict[int, float]:
    return {_index(token): weight for token, weight in weights.items()}


@functools.lru_cache(65_536)
def _stemmed(word: str) -> str:
    stemmed: str = _STEMMER.stem_word(word)
    return stemmed


@functools.lru_cache(65_536)
def _index(token: str) -> int:
    return abs(mmh3.hash(token))
