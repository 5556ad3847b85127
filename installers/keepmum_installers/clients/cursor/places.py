"""Where Cursor keeps what it reads, and the names that it and we use."""

from __future__ import annotations

import os

from keepmum_installers.machine import Machine

__all__ = ["EVENTS", "NAME", "config_folder", "plugin_folder"]

NAME = "cursor"
"""The client's name in our own commands, files and settings."""

EVENTS = {"sessionStart": "session-start", "stop": "stop"}
"""The events that we have hooks for, besides the guard's: the client's word, and ours."""


def config_folder(machine: Machine) -> str:
    """The folder of everything that the client keeps for this user."""
    return os.path.join(machine.user_home, ".cursor")


def plugin_folder(machine: Machine) -> str:
    """Where the client looks for a plugin of ours that comes from no marketplace."""
    return os.path.join(config_folder(machine), "plugins", "local", "keepmum")
