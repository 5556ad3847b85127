"""The verbs: what a person does about memories; each is one call of the service, and most can be undone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from keepmum.core import validation
from keepmum.core.agents import identify
from keepmum.core.errors import ConfirmationNeeded, InvalidInput, KeepmumError
from keepmum.core.memory import KINDS, LIMITS, Memory
from keepmum.core.review import DECISIONS
from keepmum.core.wording import counted
from keepmum.dashboard.arguments import Arguments
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.cards import card, full
from keepmum.dashboard.failures import Changed, CountNeeded, Forbidden
from keepmum.service import Choice, Decided
from keepmum.service.handoffs import Handoffs
from keepmum.service.review import is_of_queue

__all__ = ["VERBS", "Done"]

_MOST = 500  # memories of one call
_LONGEST_UNDO = 64 * 1024
_NEEDS_COUNT = 20  # more than these are moved to the trash only by someone who names their number
_TITLE = 60  # characters of a title in a sentence


class Done(NamedTuple):
    """What a verb did."""

    said: str
    memories: tuple[Memory, ...] = ()  # those that it changed, as they may be shown
    undo: str = ""  # reverts it; empty when nothing does
    queued: int = 0


Verb = Callable[[Dashboard, Arguments], Done]


def _edit(dashboard: Dashboard, given: Arguments) -> Done:
    memory = _expected(dashboard, given)
    why = given.text("why", LIMITS.text) if given.has("why") else memory.why or ""
    fields: validation.Fields = {"why": why, "unexplained": not why.strip()}
    if given.has("title"):
        fields["title"] = given.text("title", LIMITS.text)
    if given.has("kind"):
        fields["kind"] = given.choice("kind", KINDS, memory.kind)
    if given.has("tags"):
        fields["tags"] = given.texts("tags", 10 * LIMITS.tags, LIMITS.text)
    text = given.text("text", 2 * LIMITS.text) if given.has("text") else memory.text
    with _concurrency(dashboard, {memory.id: memory.revision}):
        done = dashboard.service.edit(memory.id, text, revision=memory.revision, **fields)
    return _done("Changed", done)


def _put_back(dashboard: Dashboard, given: Arguments) -> Done:
    memory = _expected(dashboard, given)
    with _concurrency(dashboard, {memory.id: memory.revision}):
        done = dashboard.service.put_back(memory.id, given.number("version", least=1), revision=memory.revision)
    return _done("Put back the earlier text of", done)


def _tag(dashboard: Dashboard, given: Arguments) -> Done:
    add, remove = (given.texts(name, LIMITS.tags, LIMITS.text) for name in ("add", "remove"))
    if not (add or remove):
        raise InvalidInput("add", "names no tag, and `remove` none either")
    ids, expected = _named(given)
    with _concurrency(dashboard, expected):
        return _done("Tagged", dashboard.service.tag(ids, add, remove, expected=expected))


def _forget(dashboard: Dashboard, given: Arguments) -> Done:
    ids, _ = _named(given)
    if len(ids) > _NEEDS_COUNT and given.number("count") != len(ids):
        raise CountNeeded(len(ids))
    return _moved("Forgot", "trashed")(dashboard, given)


def _moved(word: str, status: Literal["active", "archived", "trashed"]) -> Verb:
    """The verb that gives memories another status."""

    def move(dashboard: Dashboard, given: Arguments) -> Done:
        ids, expected = _named(given)
        with _concurrency(dashboard, expected):
            return _done(word, dashboard.service.move_each(ids, status, expected=expected))

    return move


def _still_true(dashboard: Dashboard, given: Arguments) -> Done:
    return _each(dashboard, given, "Still true:", lambda memory, revision: dashboard.service.still_true(
        memory, revision=revision
    ))  # fmt: skip


def _confirm(dashboard: Dashboard, given: Arguments) -> Done:
    return _each(dashboard, given, "Confirmed", lambda memory, revision: dashboard.service.confirm(
        memory, revision=revision
    ))  # fmt: skip


def _pin(dashboard: Dashboard, given: Arguments) -> Done:
    pinned = given.flag("pinned", default=True)
    return _each(
        dashboard, given, "Pinned" if pinned else "Unpinned",
        lambda memory, revision: dashboard.service.pin(memory, pinned=pinned, revision=revision),
    )  # fmt: skip


def _wrong(dashboard: Dashboard, given: Arguments) -> Done:
    reason = given.text("reason", LIMITS.why)
    return _each(
        dashboard, given, "Marked as wrong:",
        lambda memory, revision: dashboard.service.mark_wrong(memory, reason, revision=revision),
    )  # fmt: skip


def _decide(dashboard: Dashboard, given: Arguments) -> Done:
    choice = Choice(
        given.choice("decision", DECISIONS, "later"),
        given.optional_text("memory", LIMITS.key),
        given.text("reason", LIMITS.why),
        given.optional_text("text", 2 * LIMITS.text),
        given.optional_number("until"),
    )
    if not given.has("decision"):
        raise InvalidInput("decision", "is missing")
    done = dashboard.service.decide(given.text("item", required=True), choice)
    return _done(_DECIDED[choice.decision], done)


def _undo(dashboard: Dashboard, given: Arguments) -> Done:
    token = given.text("undo", _LONGEST_UNDO, required=True)
    if is_of_queue(token) and dashboard.verbs is not None and "decide" not in dashboard.verbs:
        raise Forbidden("only those who may decide a review may undo its decisions")
    memories = dashboard.service.undo_decision(token)
    return Done(_said("Undone:", memories) if memories else "Undone", memories)


def _undo_agent(dashboard: Dashboard, given: Arguments) -> Done:
    agent = given.text("agent", LIMITS.name, required=True)
    done = dashboard.service.undo_agent(agent, given.number("since"), given.text("confirmation", required=True))
    return _done(f"Undone, of what {identify(agent).title} wrote:", done)


def _withdraw(dashboard: Dashboard, given: Arguments) -> Done:
    number = given.number("handoff", least=1)
    done = Handoffs(dashboard.service, None).withdraw(number)
    return _done("Withdrew", done)


def _give(dashboard: Dashboard, given: Arguments) -> Done:
    agent = given.text("agent", LIMITS.name)
    done = Handoffs(dashboard.service, None).give(given.number("handoff", least=1), agent)
    return _done(f"Gave to {identify(agent).title if agent else 'any agent'}:", done)


def _take_out(dashboard: Dashboard, given: Arguments) -> Done:
    state = dashboard.auditor.state
    if state.report is None or given.text("confirmation", required=True) != state.confirmation:
        raise ConfirmationNeeded("what was found has changed since it was shown; nothing was removed. Look again.")
    removed = dashboard.service.cleanse(state.report, purge=False)
    dashboard.auditor.forget()
    backups = f"; {counted(len(removed), 'older copy', 'older copies')} removed" if removed else ""
    places = counted(len(state.report.places), "place")
    return Done(f"Took out what was found in {places}, also in history and log{backups}")


_DECIDED: Mapping[str, str] = MappingProxyType(
    {
        "accept": "Accepted the file of",
        "still-true": "Still true:",
        "confirm": "Confirmed",
        "wrong": "Marked as wrong:",
        "edit": "Changed",
        "merge": "Kept one of two:",
        "put-back": "Put back the earlier text of",
        "both": "Both are true:",
        "forget": "Forgot",
        "later": "Later:",
        "pin": "Pinned",
    }
)
VERBS: Mapping[str, Verb] = MappingProxyType(
    {
        "edit": _edit,
        "put_back": _put_back,
        "archive": _moved("Archived", "archived"),
        "forget": _forget,
        "restore": _moved("Brought back", "active"),
        "still_true": _still_true,
        "confirm": _confirm,
        "pin": _pin,
        "wrong": _wrong,
        "tag": _tag,
        "decide": _decide,
        "undo": _undo,
        "undo_agent": _undo_agent,
        "withdraw": _withdraw,
        "give": _give,
        "take_out": _take_out,
    }
)


def _each(dashboard: Dashboard, given: Arguments, word: str, change: Callable[[str, int | None], Decided]) -> Done:
    """Change each memory; when one cannot be changed, what was done to the others is undone."""
    ids, expected = _named(given)
    done: list[Decided] = []
    with _concurrency(dashboard, expected):
        try:
            for memory in ids:
                done.append(change(memory, expected.get(memory)))  # noqa: PERF401 - an error must leave what was done
        except KeepmumError:
            if done:
                dashboard.service.undo_decision(_undo_of(done))
            raise
    memories = tuple(memory for each in done for memory in each.memories)
    return Done(_said(word, memories), memories, _undo_of(done), max(each.queued for each in done))


def _undo_of(done: Sequence[Decided]) -> str:
    return ",".join(each.undo for each in reversed(done))


def _done(word: str, decided: Decided) -> Done:
    return Done(_said(word, decided.memories), decided.memories, decided.undo, decided.queued)


def _said(word: str, memories: Sequence[Memory]) -> str:
    """What was done, in a sentence."""
    if len(memories) != 1:
        return f"{word} {counted(len(memories), 'memory')}"
    title = memories[0].title
    return f"{word} “{title if len(title) <= _TITLE else title[: _TITLE - 1] + '…'}”"


def _named(given: Arguments) -> tuple[tuple[str, ...], dict[str, int]]:
    """The memories that a call names, each once, and their revisions as far as the caller gave them.

    Raises: InvalidInput.
    """
    ids = tuple(dict.fromkeys(given.texts("ids", _MOST)))
    if not ids:
        raise InvalidInput("ids", "is missing; name a memory")
    return ids, given.numbers("revisions")


def _expected(dashboard: Dashboard, given: Arguments) -> Memory:
    """The memory that a call names, at the revision that it names.

    Raises: InvalidInput, NotFound, Changed.
    """
    memory = dashboard.service.find(given.text("id", LIMITS.key, required=True))
    if given.number("revision", memory.revision) != memory.revision:
        raise Changed(full(memory, card(memory, dashboard.service.now())))
    return memory


@contextlib.contextmanager
def _concurrency(dashboard: Dashboard, expected: Mapping[str, int]) -> Iterator[None]:
    """Report a change by someone else, which the service refuses, with the memory as it is now.

    Raises: Changed.
    """
    try:
        yield
    except InvalidInput:
        for memory in dashboard.service.peek(list(expected)):
            if memory.revision != expected[memory.id]:
                raise Changed(full(memory, card(memory, dashboard.service.now()))) from None
        raise
