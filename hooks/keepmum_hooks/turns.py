"""Counting turns: a pure function of the session's log.

Each Stop appends one record and then reads the log up to that record. The result depends only on the records before it,
so hooks that run at the same time, or twice for one Stop, agree without a lock. A turn's end is recorded as `T`, or as
`U` when nobody would see the capture prompt:

    T <prompt> [+<reporting task> | ~<lasting task>]... .

A record starts with a newline and ends with a full stop, so a truncated record is recognised and cannot absorb the next
one. Lines that cannot be parsed are skipped.

To keep long sessions as cheap as short ones, a run that read many records appends a checkpoint:

    C <bytes> <every> <turns> <waiting> [<running task>]... .

It is the state of the count after the first <bytes> of the log, for one interval. The log only grows, so a checkpoint
stays true at any place in the log and however often it occurs; the next run continues from the last one.
"""

from __future__ import annotations

from keepmum_hooks.places import plain_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from keepmum_hooks.event import Event

__all__ = ["LOG_CAP", "STARTED", "record", "replay"]

LOG_CAP = 256 << 10  # bytes: about six thousand turns; a longer file is replaced by an empty one
STARTED = b"\nS ."  # a hook reported that the session starts; not a turn, and skipped here

_UNKNOWN = b"?"  # no prompt id: each record is a turn of its own
_MOST_TASKS = 64  # keeps a record within one page of memory
_MANY = 16  # records between checkpoints; for each, the log before it is searched


def record(event: Event, *, silent: bool) -> bytes:
    """The record that a Stop appends to the log; with `silent` the turn gets no capture prompt even if it is due."""
    fields = ["U" if silent else "T", plain_name(event.prompt) if event.prompt else "?"]
    fields += _tagged("+", event.reporting)
    fields += _tagged("~", event.lasting)
    return f"\n{' '.join(fields)} .".encode("ascii")


def replay(log: bytes, every: int) -> tuple[bool, bytes]:
    """Whether the log's last record gets the capture prompt, and the checkpoint to append, b"" for none.

    Every `every` turns one gets it. A prompt counts once, however often its end is reported. A task that ends causes a
    turn that nobody typed, so one turn is left out when a task has ended: that turn, or that of a prompt typed before
    the task's message arrives, which gives the same sum. Tasks that end together share a turn, as in Claude Code. While
    a task is due to return a result, the capture prompt is deferred.
    """
    count = _latest(log, every)
    old, read = count.size, 0
    seen: set[bytes] = set()
    prompts = False
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
        prompts = count.waiting and not reporting and fields[0] == b"T"
        count.waiting = count.waiting and reporting and fields[0] == b"T"
    count.size = len(log)
    return prompts, count.line(every) if read >= _MANY else b""


class _Count:
    """The state of the count after the first `size` bytes of a log."""

    __slots__ = ("running", "size", "turns", "waiting")

    def __init__(self, size: int = 0, turns: int = 0, running: Iterable[bytes] = (), *, waiting: bool = False) -> None:
        self.size = size
        self.turns = turns
        self.waiting = waiting  # whether a capture prompt is deferred
        self.running = frozenset(running)

    def line(self, every: int) -> bytes:
        """The checkpoint for later runs with the same interval."""
        numbers = f"C {self.size} {every} {self.turns} {int(self.waiting)}".encode("ascii")
        return b"\n" + b" ".join([numbers, *sorted(self.running), b"."])


def _latest(log: bytes, every: int) -> _Count:
    """The last valid checkpoint in the log for this interval, or the initial state."""
    end = len(log)
    while (start := log.rfind(b"\nC ", 0, end)) >= 0:
        stop = log.find(b"\n", start + 1)
        fields = log[start + 1 : stop if stop >= 0 else len(log)].split(b" ")
        numbers = [int(field) for field in fields[1:5] if field.isdigit() and len(field) < 10]
        # A checkpoint of more bytes than precede it belongs to an earlier log, before it was replaced.
        if len(numbers) == 4 and fields[-1] == b"." and numbers[1] == every and 0 < numbers[0] <= start:
            size, _, turns, waiting = numbers
            if log[size : size + 1] == b"\n":
                return _Count(size, turns, fields[5:-1], waiting=bool(waiting))
        end = start
    return _Count()


def _was_seen(prompt: bytes, log: bytes, end: int) -> bool:
    """Whether a complete record before `end` has this prompt; found by a fast search."""
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
    """The fields of a complete record of a turn; none for any other line."""
    fields = line.split(b" ")
    return fields if len(fields) >= 3 and fields[-1] == b"." and fields[0] in (b"T", b"U") else []


def _tagged(tag: str, tasks: Iterable[str]) -> list[str]:
    return [tag + plain_name(task) for task in sorted(tasks)[:_MOST_TASKS]]
