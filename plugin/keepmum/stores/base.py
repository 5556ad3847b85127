"""What every store promises the service. A store keeps and finds; it decides nothing and scans nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from keepmum.core.errors import StoreError
from keepmum.core.memory import Activity, Candidate, Change, Embedding, Filter, JsonValue, Memory, Order, Revision

__all__ = [
    "STORED",
    "Capabilities",
    "Clean",
    "Filed",
    "Follows",
    "Meaning",
    "Parts",
    "Question",
    "Receipt",
    "StaleWrite",
    "Store",
]

# The vector of a question, or None where words alone count. It may still be in the making: whoever needs it last waits
# least.
Question = Callable[[], Embedding | None]

# What is told beside a memory (its id, or None), as it may be kept: the same names with cleaned values.
Clean = Callable[[str | None, Mapping[str, JsonValue]], Mapping[str, JsonValue]]


class StaleWrite(StoreError):
    """Another process changed the memory (or took the key) since it was read; read again and decide again."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store can promise; the tools say so in a sentence where one is missing."""

    writable: bool = True
    reason: str = ""  # why it is not writable, with the next step
    cannot: Mapping[str, str] = field(default_factory=dict)  # a promise that it does not keep, and a sentence on that


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a transaction."""

    ids: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # that a server gave in place of ours
    queued: int = 0  # writes that wait for a server, these among them; 0: everything is stored

    def settled(self, memory: Memory) -> Memory:
        """`memory` under the id that it is kept by."""
        return replace(memory, id=self.ids.get(memory.id, memory.id))


STORED = Receipt()


class Meaning(Protocol):
    """What a store offers that finds memories by meaning as well as by words. All its vectors are of one model.

    Raises: StoreError (StoreReadOnly, StoreBusy) from any method.
    """

    def find(self, words: Sequence[str], question: Question, wanted: Filter, limit: int) -> list[Candidate]:
        """Up to `limit` memories that hold any of `words`, and up to `limit` that are nearest to `question`, unordered.

        Where the index of vectors is far behind and has yet to be brought up to date, by `prepare`, words alone count.
        """

    def alike(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text, with the cosine between the two texts alone, nearest first."""

    def repeats(self, ids: Sequence[str], cosine: float) -> dict[str, tuple[str, float]]:
        """Which of these memories say nearly the same (at least `cosine`) as one before them: as which, how near."""

    @property
    def problem(self) -> str:
        """Why no meaning is searched, in a sentence, where that will not mend itself; empty otherwise."""

    def other_model(self, model: str) -> str | None:
        """Another model that vectors of this store are of, if any: these and those of `model` cannot be compared."""

    def awaiting(self, model: str, limit: int) -> list[Memory]:
        """Memories that have no vector of `model` yet."""

    def count_awaiting(self, model: str) -> int:
        """How many these are."""

    def is_ready(self, model: str) -> bool:
        """Whether nothing is left to embed, and the index lacks no more than a search takes in by itself."""

    def keep(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        """Keep vectors of memories that say still what they said; how many these were."""

    def prepare(self, model: str) -> None:
        """Bring the index of vectors up to date, whatever time that takes."""


@runtime_checkable
class Follows(Protocol):
    """A store whose memories depend on the folder that a session works in."""

    def go(self, root: str, project: str) -> None:
        """Be the store of that folder, or of none where `root` is empty."""


@runtime_checkable
class Filed(Protocol):
    """A store whose memories lie in files, by ids that the files give."""

    def file_of(self, memory: str) -> tuple[str, str] | None:
        """Id and path that a memory has there; None where it has none."""

    def called(self, name: str) -> list[str]:
        """The memories whose files give this id."""


@runtime_checkable
class Parts(Protocol):
    """A store that is made of several, by name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the stores."""

    def part(self, name: str) -> Store | None:
        """The store of that name."""

    def home_of(self, memory: Memory) -> str | None:
        """The name of the store that holds a memory; of two copies the one that changed last."""


class Store(Protocol):
    """A place where memories live. Each method is one transaction; all are safe between processes.

    Raises: StoreError (StoreReadOnly, StoreBusy) from any method.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What this store can promise just now."""

    @property
    def notice(self) -> str:
        """What happened lately that the user should know, such as a repair; empty when nothing did."""

    @property
    def caveat(self) -> str:
        """What has to be said beside the last answer, such as that it is no server's; empty when nothing has."""

    @property
    def at_hand(self) -> Store:
        """The same memories as far as they can be read without waiting: itself, or what is known here of a server."""

    @property
    def meaning(self) -> Meaning | None:
        """What searches this store by meaning; None where it goes by words alone."""

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply all changes, their search index, their history and the activity, or nothing.

        A purge takes the words of a memory out of its history and out of earlier activity as well.

        Raises: StaleWrite when the store no longer holds what a change takes for given.
        """

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], clean: Clean) -> list[str]:
        """Apply changes as `commit` does, put all that is kept of the past through `clean`, and keep no byte of before.

        Copies that may hold it are removed (their names are the answer), and one new backup is made.
        """

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order, whatever their status; unknown ids are left out."""

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories whose ids lie in [first, last], in order."""

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory under a key."""

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The memory under a key, whatever its status: the active one, or else the one that held it last."""

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory of a space with just this text, blanks and case aside."""

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, with a relevance (greater is better), best first."""

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter, latest (or most important) first."""

    def count(self, wanted: Filter) -> int:
        """How many memories pass the filter."""

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note that these memories were loaded at `now`."""

    def history(self, memory: str) -> list[Revision]:
        """What a memory was before each change, latest first."""

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log."""

    def activity(self, limit: int, project: str | None = None) -> list[Activity]:
        """The latest activity, latest first, of one project or of all."""

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        """Memories that time may have changed, those that are due for certain first.

        These have expired at `now`, or lie in the trash since `trashed_by`; the others are of a tier that fades,
        longest idle first.
        """

    def tick(self, now: int) -> int:
        """The time of the tick before this one, 0 for the first: a clock that jumped shows in the difference."""

    def upkeep(self, now: int) -> None:
        """Back up, prune the activity log, tidy files; cheap when there is nothing to do."""

    def remember_root(self, root: str, project: str, name: str, now: int) -> None:
        """Note that `root` is a folder of `project`."""

    def roots(self, since: int) -> list[tuple[str, str, str]]:
        """`(root, project, name)` of the folders seen since then, latest first."""

    def health(self) -> dict[str, JsonValue]:
        """Facts for the doctor: path, counts, integrity, schema, size, backups."""

    def close(self) -> None:
        """Leave everything on disk and let go."""
