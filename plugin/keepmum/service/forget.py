"""Forget memories: on request, and as time passes."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from keepmum.core import lifecycle, ranking, retention, validation
from keepmum.core.errors import ConfirmationNeeded, Incomplete, InvalidInput, NotFound, StoreError
from keepmum.core.memory import LIMITS, Action, Activity, Change, Filter, JsonValue, Memory, Status
from keepmum.service import lookup
from keepmum.service.context import ServiceContext
from keepmum.stores import Receipt, StaleWrite

__all__ = ["Forgetter", "Forgotten"]

_PER_SWEEP = 500  # memories; the next sweep takes the next ones
_MATCHES = 1_000  # of a first search


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of forgetting: what was removed, or in a dry run would be."""

    memories: tuple[Memory, ...]
    action: Action
    done: bool
    confirmation: str = ""  # to send back in order to remove exactly these
    queued: int = 0  # writes that wait for a server, including these; 0 when it is done
    already: int = 0  # memories that had been removed in this way before


class Forgetter:
    """Removes memories: only those that were named, or listed and confirmed."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def forget(  # noqa: PLR0913 - each way of saying what to forget is one keyword
        self,
        references: Sequence[str] = (),
        *,
        query: str | None = None,
        tags: Sequence[str] = (),
        older_than: int | None = None,
        mode: str = "trash",
        dry_run: bool = False,
        confirmation: str | None = None,
    ) -> Forgotten:
        """Remove memories: those named at once, those searched for only after they were listed and confirmed.

        `mode` is `archive` (found only when asked for), `trash` (removed after 30 days) or `purge` (removed now).
        When nothing matches, nothing is done.

        Raises: NotFound, Ambiguous naming the place of the reference: nothing is removed then; InvalidInput;
            ConfirmationNeeded when the confirmation is of another list.
        """
        context = self.context
        validation.one_of("mode", mode, tuple(lifecycle.FORGET_MODES))
        named = bool(references)
        if not (named or query or tags or older_than is not None):
            raise InvalidInput("id", "is missing; name a memory, or give a query, tags or an age")
        status, action = lifecycle.FORGET_MODES[mode]
        found = self._named(references) if named else self._search(query, tags, older_than)
        victims = [memory for memory in found if memory.status != status]
        already = len(found) - len(victims)
        token = hashlib.blake2b("".join(sorted(memory.id for memory in victims)).encode(), digest_size=4).hexdigest()
        if confirmation is not None and confirmation != token:
            raise ConfirmationNeeded(
                "confirm: the list of memories has changed since it was shown; nothing was removed. List it again."
            )
        if dry_run or not victims or not (named or confirmation):
            return Forgotten(context.show(victims), action, done=False, confirmation=token, already=already)
        receipt = context.retry(
            lambda: self._remove([lookup.again(context, memory) for memory in victims], status, action)
        )
        return Forgotten(context.show(victims), action, done=True, queued=receipt.queued, already=already)

    def erase(self, references: Sequence[str], *, whole_user: bool = False) -> int:
        """Purge memories without leaving a byte, including in backups; returns how many.

        The texts of all searches leave the activity log as well: which memories they concerned is unknown. Marks on
        wrong memories leave with them, with `whole_user` also those of this user's memories that were purged before.

        Raises: NotFound, Ambiguous, StoreError. No memory is removed then; run again.
        """
        context = self.context
        context.log.flush()

        def attempt() -> int:
            victims, now = lookup.find_all(context, references), context.clock()
            changes = [context.status_change(memory, None, now) for memory in victims]
            erasure = context.store.features.erasure
            if erasure is None:
                raise StoreError("this store cannot erase data without a trace; nothing was removed")
            if (state := context.store.features.review_state) is not None:
                marked = state.marked_of(context.place.user) if whole_user and context.place.user else []
                state.unmark_wrong([*(memory.id for memory in victims), *marked])
            erasure.cleanse(changes, [context.entry("purged", memory) for memory in victims], _without_queries)
            for project in {memory.project for memory in victims}:
                context.refresh_briefings(project)
            return len(victims)

        return context.retry(attempt)

    def sweep(self) -> int:
        """Trash what expired, tombstone or archive what faded, purge what was in the trash for 30 days; how many.

        A sweep does nothing when the clock differs from the sweep before by more than a day, or runs backwards: a
        clock that jumped must not cost a memory, and the next sweep does the work.
        """
        context, features = self.context, self.context.store.features
        now = context.clock()
        if features.aging is None:
            return 0
        if features.local_state is not None and not 0 <= now - features.local_state.tick(now) <= retention.DAY_MS:
            return 0
        trashed_by = now - lifecycle.TRASH_DAYS * retention.DAY_MS
        fading = features.aging.fading(now, trashed_by, _PER_SWEEP)
        steps = [step for memory in fading if (step := self._aged(memory, now)) is not None]
        if not steps:
            return 0
        try:
            context.commit([change for change, _ in steps], *(entry for _, entry in steps))
        except StaleWrite:
            return 0  # another process is changing these; the next sweep decides again
        return len(steps)

    def _named(self, references: Sequence[str]) -> list[Memory]:
        found = lookup.find_each(self.context, references)
        if found.missing:
            raise NotFound(f"{'; '.join(found.missing)}; nothing was removed")
        return found.memories

    def _search(self, query: str | None, tags: Sequence[str], older_than: int | None) -> list[Memory]:
        """All memories that a bulk removal means, not the best few: a query must match in every word, in any form.

        Raises: InvalidInput when the query has no word.
        """
        wanted = lookup.filter_of(self.context, {"tags": tags, "all_tags": True, "until": older_than})
        if not query:
            return self._all(wanted)
        terms = ranking.terms(validation.clean("query", query, LIMITS.query), limit=None)
        if not terms:
            raise InvalidInput("query", "contains no word; say what the memories are about")
        sought = set(map(ranking.stem, terms))
        found = self._all(wanted) if self.context.store.features.remote is None else self._ranked(terms, wanted)
        return [m for m in found if sought <= _stems(f"{m.title}\n{m.text}\n{m.key or ''}")]

    def _all(self, wanted: Filter) -> list[Memory]:
        found: list[Memory] = []
        with contextlib.suppress(Incomplete):  # the caveat of the answer says it, and the person confirms the list
            for page in lookup.listing(self.context.store, wanted):
                found += page
        return found

    def _ranked(self, sought: Iterable[str], wanted: Filter) -> list[Memory]:
        """Every match of a search at a server: reading all of its memories would count as use of each."""
        limit = _MATCHES
        while len(found := self.context.store.search(sorted(sought), wanted, limit)) >= limit:
            limit *= 10
        return [memory for memory, _ in found]

    def _remove(self, victims: Sequence[Memory], status: Status | None, action: Action) -> Receipt:
        now = self.context.clock()
        changes = [self.context.status_change(memory, status, now) for memory in victims]
        return self.context.commit(changes, *(self.context.entry(action, memory) for memory in victims))

    def _aged(self, memory: Memory, now: int) -> tuple[Change, Activity] | None:
        """The change that is due for a memory because of its age, with its log entry."""
        due = lifecycle.due_change(memory, now, self.context.options.policy)
        if due is None:
            return None
        status, action = ("tombstoned", "tombstoned") if due == "tombstone" else lifecycle.FORGET_MODES[due]
        return self.context.status_change(memory, status, now), self.context.entry(action, memory)


def _stems(text: str) -> set[str]:
    return set(map(ranking.stem, ranking.index_terms(text)))


def _without_queries(memory: str | None, values: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """A log entry without its detail when it concerns no memory: that may be the text of a search."""
    return {**values, "detail": ""} if memory is None and "detail" in values else values
