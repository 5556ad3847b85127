"""How turns are counted, as a pure reading of the session's log.

Each Stop appends one record and then reads the log up to its own record. What that record means follows from the
records before it and from nothing else, so that hooks which run at once, or twice for one Stop, agree without a
lock. The end of a turn that a person began is `T`, or `U` where nobody would see the reminder:

    T <prompt> [+<reporting task> | ~<lasting task>]... .

A record starts with a newline and ends with a full stop: one that was cut short can neither swallow its successor
nor pass for a whole one. What cannot be read is skipped.
"""

from __future__ import annotations

from keepmum_hooks.places import plain_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from keepmum_hooks.event import Event

__all__ = ["is_due", "record"]

_UNKNOWN = b"?"  # no prompt id: each record is a turn of its own
_MOST_TASKS = 64  # keeps a record within a page


def record(event: Event, *, silent: bool) -> bytes:
    """The line that a Stop adds to the log; `silent` says that a reminder due now is not to be given."""
    fields = ["U" if silent else "T", plain_name(event.prompt) if event.prompt else "?"]
    fields += _tagged("+", event.reporting)
    fields += _tagged("~", event.lasting)
    return f"\n{' '.join(fields)} .".encode("ascii")


def is_due(log: bytes, every: int) -> bool:
    """Whether the last record of the log is the one that shall remind: once for every `every` turns.

    A prompt counts once, however often its end is reported. A task that ends has a turn of its own, which nobody
    typed: so when a task is gone, one turn is left out, be it the very one or that of a prompt typed meanwhile,
    after which the message comes; the sum is the same. Tasks that end together share a turn, as they do in Claude
    Code. While tasks are due to report back, a reminder waits.
    """
    seen: set[bytes] = set()
    running: frozenset[bytes] = frozenset()
    turns = 0
    waiting = reminds = False
    for line in log.split(b"\n"):
        fields = line.split(b" ")
        if len(fields) < 3 or fields[-1] != b"." or fields[0] not in (b"T", b"U"):
            continue
        prompt, tasks = fields[1], frozenset(fields[2:-1])
        if prompt not in seen:
            if running <= tasks:
                turns += 1
                waiting = waiting or turns % every == 0
            if prompt != _UNKNOWN:
                seen.add(prompt)
        running = tasks
        reporting = any(task.startswith(b"+") for task in tasks)
        reminds = waiting and not reporting and fields[0] == b"T"
        waiting = waiting and reporting and fields[0] == b"T"
    return reminds


def _tagged(tag: str, tasks: Iterable[str]) -> list[str]:
    return [tag + plain_name(task) for task in sorted(tasks)[:_MOST_TASKS]]
