"""Helpers of several tests of the installer."""

from __future__ import annotations

from keepmum_installers.json_edit import strip
from keepmum_installers.plan import Change

__all__ = ["undone"]


def undone(change: Change) -> str:
    """The text of a file after a change whose keys were removed again."""
    assert isinstance(change.undo, tuple)
    text = change.after.decode()
    for step in reversed(change.undo):
        text = strip(text, step)
    return text
