"""Compares two similar memories: do they say the same, or does one change what the other says? Pure functions."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from keepmum.core import ranking
from keepmum.core.memory import Memory
from keepmum.core.statement import (
    DETERMINERS,
    FILLERS,
    MEANINGFUL,
    OPPOSITES,
    PREPOSITIONS,
    REQUESTS,
    Word,
    words,
)

__all__ = ["NEAR", "REPORTED", "SAME", "Advice", "Content", "Relation", "Similar", "are_near", "compare",
           "content_of", "is_change", "lookup_terms", "may_be_near", "overlap", "pairs_to_compare",
           "relation"]  # fmt: skip


# Thresholds for the cosine, on the scale of `keepmum.core.calibration`.
REPORTED = 0.80  # the two are reported as similar
NEAR = 0.85  # they say nearly the same
SAME = 0.97  # a search shows only one of them, whatever their words
Advice = Literal["skip", "supersede", "merge", "keep both"]
# The newest version stands for the others; of siblings, which may be about different things, each is shown.
Relation = Literal["version", "sibling"]

_OVERLAP = 0.4  # of the content words of the longer text; with fewer in common, the texts have different subjects
_SHARED = 0.75  # of the content words of the shorter text beyond what was replaced
_MAX_REPLACED = 3  # content words on either side when one thing was replaced by another
_MAX_APART = 8  # words that differ in all when the number of negations does
_MAX_BEFORE_NEGATION = 2  # new content words in front of a negation that was inserted
_MAX_ALIGNED = 800  # words between the common start and end of two texts; aligning more takes too long

_NEAR_OVERLAP = 0.6  # of two texts that are compared by words only
_FRAME = 0.5  # of all words, at the start and the end of two texts of which one place differs
_MIN_IN_FRAME = 1  # content words
_ROUGHLY_SHARED = 0.4  # of the different words of the longer text; less than any two near texts share
_MARKS = 1024  # of words; the more, the fewer words share one
_IN_LABEL = 2  # content words before the number of a thing
_MIN_SHARED = 4  # content words that two versions have in common
_LOOKED_UP = 600  # characters of a memory by whose words its versions are looked up
_LOOKUP_TERMS = 9
_MIN_GROUPED = 3  # words; fewer are looked up one by one
_NEVER_LOOKED_UP = frozenset("never none nothing without cannot".split())
_PART = re.compile(r"[-_]")
_BETWEEN_EQUALS = frozenset({"and", "or", "nor", "with", "plus", "und", "oder", "et", "ou", "y", "o"})


@dataclass(frozen=True, slots=True)
class Content:
    """What a memory says, as it is compared: its words in order, and how often each word with a meaning occurs."""

    words: tuple[Word, ...]
    meanings: Counter[str]  # content words and numbers, in a form in which words of one meaning are equal
    text: str

    @property
    def terms(self) -> frozenset[str]:
        """Its search terms."""
        return _terms(self.text)

    @property
    def negations(self) -> int:
        """Number of negations."""
        return sum(word.kind == "negation" for word in self.words)

    def shared(self, other: Content) -> int:
        """Number of content words that both have."""
        theirs = other.meanings  # `&` of two counters takes four times as long
        return sum([min(count, theirs[form]) for form, count in self.meanings.items() if form in theirs])

    def overlap(self, other: Content) -> float:
        """The share of content words, of the text that has more, that the other one has as well; 0 to 1."""
        more = max(self.meanings.total(), other.meanings.total())
        return self.shared(other) / more if more else 1.0

    def is_near(self, other: Content) -> bool:
        """Whether two texts say nearly the same by their words: most are shared, or all but one place is alike.

        A name that stands for another one lowers the cosine of a short text far below that of other similar texts.
        """
        return self.overlap(other) >= _NEAR_OVERLAP or (
            _frame(self.words, other.words) >= _FRAME and self.shared(other) >= _MIN_IN_FRAME
        )

    def equals(self, other: Content) -> bool:
        """Whether both say the same in the same words, in any order."""
        return (
            self.meanings == other.meanings
            and self.terms == other.terms
            and self.negations == other.negations
            and not _is_exchange(self.words, other.words)
            and not _deny_different_things(self, other)
        )


@dataclass(frozen=True, slots=True)
class Similar:
    """A stored memory that is similar to a new one."""

    memory: Memory
    cosine: float  # or the overlap of their words, when there are no vectors
    advice: Advice  # for the new memory
    contradicts: bool  # whether one of the two changes what the other says


def compare(new: Memory, old: Memory, cosine: float) -> Similar:
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
    elif cosine < NEAR:
        advice = "keep both"
    elif theirs.meanings < ours.meanings and ours.negations == theirs.negations:
        advice = "supersede"
    return Similar(old, cosine, advice, contradicts)


def content_of(memory: Memory) -> Content:
    """What a memory says in its title and text."""
    return _content(memory.title, memory.text)


@functools.lru_cache(maxsize=512)
def _content(title: str, text: str) -> Content:
    start = " ".join(title.removesuffix("…").split())
    body = text if " ".join(text[: 2 * len(title) + 8].split()).startswith(start) else f"{title}.\n{text}"
    found = tuple(words(body))
    return Content(
        words=found,
        meanings=Counter([word.form for word in found if word.kind in MEANINGFUL]),
        text=body,
    )


@functools.lru_cache(maxsize=64)
def _terms(text: str) -> frozenset[str]:
    return frozenset(map(ranking.stem, ranking.terms(text, limit=None)))


def relation(one: Memory, other: Memory, cosine: float | None) -> Relation | None:
    """How two memories belong together in the result of a search; None when they do not. By words without a `cosine`.

    Memories of different places, or under different keys, are about different things.
    """
    if _place(one) != _place(other) or (one.key and other.key and one.key != other.key):
        return None
    ours, theirs = content_of(one), content_of(other)
    if ours.equals(theirs):
        return "version"
    is_same = cosine is not None and cosine >= SAME
    is_near = is_same or (cosine is not None and cosine >= NEAR) or ours.is_near(theirs)
    if is_near and is_change(ours, theirs):
        is_one = _are_about_the_same(ours, theirs) and _are_about_the_same(theirs, ours)
        return "version" if is_one else "sibling"
    return "version" if is_same else None


def overlap(one: Memory, other: Memory) -> float:
    """The share of content words that two memories have in common; 0 to 1."""
    return content_of(one).overlap(content_of(other))


def are_near(one: Memory, other: Memory) -> bool:
    """Whether two memories say nearly the same by their words (see `Content.is_near`)."""
    return content_of(one).is_near(content_of(other))


def may_be_near(one: Memory, other: Memory) -> bool:
    """Whether two memories may say nearly the same by their words; fast, for many pairs."""
    ours, our_marks, our_unmarked = _split(one.text)
    theirs, their_marks, _ = _split(other.text)
    least = _ROUGHLY_SHARED * max(len(ours), len(theirs))
    return (our_marks & their_marks).bit_count() + our_unmarked >= least and len(ours & theirs) >= least


def pairs_to_compare(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory]]:
    """Every pair that `may_be_near`, found without looking at all pairs.

    Two texts that share `_ROUGHLY_SHARED` of their words also share one of the rarest words of either.
    """
    texts = [_split(memory.text).words for memory in memories]
    counts = Counter(itertools.chain.from_iterable(texts))
    holders: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        repeated = sorted((counts[word], word) for word in text if counts[word] > 1)
        rarest = len(text) - math.ceil(_ROUGHLY_SHARED * len(text)) + 1
        looked_up = [word for _, word in repeated[: max(0, rarest - (len(text) - len(repeated)))]]
        for other in sorted({holder for word in looked_up for holder in holders.get(word, ())}):
            if may_be_near(memories[other], memories[number]):
                yield memories[other], memories[number]
        for word in looked_up:
            holders.setdefault(word, []).append(number)


class _Split(NamedTuple):
    """The words of a text, and a mark for each as one bit of a number.

    Words that two texts share have the same marks, so the marks that they share, and the words without a mark of their
    own, are at least as many as the words that they share. Counting bits takes a third of the time of comparing words.
    """

    words: frozenset[str]
    marks: int
    unmarked: int  # words whose mark another word has as well


@functools.lru_cache(maxsize=512)
def _split(text: str) -> _Split:
    found = frozenset((text if text.isascii() else ranking.spaced(text)).lower().split())
    marks = 0
    for word in found:
        marks |= 1 << hash(word) % _MARKS
    return _Split(found, marks, len(found) - marks.bit_count())


def _frame(ours: Sequence[Word], theirs: Sequence[Word]) -> float:
    """The share of words, of the longer text, that are alike at the start and at the end of both; 0 to 1."""
    our_rest, their_rest = _without_common_ends(ours, theirs)
    longer = max(len(ours), len(theirs))
    return 1.0 - max(len(our_rest), len(their_rest)) / longer if longer else 1.0


def _are_about_the_same(ours: Content, theirs: Content) -> bool:
    """Whether a change is surely about the same thing: what differs is not what the statement is about.

    "Alice prefers tabs" and "Bob prefers tabs" may both hold, and so may many notes of three words.
    """
    added = ours.meanings - theirs.meanings
    return ours.shared(theirs) >= _MIN_SHARED and not any(
        word.form in added and _is_subject(ours.words, place) for place, word in enumerate(ours.words)
    )


def _is_subject(text: Sequence[Word], place: int) -> bool:
    """Whether a word is at the start of a sentence that goes on, other than after a verb as in "use tabs"."""
    ends = [number for number, word in enumerate(text) if word.kind == "end"]
    start = max((end for end in ends if end < place), default=-1) + 1
    end = min((end for end in ends if end > place), default=len(text))
    before = [word.form for word in text[start:place] if word.kind in MEANINGFUL]
    after = [word.form for word in text[place + 1 : end] if word.kind in MEANINGFUL]
    if text[place].kind == "number":  # "host 7 runs nginx" and "the tram of line 7 stops here", not "3 hosts run nginx"
        is_label = len(before) == 1 or (len(before) == _IN_LABEL and text[place - 1].kind == "content")
    else:
        is_label = len(before) <= 1
    return is_label and len(after) > 1 and REQUESTS.isdisjoint(before)


def _place(memory: Memory) -> tuple[str | None, ...]:
    """What two versions of a memory have in common; a session's own notes are about that session."""
    session = memory.session if memory.scope == "session" else None
    return memory.status, memory.user, memory.project, session


