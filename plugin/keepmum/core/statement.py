"""The words of a text in a form in which equal meanings are equal: what `keepmum.core.similarity` compares."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from keepmum.core import ranking

__all__ = ["DETERMINERS", "FILLERS", "MEANINGFUL", "OPPOSITES", "PREPOSITIONS", "REQUESTS", "Word", "words"]

# A word may hold the signs of identifiers, paths, versions and times; CJK text has no spaces, so each sign is a word.
_WORD = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
    r"|[^\W\d_](?:[\w+#]|[-'](?=\w))*|\d(?:[\w%]|[-./:,](?=\d))*|%|[.!?;](?=\s|$)"
)
_ENDS = frozenset(".!?;")
_NUMBER = re.compile(r"(\d[\d.,:]*?)([a-z%]*)")
_COUNTS = {
    word: str(value)
    for value, words in {
        0: "zero", 1: "one once", 2: "two twice", 3: "three thrice", 4: "four", 5: "five", 6: "six", 7: "seven",
        8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen",
        16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty", 30: "thirty", 40: "forty",
        50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety", 100: "hundred", 1000: "thousand",
    }.items()
    for word in words.split()
}  # fmt: skip
_UNITS = {
    form: unit
    for unit, forms in {
        "ms": "ms msec millisecond milliseconds", "s": "s sec secs second seconds",
        "min": "min mins minute minutes",
        "h": "h hr hrs hour hours", "d": "day days", "kb": "kb kib kilobyte kilobytes",
        "mb": "mb mib megabyte megabytes", "gb": "gb gib gigabyte gigabytes", "%": "% percent",
    }.items()
    for form in forms.split()
}  # fmt: skip
# Each turns what is said around it into its opposite. `instead` and `rather` count because "A instead of B" says the
# same as "A, not B". The last line is German, French, Spanish and Chinese.
_NEGATIONS = frozenset(
    "not never no none neither nor nothing nobody nowhere without avoid avoids avoided avoiding stop stops stopped "
    "instead rather unable forbidden forbids forbid forbade prohibited disallowed banned disabled "
    "nicht kein keine keinen keinem keiner nie niemals ohne pas jamais aucun aucune sans nunca sin "
    "\u4e0d \u6ca1 \u522b \u672a \u65e0".split()
)
_SHORTEST_ADVERB = 5  # letters: "apply" is none
_CONTRACTIONS = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}


def _root(word: str) -> str:
    """A word without the ending of its form: "verifies" is "verify", and "quickly" is "quick"."""
    stem = ranking.stem(word)
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    return stem[:-2] if stem.endswith("ly") and len(stem) > _SHORTEST_ADVERB else stem


# Words that are exchanged when the same is said in other words; those between two commas count as one word.
_SYNONYMS = {
    _root(word): _root(group.split()[0])
    for group in (
        "use used using utilise utilize employ rely, keep retain hold maintain, need require, check verify "
        "validate, begin start launch commence, fail break, remove delete drop discard, make create build produce "
        "generate, store save persist, show display, run execute perform, get fetch retrieve obtain acquire, every "
        "each, whole entire complete full, limit cap restrict, reject refuse, allow permit let enable, record log, "
        "stay remain, buy purchase, large big huge, small little tiny, choose select pick, give return yield, fix "
        "repair resolve, expire lapse, db database, config configuration, repo repository, doc docs documentation, "
        "app application, env environment, auth authentication"
    ).split(", ")
    for word in group.split()
}
# Words that say nothing about a topic and yet turn a statement round when one stands for the other.
OPPOSITES = {
    word: frozenset(others.split())
    for one, two in (
        ("before", "after"), ("from", "to"), ("over above", "under below"), ("on", "off"), ("in", "out"),
        ("up", "down"), ("more", "less fewer"), ("all each every both most", "some few any"), ("same", "other"),
    )
    for words, others in ((one, two), (two, one))
    for word in words.split()
}  # fmt: skip
# Each may name a thing in a statement: "from the camera to the laptop". The second line is German.
PREPOSITIONS = frozenset(
    "at by for from in into of on onto over through to toward under via with "
    "am an auf aus bei durch f\u00fcr im in mit nach von vom zu zum zur".split()
)
# Words that may be between a preposition and its object.
DETERMINERS = frozenset("a an the my your our their his her its der die das den dem ein eine einen einem einer".split())
# Words without a meaning of their own in a statement, beyond those that are no search terms.
_WEAK = frozenset("per upon like such must while whilst yet less fewer".split())
MEANINGFUL = frozenset({"content", "number"})


class Word(NamedTuple):
    """One word of a text as it is compared."""

    form: str
    kind: Literal["content", "number", "negation", "stop", "end"]


def words(text: str) -> Iterator[Word]:
    """The words of a text in a form in which equal meanings are equal."""
    return itertools.chain.from_iterable(map(_words_of, _WORD.findall(text.lower().replace("\u2019", "'"))))


@functools.lru_cache(maxsize=2048)  # a search compares many texts with the same words
def _words_of(found: str) -> tuple[Word, ...]:
    """One word of a text, or the two that a contraction or a number with a unit stands for."""
    word = found.removesuffix("'s")
    if found in _ENDS:
        meant = [Word(found, "end")]
    elif word.endswith("n't") or word in _CONTRACTIONS:
        meant = [Word(_CONTRACTIONS.get(word, word[:-3]), "stop"), Word("not", "negation")]
    elif word in _NEGATIONS:
        meant = [Word("not", "negation")]
    elif word in _COUNTS:
        meant = [Word(_COUNTS[word], "number")]
    elif word[0].isdigit() or (word[0] == "v" and word[1:2].isdigit()):
        meant = list(_number(word))
    elif word in _WEAK or ranking.is_stop_word(word):
        meant = [Word(word, "stop")]
    else:
        meant = [Word(_canonical(word), "content")]
    return tuple(meant)


def _number(word: str) -> Iterator[Word]:
    """A number without the commas between its thousands, and its unit as a word."""
    parts = _NUMBER.fullmatch(word.removeprefix("v"))
    if parts is None:  # a date or a range
        yield Word(word, "number")
        return
    yield Word(parts[1].replace(",", ""), "number")
    if parts[2]:
        yield Word(_canonical(parts[2]), "content")


def _canonical(word: str) -> str:
    if word in _UNITS:
        return _UNITS[word]
    root = _root(word)
    return _SYNONYMS.get(root, root)


# Words that say when or how far something holds, and change no meaning when they are next to a negation.
FILLERS = frozenset(
    map(
        _canonical,
        "always longer anymore any ever currently now yet still true case really actually strictly need allowed allow "
        "permitted permit use used using supposed mehr plus".split(),
    )
)
# Verbs with which a request begins: what follows one is its object, not its subject.
REQUESTS = frozenset(
    map(
        _canonical,
        "use keep need check start run send get make build deploy store put write read call prefer avoid set add ask "
        "wait retry return pin release open close choose install import test log cache never always".split(),
    )
)
