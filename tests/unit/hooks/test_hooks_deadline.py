"""An end to what takes too long."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from keepmum_hooks import deadline

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such timer")


@pytest.fixture(autouse=True)
def _own_signal() -> Iterator[None]:
    import signal

    before = signal.getsignal(signal.SIGALRM)
    yield
    deadline.lift()
    signal.signal(signal.SIGALRM, before)


def run_forever() -> None:
    while True:
        pass


def test_what_takes_too_long_ends() -> None:
    deadline.set_to(0.01)
    with pytest.raises(deadline.DeadlineError):
        run_forever()


def test_nothing_takes_it_for_a_fault_of_its_own() -> None:
    assert not issubclass(deadline.DeadlineError, Exception)


def test_a_lifted_deadline_does_not_come() -> None:
    import signal

    deadline.set_to(60)
    deadline.lift()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
