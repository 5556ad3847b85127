"""Codex's settings folder and its `config.toml`, and the names that we use there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any

from keepmum_installers import formats
from keepmum_installers.clients.client import ServerList
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.product import MARKETPLACE, PLUGIN

__all__ = [
    "EVENTS",
    "NAME",
    "SERVER",
    "check_editable",
    "config_file",
    "copy_of_plugin",
    "folder",
    "folders_left_behind",
    "read",
    "repository_file",
    "server_lists",
]

NAME = "codex"
"""The client's name in our commands, files and settings."""

EVENTS = {"SessionStart": "session-start", "Stop": "stop"}
"""The events that we have hooks for, other than the guard's: the client's name, and ours."""

SERVER = "keepmum"
"""The server's key. The client omits the plugin's name from tool names, and drops one of two equal keys: it must be
unusual."""


def folder(machine: Machine) -> str:
    """The folder of everything that the client keeps for this user."""
    return machine.environ.get("CODEX_HOME") or os.path.join(machine.user_home, ".codex")


def config_file(machine: Machine) -> str:
    """The user's settings file."""
    return os.path.join(folder(machine), "config.toml")


def repository_file(machine: Machine) -> str:
    """The settings file of the repository around the working folder."""
    return os.path.join(machine.repository, ".codex", "config.toml")


def server_lists(machine: Machine) -> Iterator[ServerList]:
    """The lists of MCP servers that apply in the working folder: the project's, when it is trusted, and the user's.

    Source: https://github.com/openai/codex/blob/main/docs/config.md, read 2026-11-21; and what version 0.169.0 reads.
    """
    yield ServerList("project", repository_file(machine), ("mcp_servers",))
    yield ServerList("user", config_file(machine), ("mcp_servers",))


def copy_of_plugin(machine: Machine, version: str) -> str:
    """The folder that the client copied the plugin to."""
    return os.path.join(folder(machine), "plugins", "cache", MARKETPLACE, PLUGIN.partition("@")[0], version)


def folders_left_behind(machine: Machine) -> tuple[str, ...]:
    """The folders that the client creates for a plugin and never removes, outermost first."""
    names: tuple[tuple[str, ...], ...] = (
        (),
        ("plugins",),
        ("plugins", "cache"),
        ("plugins", "cache", MARKETPLACE),
        (".tmp",),
        (".tmp", "marketplaces"),
    )
    return tuple(os.path.join(folder(machine), *name) for name in names)


def read(path: str) -> dict[str, Any]:
    """The values of a `config.toml`; empty when there is no file.

    Raises: InstallError naming line and column when it is damaged.
    """
    return formats.editable_values(path, "Fix it and run this again: Codex itself does not start with it either.")


def check_editable(path: str) -> None:
    """Do nothing when the client's commands may edit the file; they would replace a read-only one as well.

    Raises: InstallError when it is read-only; as `read` when it is damaged.
    """
    read(path)
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.stat(target).st_mode & stat.S_IWUSR:
        raise InstallError(f"{path} was left unchanged: it is read-only", f"Run `chmod u+w {target}`, then try again.")
