"""Where Claude Code keeps its settings, and the names that it and we use."""

from __future__ import annotations

import os

from keepmum_installers.clients.client import Scope
from keepmum_installers.machine import Machine
from keepmum_installers.repository import repository

__all__ = ["EVENTS", "NAME", "PYTHON", "settings_file", "settings_folder"]

NAME = "claude-code"
"""The client's name in our own commands, files and settings."""

PYTHON = "python3"
"""What hooks and server start by: a name that is the same on every machine."""

EVENTS = {"SessionStart": "session-start", "Stop": "stop"}
"""The events that we have hooks for: the client's word, and ours."""

_FILES = {"project": "settings.json", "local": "settings.local.json"}


def settings_file(scope: Scope, machine: Machine) -> str:
    """The settings file of that scope; a repository's is the one around the working folder."""
    if scope == "user":
        return os.path.join(settings_folder(machine), "settings.json")
    return os.path.join(repository(machine), ".claude", _FILES[scope])


def settings_folder(machine: Machine) -> str:
    """The folder of everything that the client keeps for this user."""
    return machine.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(machine.user_home, ".claude")
