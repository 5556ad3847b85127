"""Compares two similar memories: do they say the same, or does one change what the other says? Pure functions."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from keepmum.core import ranking
from keepmum.core.memory import Memory

__all__ = ["DEFAULT", "NEAR", "REPORTED", "SAME", "Advice", "Content", "Similar", "Thresholds", "compare", "content_of",
           "is_change"]  # fmt: skip


class Thresholds(NamedTuple):
    """The cosines from which two memories are taken for similar; they depend on the model."""

    reported: float = 0.80  # the two are reported as similar
    near: float = 0.85  # they say nearly the same
    same: float = 0.97  # a search shows only one of them, whatever their words


DEFAULT = Thresholds()
REPORTED, NEAR, SAME = DEFAULT
Advice = Literal["skip", "supersede", "merge", "keep both"]

_OVERLAP = 0.4  # of the content words of the longer text; with fewer in common, the texts have different subjects
_SHARED = 0.75  # of the content words of the shorter text beyond what was replaced
_MAX_REPLACED = 3  # content words on either side when one thing was replaced by another
_MAX_APART = 8  # words that differ in all when the number of negations does
_MAX_BEFORE_NEGATION = 2  # new content words in front of a negation that was inserted
_MAX_ALIGNED = 800  # words between the common start and end of two texts; aligning more takes too long

# A word may hold the signs of identifiers, paths, versions and times; CJK text has no spaces, so each sign is a word.
_WORD = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
    r"|[^\W\d_](?:[\w+#]|[-'](?=\w))*|\d(?:[\w%]|[-./:,](?=\d))*|%|[.!?;](?=\s|$)"
)
_ENDS = frozenset(".!?;")
_PART = re.compile(r"[-_]")
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
        "ms": "ms msec millisecond milliseconds", "s": "s sec secs second seconds", "min": "min mins minute minutes",
        "h": "h hr hrs hour hours", "d": "day days", "kb": "kb kib kilobyte kilobytes", "mb": "mb mib megabyte megabytes",
        "gb": "gb gib gigabyte gigabytes", "%": "% percent",
    }.items()
    for form in forms.split()
}  # fmt: skip
# Each turns what is said around it into its opposite. `instead` and `rather` count because "A instead of B" says the
# same as "A, not B". The last line is German, French, Spanish and Chinese.
_NEGATIONS = frozenset(
    "not never no none neither nor nothing nobody nowhere without avoid avoids avoided avoiding stop stops stopped "
    "instead rather unable forbidden forbids forbid forbade prohibited disallowed banned disabled "
    "nicht kein keine keinen keinem keiner nie niemals ohne pas jamais aucun aucune sans nunca sin \u4e0d \u6ca1 \u522b \u672a \u65e0".split()
)
# Words that say when or how far something holds, and change no meaning when they are next to a negation.
_FILLERS = frozenset(
    "always longer anymore any ever currently now yet still true case really actually strictly need allowed allow "
    "permitted permit use used using supposed mehr plus".split()
)
_SHORTEST_ADVERB = 5  # letters: "apply" is none
_CONTRACTIONS = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}


def _root(word: str) -> str:
    """A word without the ending of its form: "verifies" and "verify" are one word, and so are "quick" and "quickly"."""
    stem = ranking.stem(word)
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    return stem[:-2] if stem.endswith("ly") and len(stem) > _SHORTEST_ADVERB else stem


# Words that are exchanged when the same is said in other words; each line counts as one word.
_SYNONYMS = {
    _root(word): _root(group.split()[0])
    for group in (
        "use used using utilise utilize employ rely", "keep retain hold maintain", "need require", "check verify validate",
        "begin start launch commence", "fail break", "remove delete drop discard", "make create build produce generate",
        "store save persist", "show display", "run execute perform", "send transmit", "get fetch retrieve obtain acquire",
        "every each", "whole entire complete full", "only solely just merely", "limit cap restrict", "reject refuse",
        "allow permit let enable", "record log", "stay remain", "buy purchase", "large big huge", "small little tiny",
        "quick fast rapid swift", "db database", "config configuration", "repo repository", "doc docs documentation",
        "app application", "env environment", "auth authentication", "via through", "also too additionally",
        "ask contact", "therefore thus hence", "want wish", "main primary", "wrong incorrect", "right correct proper",
        "change modify alter adjust", "add append", "end finish conclude", "error failure", "function method",
        "dir directory folder", "param parameter argument", "spec specification", "id identifier", "info information",
        "dev development", "prod production", "max maximum", "min minimum", "approx approximately roughly around",
        "old previous former earlier", "choose select pick", "give return yield", "ensure guarantee", "contain include",
        "occur happen", "call invoke", "deploy ship release", "trigger cause", "handle process", "explain describe",
        "temporary transient", "fix repair resolve", "problem issue bug", "usually normally typically generally",
        "often frequently", "rarely seldom", "immediately instantly", "later afterwards", "current present existing",
        "however though although", "example instance", "goal aim purpose", "way approach", "part piece section",
        "email mail e-mail", "phone telephone", "photo picture", "easy simple", "hard difficult", "safe secure",
        "enough sufficient adequate", "many numerous several", "help assist", "tell inform notify", "answer reply respond",
        "go move", "important crucial essential", "new fresh", "put place", "try attempt",
        "prefer favour favor", "avoid prevent", "expect anticipate", "split divide", "join combine merge",
        "automatic automatically", "manual manually", "expire lapse",
    )
    for word in group.split()
}  # fmt: skip
# Words that say nothing about a topic and yet turn a statement round when one stands for the other.
_OPPOSITES = {
    word: frozenset(others.split())
    for one, two in (
        ("before", "after"), ("from", "to"), ("over above", "under below"), ("on", "off"), ("in", "out"),
        ("up", "down"), ("more", "less fewer"), ("all each every both most", "some few any"), ("same", "other"),
    )
    for words, others in ((one, two), (two, one))
    for word in words.split()
}  # fmt: skip
# Words without a meaning of their own in a statement, beyond those that are no search terms.
_WEAK = frozenset("per upon like such must while whilst yet less fewer".split())
_BETWEEN_EQUALS = frozenset({"and", "or", "nor", "with", "plus", "und", "oder", "et", "ou", "y", "o"})


class _Word(NamedTuple):
    """One word of a text as it is compared."""

    form: str
    kind: Literal["content", "number", "negation", "stop", "end"]


@dataclass(frozen=True, slots=True)
class Content:
    """What a memory says, as it is compared: its words in order, and how often each word with a meaning occurs."""

    words: tuple[_Word, ...]
    meanings: Counter[str]  # content words and numbers

    @property
    def negations(self) -> int:
        """Number of negations."""
        return sum(word.kind == "negation" for word in self.words)

    def overlap(self, other: Content) -> float:
        """The share of content words, of the text that has more, that the other one has as well; 0 to 1."""
        more = max(self.meanings.total(), other.meanings.total())
        return (self.meanings & other.meanings).total() / more if more else 1.0

    def equals(self, other: Content) -> bool:
        """Whether both say the same in the same words, in any order."""
        return (
            self.meanings == other.meanings
            and self.negations == other.negations
            and not _is_exchange(self.words, other.words)
        )


@dataclass(frozen=True, slots=True)
class Similar:
    """A stored memory that is similar to a new one."""

    memory: Memory
    cosine: float  # or the overlap of their words, when there are no vectors
    advice: Advice  # for the new memory
    contradicts: bool  # whether one of the two changes what the other says


def compare(new: Memory, old: Memory, cosine: float, thresholds: Thresholds = DEFAULT) -> Similar:
    """The comparison of `new` with `old`, with advice: skip it, let it supersede, merge the two, or keep both.

    `skip` means that `old` says exactly the same; a difference is never skipped.
    """
    ours, theirs = content_of(new), content_of(old)
    contradicts = is_change(ours, theirs)
    advice: Advice = "merge"
    if contradicts:
        advice = "supersede"
    elif ours.equals(theirs):
        advice = "skip"
    elif cosine < thresholds.near:
        advice = "keep both"
    elif theirs.meanings < ours.meanings and ours.negations == theirs.negations:
        advice = "supersede"
    return Similar(old, cosine, advice, contradicts)


def content_of(memory: Memory) -> Content:
    """What a memory says in its title and text."""
    return _content(memory.title, memory.text)


@functools.lru_cache(maxsize=256)
def _content(title: str, text: str) -> Content:
    start = " ".join(title.removesuffix("…").split())
    body = text if " ".join(text[: 2 * len(title) + 8].split()).startswith(start) else f"{title}.\n{text}"
    words = tuple(_words(body))
    return Content(words, Counter(word.form for word in words if word.kind in {"content", "number"}))


def is_change(new: Content, old: Content) -> bool:
    """Whether one text changes what the other says: a number, a negation, or one thing for another.

    A rewording is no change, and neither is an addition. Texts of opposite meaning have nearly the same vector, so the
    cosine cannot tell; this is a hint for a person or an agent, not a verdict.
    """
    if new.overlap(old) < _OVERLAP:
        return False
    ours, theirs = _without_common_ends(new.words, old.words)
    if max(len(ours), len(theirs)) > _MAX_ALIGNED:
        return False
    added, removed = new.meanings - old.meanings, old.meanings - new.meanings
    runs = list(_differences(ours, theirs))
    slots = [(_meant(run.ours, added), _meant(run.theirs, removed)) for run in runs]
    replaced = [(ours, theirs) for ours, theirs in slots if ours and theirs]
    in_slots = sum(min(len(ours), len(theirs)) for ours, theirs in replaced)
    fewer = min(new.meanings.total(), old.meanings.total())
    shared = (new.meanings & old.meanings).total()
    return (
        (shared >= _SHARED * (fewer - in_slots) and (_are_numbers(replaced) or _is_one_thing(replaced, shared)))
        or (shared >= _SHARED * fewer and (_negations_differ(new, old, runs) or any(map(_are_opposite, runs))))
        or _is_exchange(new.words, old.words)
    )


class _Run(NamedTuple):
    """A place where two texts differ: the words of each there; one of the two may be empty."""

    ours: tuple[_Word, ...]
    theirs: tuple[_Word, ...]


_Slot = tuple[tuple[str, ...], tuple[str, ...]]  # the words with a meaning of two texts where they differ


def _words(text: str) -> Iterator[_Word]:
    """The words of a text in a form in which equal meanings are equal."""
    for found in _WORD.findall(text.lower().replace("\u2019", "'")):
        if found in _ENDS:
            yield _Word(found, "end")
            continue
        word = found.removesuffix("'s")
        if word.endswith("n't") or word in _CONTRACTIONS:
            yield _Word(_CONTRACTIONS.get(word, word[:-3]), "stop")
            yield _Word("not", "negation")
        elif word in _NEGATIONS:
            yield _Word("not", "negation")
        elif word in _COUNTS:
            yield _Word(_COUNTS[word], "number")
        elif word[0].isdigit() or (word[0] == "v" and word[1:2].isdigit()):
            yield from _number(word)
        elif word in _WEAK or ranking.is_stop_word(word):
            yield _Word(word, "stop")
        else:
            yield _Word(_canonical(word), "content")


def _number(word: str) -> Iterator[_Word]:
    """A number without the commas between its thousands, and its unit as a word."""
    parts = _NUMBER.fullmatch(word.removeprefix("v"))
    if parts is None:  # a date or a range
        yield _Word(word, "number")
        return
    yield _Word(parts[1].replace(",", ""), "number")
    if parts[2]:
        yield _Word(_canonical(parts[2]), "content")


def _canonical(word: str) -> str:
    if word in _UNITS:
        return _UNITS[word]
    root = _root(word)
    return _SYNONYMS.get(root, root)


_FILLING = frozenset(map(_canonical, _FILLERS))


def _without_common_ends(ours: Sequence[_Word], theirs: Sequence[_Word]) -> tuple[Sequence[_Word], Sequence[_Word]]:
    """Both texts from the first to the last word in which they differ."""
    start, least = 0, min(len(ours), len(theirs))
    while start < least and ours[start].form == theirs[start].form:
        start += 1
    end = 0
    while end < least - start and ours[-1 - end].form == theirs[-1 - end].form:
        end += 1
    return ours[start : len(ours) - end], theirs[start : len(theirs) - end]


def _differences(ours: Sequence[_Word], theirs: Sequence[_Word]) -> Iterator[_Run]:
    """The places where two texts differ, in order."""
    from difflib import SequenceMatcher  # rarely needed

    aligned = SequenceMatcher(None, [word.form for word in theirs], [word.form for word in ours], autojunk=False)
    for operation, start, end, our_start, our_end in aligned.get_opcodes():
        if operation != "equal":
            yield _Run(tuple(ours[our_start:our_end]), tuple(theirs[start:end]))


def _meant(words: Sequence[_Word], among: Counter[str]) -> tuple[str, ...]:
    """The words with a meaning of their own that only this text has."""
    return tuple(word.form for word in words if word.kind in {"content", "number"} and word.form in among)


def _is_number(form: str) -> bool:
    return form[0].isdigit()


def _are_numbers(replaced: Sequence[_Slot]) -> bool:
    """Whether every difference that replaces something replaces a number."""
    return bool(replaced) and all(any(map(_is_number, ours)) and any(map(_is_number, theirs)) for ours, theirs in replaced)


def _negations_differ(new: Content, old: Content, runs: Sequence[_Run]) -> bool:
    """Whether one text denies what the other says; not when a statement was added that contains a negation."""
    if new.negations == old.negations:
        return False
    added, removed = new.meanings - old.meanings, old.meanings - new.meanings
    apart = sum(len(run.ours) + len(run.theirs) for run in runs if run.ours and run.theirs)
    return apart <= _MAX_APART and any(
        _denies(words, others, among)
        for run in runs
        for words, others, among in ((run.ours, run.theirs, added), (run.theirs, run.ours, removed))
        if _negated(words) > _negated(others)
    )


def _negated(words: Sequence[_Word]) -> int:
    return sum(word.kind == "negation" for word in words)


def _denies(words: Sequence[_Word], others: Sequence[_Word], among: Counter[str]) -> bool:
    """Whether the negation in words that stand for `others` is about the text around them, not about something new."""
    if not others and any(word.kind == "end" for word in words):  # a sentence that was added
        return False
    place = next(number for number, word in enumerate(words) if word.kind == "negation")
    before = [form for form in _meant(words[:place], among) if form not in _FILLING]
    after = [form for form in _meant(words[place:], among) if form not in _FILLING]
    return not after and len(before) <= _MAX_BEFORE_NEGATION


def _is_one_thing(replaced: Sequence[_Slot], shared: int) -> bool:
    """Whether one thing was replaced by another, in one place or in the same way in several.

    The longer it is, the more words must be shared: otherwise the texts make different statements.
    """
    things = {_different_parts(ours, theirs) for ours, theirs in replaced}
    return len(things) == 1 and max(map(len, *things)) <= min(_MAX_REPLACED, (shared + 1) // 2)


def _different_parts(ours: Sequence[str], theirs: Sequence[str]) -> _Slot:
    """The parts in which words differ: a name that was replaced is often a part of several identifiers."""
    new, old = ([part for word in words for part in _PART.split(word)] for words in (ours, theirs))
    while len(new) > 1 and len(old) > 1 and new[-1] == old[-1]:
        new, old = new[:-1], old[:-1]
    while len(new) > 1 and len(old) > 1 and new[0] == old[0]:
        new, old = new[1:], old[1:]
    return tuple(new), tuple(old)


def _are_opposite(run: _Run) -> bool:
    """Whether a word such as "before" was replaced by its opposite."""
    ours = {word.form for word in run.ours}
    return any(not ours.isdisjoint(_OPPOSITES.get(word.form, ())) for word in run.theirs)


def _is_exchange(ours: Sequence[_Word], theirs: Sequence[_Word]) -> bool:
    """Whether two things changed places: "A instead of B" and "B instead of A"; not in "A and B"."""
    places = [number for number, word in enumerate(ours) if word.kind in {"content", "number"}]
    new = [ours[number].form for number in places]
    old = [word.form for word in theirs if word.kind in {"content", "number"}]
    different = [number for number, (one, two) in enumerate(zip(new, old, strict=False)) if one != two]
    if len(new) != len(old) or len(different) < 2:
        return False
    first, second = different[:2]
    one, two = new[first], old[first]
    if [two if form == one else one if form == two else form for form in old] != new:
        return False
    between = ours[places[first] + 1 : places[second]]
    return not all(word.form in _BETWEEN_EQUALS for word in between)
