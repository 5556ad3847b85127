"""How turns are counted, as a pure reading of the session's log.

Each Stop appends one record and then reads the log up to its own record. What that record means follows from the
records before it and from nothing else, so that hooks which run at once, or twice for one Stop, agree without a
lock. The end of a turn that a person began is `T`, or `U` where nobody would see the reminder:

    T <prompt> [+<reporting task> | ~<lasting task>]... .

A record starts with a newline and ends with a full stop: one that was cut short can neither swallow its successor
nor pass for a whole one. What cannot be read is skipped.

So that a long session costs no more than a short one, a reader that had much to read adds what it came to:

    C <bytes> <every> <turns> <waiting> [<running task>]... .

says where the counting stood behind the first so many bytes, for one interval. The log only grows, so this stays
true wherever the line itself comes to stand, and however often it is said; who finds it goes on from there.
"""

from __future__ import annotations

from keepmum_hooks.places import plain_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from keepmum_hooks.event import Event

__all__ = ["LOG_CAP", "STARTED", "record", "replay"]

LOG_CAP = 256 << 10  # bytes: some six thousand turns; a longer or a foreign file is begun anew
STARTED = b"\nS ."  # a hook was told that the session starts; no turn, and so skipped here

_UNKNOWN = b"?"  # no prompt id: each record is a turn of its own
_MOST_TASKS = 64  # keeps a record within a page
_MANY = 16  # records from one checkpoint to the next; for each, the log before is searched


def record(event: Event, *, silent: bool) -> bytes:
    """The line that a Stop adds to the log; `silent` says that a reminder due now is not to be given."""
    fields = ["U" if silent else "T", plain_name(event.prompt) if event.prompt else "?"]
    fields += _tagged("+", event.reporting)
    fields += _tagged("~", event.lasting)
    return f"\n{' '.join(fields)} .".encode("ascii")


def replay(log: bytes, every: int) -> tuple[bool, bytes]:
    """Whether the last record of the log is to remind, and the checkpoint to add to the log, b"" for none.

    One reminds for every `every` turns. A prompt counts once, however often its end is reported. A task that ends has
    a turn of its own, which nobody typed: so when a task is gone, one turn is left out, be it the very one or that of
    a prompt typed meanwhile, after which the message comes; the sum is the same. Tasks that end together share a
    turn, as they do in Claude Code. While tasks are due to report back, a reminder waits.
    """
    count = _latest(log, every)
    old, read = count.size, 0
    seen: set[bytes] = set()
    reminds = False
    for line in log[old:].split(b"\n"):
        fields = _fields(line)
        if not fields:
            continue
        read += 1
        prompt, tasks = fields[1], frozenset(fields[2:-1])
        if prompt not in seen and not _was_seen(prompt, log, old):
            if count.running <= tasks:
                count.turns += 1
                count.waiting = count.waiting or count.turns % every == 0
            if prompt != _UNKNOWN:
                seen.add(prompt)
        count.running = tasks
        reporting = any(task.startswith(b"+") for task in tasks)
        reminds = count.waiting and not reporting and fields[0] == b"T"
        count.waiting = count.waiting and reporting and fields[0] == b"T"
    count.size = len(log)
    return reminds, count.line(every) if read >= _MANY else b""


class _Count:
    """Where the counting stands behind the first `size` bytes of a log."""

    __slots__ = ("running", "size", "turns", "waiting")

    def __init__(self, size: int = 0, turns: int = 0, running: Iterable[bytes] = (), *, waiting: bool = False) -> None:
        self.size = size
        self.turns = turns
        self.waiting = waiting  # whether a reminder is due that could not be given yet
        self.running = frozenset(running)

    def line(self, every: int) -> bytes:
        """The checkpoint for later readers with the same interval."""
        numbers = f"C {self.size} {every} {self.turns} {int(self.waiting)}".encode("ascii")
        return b"\n" + b" ".join([numbers, *sorted(self.running), b"."])


def _latest(log: bytes, every: int) -> _Count:
    """The last checkpoint in the log that fits the interval, or the beginning of all counting."""
    end = len(log)
    while (start := log.rfind(b"\nC ", 0, end)) >= 0:
        stop = log.find(b"\n", start + 1)
        fields = log[start + 1 : stop if stop >= 0 else len(log)].split(b" ")
        numbers = [int(field) for field in fields[1:5] if field.isdigit() and len(field) < 10]
        # One that speaks of more than what stands before it was meant for a log that has been begun anew.
        if len(numbers) == 4 and fields[-1] == b"." and numbers[1] == every and 0 < numbers[0] <= start:
            size, _, turns, waiting = numbers
            if log[size : size + 1] == b"\n":
                return _Count(size, turns, fields[5:-1], waiting=bool(waiting))
        end = start
    return _Count()


def _was_seen(prompt: bytes, log: bytes, end: int) -> bool:
    """Whether a whole record before `end` tells of the prompt; by a search, which costs next to nothing."""
    if prompt == _UNKNOWN:
        return False
    place = log.find(b" %b " % prompt, 0, end)
    while place >= 0:
        stop = log.find(b"\n", place, end)
        fields = _fields(log[log.rfind(b"\n", 0, place) + 1 : stop if stop >= 0 else end])
        if fields and fields[1] == prompt:
            return True
        place = log.find(b" %b " % prompt, place + 1, end)
    return False


def _fields(line: bytes) -> list[bytes]:
    """The fields of a whole record of a turn; none for any other line."""
    fields = line.split(b" ")
    return fields if len(fields) >= 3 and fields[-1] == b"." and fields[0] in (b"T", b"U") else []


def _tagged(tag: str, tasks: Iterable[str]) -> list[str]:
    return [tag + plain_name(task) for task in sorted(tasks)[:_MOST_TASKS]]
