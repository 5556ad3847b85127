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
from keepmum.core.statement import FILLERS, MEANINGFUL, OPPOSITES, Word, words

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

_PART = re.compile(r"[-_]")
_BETWEEN_EQUALS = frozenset({"and", "or", "nor", "with", "plus", "und", "oder", "et", "ou", "y", "o"})


@dataclass(frozen=True, slots=True)
class Content:
    """What a memory says, as it is compared: its words in order, and how often each word with a meaning occurs."""

    words: tuple[Word, ...]
    meanings: Counter[str]  # content words and numbers, in a form in which words of one meaning are equal
    terms: frozenset[str]  # its search terms

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
            self.terms == other.terms
            and self.meanings == other.meanings
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
    found = tuple(words(body))
    return Content(
        words=found,
        meanings=Counter(word.form for word in found if word.kind in MEANINGFUL),
        terms=frozenset(map(ranking.stem, ranking.terms(body, limit=None))),
    )


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

    ours: tuple[Word, ...]
    theirs: tuple[Word, ...]


_Slot = tuple[tuple[str, ...], tuple[str, ...]]  # the words with a meaning of two texts where they differ


def _without_common_ends(ours: Sequence[Word], theirs: Sequence[Word]) -> tuple[Sequence[Word], Sequence[Word]]:
    """Both texts from the first to the last word in which they differ."""
    start, least = 0, min(len(ours), len(theirs))
    while start < least and ours[start].form == theirs[start].form:
        start += 1
    end = 0
    while end < least - start and ours[-1 - end].form == theirs[-1 - end].form:
        end += 1
    return ours[start : len(ours) - end], theirs[start : len(theirs) - end]


def _differences(ours: Sequence[Word], theirs: Sequence[Word]) -> Iterator[_Run]:
    """The places where two texts differ, in order."""
    from difflib import SequenceMatcher  # rarely needed

    aligned = SequenceMatcher(None, [word.form for word in theirs], [word.form for word in ours], autojunk=False)
    for operation, start, end, our_start, our_end in aligned.get_opcodes():
        if operation != "equal":
            yield _Run(tuple(ours[our_start:our_end]), tuple(theirs[start:end]))


def _meant(words: Sequence[Word], among: Counter[str]) -> tuple[str, ...]:
    """The words with a meaning of their own that only this text has."""
    return tuple(word.form for word in words if word.kind in MEANINGFUL and word.form in among)


def _is_number(form: str) -> bool:
    return form[0].isdigit()


def _are_numbers(replaced: Sequence[_Slot]) -> bool:
    """Whether every difference that replaces something replaces a number."""
    return bool(replaced) and all(
        any(map(_is_number, ours)) and any(map(_is_number, theirs)) for ours, theirs in replaced
    )


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


def _negated(words: Sequence[Word]) -> int:
    return sum(word.kind == "negation" for word in words)


def _denies(words: Sequence[Word], others: Sequence[Word], among: Counter[str]) -> bool:
    """Whether the negation in words that stand for `others` is about the text around them, not about something new."""
    if not others and any(word.kind == "end" for word in words):  # a sentence that was added
        return False
    place = next(number for number, word in enumerate(words) if word.kind == "negation")
    before = [form for form in _meant(words[:place], among) if form not in FILLERS]
    after = [form for form in _meant(words[place:], among) if form not in FILLERS]
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
    return any(not ours.isdisjoint(OPPOSITES.get(word.form, ())) for word in run.theirs)


def _is_exchange(ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether two things changed places: "A instead of B" and "B instead of A"; not in "A and B"."""
    new, old = (
        [(at, word.form) for at, word in enumerate(words) if word.kind in MEANINGFUL] for words in (ours, theirs)
    )
    different = [place for place, (one, two) in enumerate(zip(new, old, strict=False)) if one[1] != two[1]]
    if len(new) != len(old) or len(different) < 2:
        return False
    first, second = different[:2]
    one, two = new[first][1], old[first][1]
    if [two if form == one else one if form == two else form for _, form in old] != [form for _, form in new]:
        return False
    between, before = (
        [word.form for word in words[found[first][0] + 1 : found[second][0]]]
        for words, found in ((ours, new), (theirs, old))
    )
    return between == before and not _BETWEEN_EQUALS.issuperset(between)
