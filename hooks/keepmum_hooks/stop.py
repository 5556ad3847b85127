"""Stop: at every fifth turn, ask the model to store what it learned."""

from __future__ import annotations

from keepmum_hooks import files, places, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_hooks.event import Event
    from keepmum_hooks.switches import Switches

__all__ = ["stop"]


def stop(event: Event, settings: Switches, home: str, client: str) -> str | None:
    """The capture prompt when this is the Stop that must give it, else None.

    Raises: OSError when the turn could not be recorded; then there is no prompt.
    """
    if not event.ends_turn or not settings.capture:
        return None
    record = turns.record(event, silent=not (event.attended or settings.unattended))
    path = places.turns_file(home, event.session)
    is_due, checkpoint = turns.replay(files.append(path, record, turns.LOG_CAP), settings.every)
    if checkpoint:
        _append(checkpoint, path)
    if not is_due:
        return None
    from keepmum_hooks.capture_prompt import capture_prompt

    return capture_prompt(client, settings.dialect)


def _append(checkpoint: bytes, path: str) -> None:
    try:
        files.append(path, checkpoint, turns.LOG_CAP)
    except OSError:
        return  # the next run reads more of the log and gets the same result
