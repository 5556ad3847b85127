"""For a repository: server, hooks and rule in `.cursor/`, for teammates who have the `keepmum` command.

The files name the command and no folder, since they are the same on every machine. Where it lacks, the server does
not start and the hooks do nothing; where somebody has the plugin, too, each turn still counts once.

Source: https://cursor.com/docs/context/mcp and https://cursor.com/docs/agent/hooks, read 2026-11-21.
"""

from __future__ import annotations

import os

from keepmum_hooks.clients.cursor import OWN_SERVER
from keepmum_installers.clients.cursor import manifests, places
from keepmum_installers.clients.cursor.rule import RULE
from keepmum_installers.errors import InstallError
from keepmum_installers.files import lies_in
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, edit_keys, own_file
from keepmum_installers.repository import repository

__all__ = ["files", "plan"]


def plan(machine: Machine) -> Plan:
    """The edits of the repository's files, and what is left to do for others.

    Raises: InstallError when the folder is the user's home, or a file cannot be edited without harm.
    """
    servers, hooks, rule = files(machine)
    if lies_in(servers, places.config_folder(machine)):
        raise InstallError(
            f"{repository(machine)} is your home, not a project", "Go to the project's folder, or use --scope user."
        )
    entry = {
        "command": "keepmum",
        "args": ["mcp", "--client", places.NAME],
        "env": {"CURSOR_PROJECT_DIR": "${workspaceFolder}"},
    }
    events = manifests.hooks(manifests.Start(command="keepmum hook"))["hooks"]
    steps = (
        edit_keys(servers, ((("mcpServers", OWN_SERVER), entry),), "the server in Cursor, for the team"),
        edit_keys(
            hooks,
            ((("version",), 1),),
            "the hooks in Cursor, for the team",
            [(("hooks", event), _open(entry)) for event, entries in events.items() for entry in entries],
        ),
        own_file(rule, RULE, "tell each chat in Cursor of the memory", 0o644),
    )
    return Plan(tuple(step for step in steps if step), closing=_FOR_TEAMMATES)


def files(machine: Machine) -> tuple[str, str, str]:
    """The files that `plan` writes: servers, hooks, rule."""
    folder = os.path.join(repository(machine), ".cursor")
    return (
        os.path.join(folder, "mcp.json"),
        os.path.join(folder, "hooks.json"),
        os.path.join(folder, "rules", "keepmum.mdc"),
    )


def _open(entry: dict[str, object]) -> dict[str, object]:
    """The hook without its lock: a teammate who has no Keepmum must not be kept from other memories."""
    return {key: value for key, value in entry.items() if key != "failClosed"}


_FOR_TEAMMATES = (
    "For Cursor a teammate has to, once:",
    "  1. run `sh installers/install.sh` in a clone of Keepmum, which makes the `keepmum` command",
    "  2. open the repository in Cursor, and switch the server `keepmum` on in Settings, MCP",
)
