"""Sample values for the tests of every client."""

from __future__ import annotations

__all__ = ["DUE", "NOTE", "token"]

DUE = [5, 10, 15]
"""The turns, out of sixteen, that a reminder follows."""

NOTE = {"title": "Deploys", "text": "Deploys go through the blue pool first.", "kind": "decision"}


def token() -> str:
    """A string in the form of a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
