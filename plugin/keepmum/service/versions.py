"""Groups the results of a search that are versions of one memory, so that the newest version stands for all of them.

Memories that differ in one thing and may be about different things are siblings: each is shown, and the newest first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from keepmum.core import ranking, similarity
from keepmum.core.calibration import COMMON, Calibration
from keepmum.core.memory import LISTED, Filter, Memory, trust_rank
from keepmum.service.near_memories import NearMemories

__all__ = ["BLOCK", "Shown", "Versions", "newest_first", "newest_of"]

_PROBABLY_ONE = 8  # content words that two siblings share
_MAX_VERSIONS = 60  # of one memory
_LOWERED = 0.05  # by which one other word can lower the cosine of a short text below what is reported
BLOCK = 20  # ranked memories that are compared with each other; the blocks of two pages are the same
_ROUNDS = 4  # of looking up the versions of versions

_Name = tuple[str, str | None]  # id and project: at a team server several projects may use one id


class Shown(NamedTuple):
    """A memory that a search shows, at the place of the best of its versions."""

    place: int  # of that version in the ranked memories
    memory: Memory
    previous: Memory | None  # the version before it that says something else


def newest_first(ranked: Sequence[Memory], versions: Versions, query: str, count: int) -> list[Shown]:
    """The first `count` results: each group of versions once, by its newest member.

    A version that is trusted less stands for none that is trusted more: if it is newer, both are shown. Of three
    versions or more, one whose difference the query names is shown as well.
    """
    for start in range(0, count, BLOCK):
        versions.compare(ranked[start : start + BLOCK])
    versions.look_up(ranked[:count])
    asked = frozenset(map(ranking.stem, ranking.terms(query)))
    shown: list[Shown] = []
    done: set[_Name] = set()
    for place, memory in enumerate(ranked):
        if _name(memory) in done:
            continue
        group = versions.of(memory)
        newest, *less_trusted = _leaders(group)
        previous = _before(newest, group)
        both = [Shown(place, newest, previous)]
        sibling = versions.newer_sibling(newest)
        if sibling is not None and _name(sibling) not in done:
            its = versions.of(sibling)
            done.update(map(_name, its))
            both.insert(_names_older(asked, newest, sibling), Shown(place, sibling, _before(sibling, its)))
        done.update(map(_name, group))
        given = (newest, previous, *less_trusted)  # a tuple: a memory that records its commit has no hash
        others = [one for one in group if one not in given]
        more = [*less_trusted, *_named(asked, others, newest, previous)]
        shown += [*both, *(Shown(place, one, None) for one in more)]
        if len(shown) >= count:
            break
    return shown[:count]


def newest_of(memories: Sequence[Memory]) -> list[Memory]:
    """`memories`, each version at its place replaced by the newest among them; compared by words only.

    A version that is trusted less replaces none that is trusted more.
    """
    newer: dict[_Name, Memory] = {}
    for one, other in similarity.pairs_to_compare(memories):
        older, newest = sorted((one, other), key=_age)
        if (
            trust_rank(newest.trust) >= trust_rank(older.trust)
            and similarity.relation(newest, older, None) == "version"
        ):
            newer[_name(older)] = max(newer.get(_name(older), newest), newest, key=_age)
    shown: dict[_Name, Memory] = {}
    for memory in memories:
        while _name(memory) in newer:
            memory = newer[_name(memory)]  # noqa: PLW2901 - follows a chain to its end
        shown[_name(memory)] = memory
    return list(shown.values())


class Versions:
    """Finds the versions of memories in one store, among the memories that pass a filter."""

    def __init__(
        self, near: NearMemories, wanted: Filter, among: Sequence[str], calibration: Calibration = COMMON
    ) -> None:
        """Memories with an id in `among` are found for certain (see `keepmum.stores.base.VersionSearch`)."""
        self._near = near
        self._wanted = wanted
        self._among = among
        self._calibration = calibration
        self._found: dict[_Name, dict[_Name, Memory]] = {}  # the versions that were found directly
        self._siblings: dict[_Name, dict[_Name, Memory]] = {}
        self._looked_up: set[_Name] = set()

    def look_up(self, memories: Iterable[Memory]) -> None:
        """Look up the versions of these memories at once, which is faster than one by one."""
        scale = self._calibration
        unknown = {_name(memory): memory for memory in memories if _name(memory) not in self._looked_up}
        self._looked_up.update(unknown)
        if not unknown:
            return
        least = scale.from_common(similarity.REPORTED - _LOWERED)
        for near in self._near.of(list(unknown.values()), self._wanted, least, self._among):
            one = unknown.get((near.id, near.memory.project))
            if one is None:  # the two are of different projects, and so no versions
                continue
            cosine = None if near.cosine is None else scale.to_common(near.cosine)
            is_by_words = cosine is None or cosine < similarity.NEAR
            if not is_by_words or similarity.may_be_near(one, near.memory):
                self._relate(one, near.memory, cosine)

    def compare(self, memories: Iterable[Memory]) -> None:
        """Compare memories with each other by their words.

        A name that stands for another lowers the cosine of a short text so much that only the words show it.
        """
        for one, other in itertools.combinations(memories, 2):
            if similarity.may_be_near(one, other):  # seldom, and the same in both directions
                self._relate(one, other, None)
                self._relate(other, one, None)

    def _relate(self, one: Memory, other: Memory, cosine: float | None) -> None:
        """Note how two memories belong together; of those listed by a server only the titles are known."""
        if _name(one) == _name(other) or LISTED in {one.origin, other.origin}:
            return
        related = similarity.relation(one, other, cosine)
        if related == "version":
            self._found.setdefault(_name(one), {})[_name(other)] = other
        elif related == "sibling":
            self._siblings.setdefault(_name(one), {})[_name(other)] = other

    def newer_sibling(self, memory: Memory) -> Memory | None:
        """The newest sibling that is newer and trusted as much; with its own newer versions, the newest of those."""
        newer = [
            one
            for one in self._siblings.get(_name(memory), {}).values()
            if _age(one) > _age(memory) and trust_rank(one.trust) >= trust_rank(memory.trust)
        ]
        return _leaders(self.of(max(newer, key=_age)))[0] if newer else None

    def of(self, memory: Memory) -> list[Memory]:
        """All versions of a memory with the memory itself, the newest first."""
        group = {_name(memory): memory}
        for _ in range(_ROUNDS):
            self.look_up(group.values())
            added = {
                _name(found): found
                for known in group
                for found in self._found.get(known, {}).values()
                if _name(found) not in group
            }
            if not added or len(group) >= _MAX_VERSIONS:
                break
            group |= added
        return sorted(group.values(), key=_age, reverse=True)


def _name(memory: Memory) -> _Name:
    """What tells a memory from all others of a search."""
    return memory.id, memory.project


def _age(memory: Memory) -> tuple[int, str]:
    """A key that is greatest for the newest memory."""
    return memory.updated_at, memory.id


def _leaders(group: Sequence[Memory]) -> list[Memory]:
    """The newest of the most trusted versions, then the newest of each lower level if it is newer still."""
    leaders: list[Memory] = []
    for memory in sorted(group, key=lambda one: (trust_rank(one.trust), *_age(one)), reverse=True):
        last = leaders[-1] if leaders else None
        if last is None or (_age(memory) > _age(last) and trust_rank(memory.trust) < trust_rank(last.trust)):
            leaders.append(memory)
    return leaders


def _before(newest: Memory, group: Sequence[Memory]) -> Memory | None:
    """The latest version before `newest` that says something else."""
    if not group[1:]:
        return None
    ours = similarity.content_of(newest)
    older = (memory for memory in group if _age(memory) < _age(newest))
    return next((memory for memory in older if not similarity.content_of(memory).equals(ours)), None)


def _names_older(asked: frozenset[str], older: Memory, newer: Memory) -> bool:
    """Whether the query holds a word of `older` alone and none of `newer` alone, and the two are probably two things.

    The more is said alike of both, the more probably `newer` replaced `older`.
    """
    old, new = similarity.content_of(older), similarity.content_of(newer)
    is_named = bool(asked & (old.terms - new.terms)) and not asked & (new.terms - old.terms)
    return is_named and old.shared(new) < _PROBABLY_ONE


def _named(asked: frozenset[str], others: Sequence[Memory], newest: Memory, previous: Memory | None) -> list[Memory]:
    """Those of `others` that hold a word of the query that neither `newest` nor `previous` holds."""
    if not others:
        return []
    missing = asked.difference(*(similarity.content_of(memory).terms for memory in (newest, previous) if memory))
    return [memory for memory in others if missing & similarity.content_of(memory).terms] if missing else []
