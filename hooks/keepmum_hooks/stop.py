"""Stop: at every fifth turn, ask the model to keep what it learned."""

from __future__ import annotations

from keepmum_hooks import files, places, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_hooks.event import Event
    from keepmum_hooks.switches import Switches

__all__ = ["stop"]


def stop(event: Event, switches: Switches, home: str) -> str | None:
    """The reminder for the model when this Stop is the one to carry it, else None.

    Raises: OSError when the turn could not be counted; then nobody is reminded.
    """
    if not event.ends_turn or not switches.capture:
        return None
    record = turns.record(event, silent=not (event.attended or switches.unattended))
    path = places.turns_file(home, event.session)
    is_due, checkpoint = turns.replay(files.append(path, record, turns.LOG_CAP), switches.every)
    if checkpoint:
        _add(checkpoint, path)
    if not is_due:
        return None
    from keepmum_hooks.prompt import CAPTURE

    return CAPTURE


def _add(checkpoint: bytes, path: str) -> None:
    try:
        files.append(path, checkpoint, turns.LOG_CAP)
    except OSError:
        return  # the next reader has more to read, and comes to the same
