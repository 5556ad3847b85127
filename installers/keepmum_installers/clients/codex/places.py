"""Where Codex keeps its settings, and the names that it and we use."""

from __future__ import annotations

import os

from keepmum_installers.machine import Machine
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.repository import repository

__all__ = [
    "EVENTS",
    "NAME",
    "SERVER",
    "config_file",
    "copy_of_plugin",
    "folder",
    "folders_left_behind",
    "repository_file",
]

NAME = "codex"
"""The client's name in our own commands, files and settings."""

EVENTS = {"SessionStart": "session-start", "Stop": "stop"}
"""The events that we have hooks for: the client's word, and ours."""

SERVER = "keepmum"
"""The server's key. The client leaves the plugin's name out of the tools' names, and one of two equal keys: it must be
one that nobody else takes."""


def folder(machine: Machine) -> str:
    """The folder of everything that the client keeps for this user."""
    return machine.environ.get("CODEX_HOME") or os.path.join(machine.user_home, ".codex")


def config_file(machine: Machine) -> str:
    """The user's settings file."""
    return os.path.join(folder(machine), "config.toml")


def copy_of_plugin(machine: Machine, version: str) -> str:
    """The folder that the client copied the plugin to."""
    return os.path.join(folder(machine), "plugins", "cache", MARKETPLACE, PLUGIN.partition("@")[0], version)


def folders_left_behind(machine: Machine) -> tuple[str, ...]:
    """The folders that the client makes when it installs a plugin, and then leaves; outer ones first."""
    names = (
        ("plugins",),
        ("plugins", "cache"),
        ("plugins", "cache", MARKETPLACE),
        (".tmp",),
        (".tmp", "marketplaces"),
    )
    return tuple(os.path.join(folder(machine), *name) for name in names)


def repository_file(machine: Machine) -> str:
    """The settings file of the repository around the working folder."""
    return os.path.join(repository(machine), ".codex", "config.toml")
