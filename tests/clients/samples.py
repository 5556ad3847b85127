"""Sample values for the tests of every client."""

from __future__ import annotations

__all__ = ["DUE", "NOTE", "TURNS", "token"]

TURNS = range(1, 12)
"""The turns of a session that takes a client a second for each."""

DUE = [5, 10]
"""Those that a reminder follows."""

NOTE = {"title": "Deploys", "text": "Deploys go through the blue pool first.", "kind": "decision"}


def token() -> str:
    """A string in the form of a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
