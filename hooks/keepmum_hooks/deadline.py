"""An end to whatever takes too long, since a hook that the client has to end forbids nothing."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # private, no stub; `signal` alone would cost a third of a hook

__all__ = ["DeadlineError", "lift", "set_to"]


class DeadlineError(BaseException):
    """The time is over; no `Exception`, so that nothing on the way takes it for a fault of its own."""


def set_to(seconds: float) -> None:
    """Raise `DeadlineError` in the main thread after so many seconds; Windows has no such timer, and goes on."""
    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, _over)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def lift() -> None:
    """Let the time run on."""
    if hasattr(_signal, "setitimer"):
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def _over(_number: int, _frame: object) -> None:
    raise DeadlineError
