"""Removing: what is asked for, and what time does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keepmum.core import lifecycle, ranking, retention, validation
from keepmum.core.errors import ConfirmationNeeded, InvalidInput, StoreError
from keepmum.core.memory import LIMITS, Action, Activity, Change, JsonValue, Memory, Status
from keepmum.service.context import Context
from keepmum.stores import Receipt, StaleWrite

__all__ = ["Forgetting", "Forgotten"]

_SWEPT_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The answer to forgetting: what was removed, or in a dry run would be."""

    memories: tuple[Memory, ...]
    action: Action
    done: bool
    confirmation: str = ""  # what to send back to have just these removed
    queued: int = 0  # writes that wait for a server, these among them; 0: it is done


class Forgetting(Context):
    """The part of the service that removes memories: never more than was named, or listed and confirmed."""

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

        `mode` is `archive` (no longer found unasked), `trash` (gone after 30 days) or `purge` (gone now).

        Raises: NotFound, Ambiguous, InvalidInput; ConfirmationNeeded when the confirmation is of another list.
        """
        validation.one_of("mode", mode, tuple(lifecycle.FORGET_MODES))
        named = bool(references)
        if not (named or query or tags or older_than is not None):
            raise InvalidInput("id", "is missing; name a memory, or give a query, tags or an age")
        status, action = lifecycle.FORGET_MODES[mode]
        found = self._named(references) if named else self._searched(query, tags, older_than)
        victims = [memory for memory in found if memory.status != status]
        token = hashlib.blake2b("".join(sorted(memory.id for memory in victims)).encode(), digest_size=4).hexdigest()
        if confirmation is not None and confirmation != token:
            raise ConfirmationNeeded(
                "confirm: the list of memories has changed since it was shown; nothing was removed. List it again."
            )
        if dry_run or not victims or not (named or confirmation):
            return Forgotten(self._shown(victims), action, done=False, confirmation=token)
        receipt = self._retrying(lambda: self._remove([self._find(memory.id) for memory in victims], status, action))
        return Forgotten(self._shown(victims), action, done=True, queued=receipt.queued)

    def erase(self, references: Sequence[str]) -> int:
        """Purge memories and keep no byte of them, in backups neither; how many these were.

        The words of all searches leave the activity log as well: nobody can tell whom they were about.

        Raises: NotFound, Ambiguous, StoreError. Where it fails nothing was removed.
        """
        self._journal.flush()

        def attempt() -> int:
            victims, now = self._named(references), self._clock()
            changes = [self._change(memory, None, now) for memory in victims]
            erasure = self.store.features.erasure
            if erasure is None:
                raise StoreError("this store cannot erase data without a trace; nothing was removed")
            erasure.cleanse(changes, [self._entry("purged", memory) for memory in victims], _without_queries)
            for project in {memory.project for memory in victims}:
                self._refresh(project)
            return len(victims)

        return self._retrying(attempt)

    def sweep(self) -> int:
        """Trash what has expired, lay down what has faded, purge what was in the trash for 30 days; how many.

        Nothing is done in a sweep that sees the clock more than a day away from the sweep before: a clock that
        jumped must not cost a memory, and the next sweep will do the work.
        """
        now, features = self._clock(), self.store.features
        if features.aging is None:
            return 0
        if features.local_state is not None and not 0 <= now - features.local_state.tick(now) <= retention.DAY_MS:
            return 0
        trashed_by = now - lifecycle.TRASH_DAYS * retention.DAY_MS
        fading = features.aging.fading(now, trashed_by, _SWEPT_AT_ONCE)
        steps = [step for memory in fading if (step := self._aged(memory, now)) is not None]
        if not steps:
            return 0
        try:
            self._commit([change for change, _ in steps], *(entry for _, entry in steps))
        except StaleWrite:
            return 0  # somebody is at work on these: the next sweep
        return len(steps)

    def _searched(self, query: str | None, tags: Sequence[str], older_than: int | None) -> list[Memory]:
        """Everything that a bulk removal means, not the best few: a query must match in every word.

        Raises: InvalidInput when the query has none.
        """
        wanted = self._filter({"tags": tags, "all_tags": True, "until": older_than})
        if not query:
            return self.store.browse(wanted, limit=1000)
        sought = set(ranking.terms(validation.clean("query", query, LIMITS.query)))
        if not sought:
            raise InvalidInput("query", "holds no word; say what the memories are about")
        found = self.store.search(sorted(sought), wanted, 1000)
        return [m for m, _ in found if sought <= set(ranking.index_terms(f"{m.title}\n{m.text}\n{m.key or ''}"))]

    def _remove(self, victims: Sequence[Memory], status: Status | None, action: Action) -> Receipt:
        now = self._clock()
        changes = [self._change(memory, status, now) for memory in victims]
        return self._commit(changes, *(self._entry(action, memory) for memory in victims))

    def _aged(self, memory: Memory, now: int) -> tuple[Change, Activity] | None:
        """What time does to a memory, if anything."""
        fate = lifecycle.due_change(memory, now, self._policy)
        if fate is None:
            return None
        if fate == "tombstone":
            return self._change(memory, "tombstoned", now), self._entry("tombstoned", memory)
        status, action = lifecycle.FORGET_MODES[fate]
        return self._change(memory, status, now), self._entry(action, memory)


def _without_queries(memory: str | None, values: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """What is told in the log of no memory, which is what was searched for, without its words."""
    return {**values, "detail": ""} if memory is None and "detail" in values else values