def lookup_terms(memory: Memory) -> Sequence[Sequence[str]]:
    """Groups of words of a memory: a text with one thing changed still holds all words of at least one group.

    Each group is of another part of the text, so that a change touches as few as possible. Numbers change most often
    and are in none, unless there is nothing else.
    """
    return _lookup_terms(memory.title, memory.text[:_LOOKED_UP])


@functools.lru_cache(maxsize=1024)
def _lookup_terms(title: str, start: str) -> tuple[tuple[str, ...], ...]:
    text = start if start.startswith(title) else f"{title}\n{start}"
    found = _plain(ranking.plain_terms(text))
    if len(found) < _LOOKUP_TERMS:  # the parts of identifiers as well
        every = ranking.terms(text, limit=None)
        plain = _plain(every)
        found = plain if len(plain) > 1 else every
    rare = sorted(found, key=len)[-_LOOKUP_TERMS:]  # a long word is usually a rare one
    chosen = [term for term in found if term in rare]
    if len(chosen) < _MIN_GROUPED:
        return tuple((term,) for term in chosen)
    if len(chosen) == _MIN_GROUPED:
        return tuple(itertools.combinations(chosen, 2))
    size = max(2, len(chosen) // _MIN_GROUPED)
    return tuple(tuple(chosen[first : first + size]) for first in range(0, len(chosen) - size + 1, size))


def _plain(terms: Sequence[str]) -> list[str]:
    return [term for term in terms if term.isalpha() and term not in _NEVER_LOOKED_UP]


def is_change(new: Content, old: Content) -> bool:
    """Whether one text changes what the other says: a number, a negation, or one thing for another.

    A rewording is not a change, and neither is an addition. Texts of opposite meaning have nearly the same vector, so
    the cosine cannot tell; this is a hint for a person or an agent, not a verdict.
    """
    if new.overlap(old) < _OVERLAP and not new.is_near(old):
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
    shared = new.shared(old)
    is_in_place = len(runs) == 1 and _frame(new.words, old.words) >= _FRAME
    is_replaced = not _is_reordered(runs, added, removed) and (
        _is_one_thing(replaced, shared, is_in_place=is_in_place)
        or (len(replaced) == len(runs) and _are_objects(new.words, old.words))
    )
    return (
        (shared >= _SHARED * (fewer - in_slots) and (_are_numbers(replaced) or is_replaced))
        or (shared >= _SHARED * fewer and (_negations_differ(new, old, runs) or any(map(_are_opposite, runs))))
        or _is_exchange(new.words, old.words)
        or _deny_different_things(new, old)
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


def _deny_different_things(new: Content, old: Content) -> bool:
    """Whether the same words deny one thing here and another there: "by hand, never generated" and the reverse."""
    if not new.negations == old.negations == 1 or new.meanings != old.meanings:
        return False
    ours, theirs = _after_negation(new.words), _after_negation(old.words)
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _after_negation(words: Sequence[Word]) -> frozenset[str]:
    """The words with a meaning that follow the negation in its sentence."""
    following = itertools.dropwhile(lambda word: word.kind != "negation", words)
    sentence = itertools.takewhile(lambda word: word.kind != "end", following)
    return frozenset(word.form for word in sentence if word.kind in MEANINGFUL)


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


def _is_reordered(runs: Sequence[_Run], added: Counter[str], removed: Counter[str]) -> bool:
    """Whether a word that both texts have is at another place: the same is then said in another way.

    "The owner of the van is Ada" and "Ada owns the van" differ in one word as much as two statements do.
    """
    ours = Counter(word.form for run in runs for word in run.ours if word.kind in MEANINGFUL)
    theirs = Counter(word.form for run in runs for word in run.theirs if word.kind in MEANINGFUL)
    return bool((ours - added) & (theirs - removed))


def _is_one_thing(replaced: Sequence[_Slot], shared: int, *, is_in_place: bool) -> bool:
    """Whether one thing was replaced by another, in one place or in the same way in several.

    The longer it is, the more words must be shared: otherwise the texts make different statements. When all other
    words of both texts are the same, few are enough.
    """
    things = {_different_parts(ours, theirs) for ours, theirs in replaced}
    most = _MAX_REPLACED if is_in_place else min(_MAX_REPLACED, (shared + 1) // 2)
    return len(things) == 1 and max(map(len, *things)) <= most


def _are_objects(ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether all that differs are single words after prepositions: "from the shop to the bank"."""
    if len(ours) != len(theirs):
        return False
    differ = [place for place, (one, two) in enumerate(zip(ours, theirs, strict=True)) if one.form != two.form]
    return bool(differ) and all(
        {ours[place].kind, theirs[place].kind} <= MEANINGFUL
        and next((word.form for word in reversed(ours[:place]) if word.form not in DETERMINERS), "") in PREPOSITIONS
        for place in differ
    )


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
        [word for word in words[found[first][0] + 1 : found[second][0]] if word.form not in _BETWEEN_EQUALS]
        for words, found in ((ours, new), (theirs, old))
    )
    return between == before and any(word.kind != "number" for word in between)
