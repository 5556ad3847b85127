"""Installation for a repository: server, hooks and rule in `.cursor/`, for teammates with the `keepmum` command.

The files name the command by its place below the user's home, since an editor that was started from the desktop has
another PATH than a shell. Without the command the server does not start and the hooks do nothing; for a teammate who
also has the plugin each turn still counts once. A command line of Cursor's that leaves `${userHome}` as it is has the
server from the plugin.

Source: https://cursor.com/docs/context/mcp and https://cursor.com/docs/agent/hooks, read 2026-11-21.
"""

from __future__ import annotations

import os

from keepmum_hooks.clients.cursor import OWN_SERVER
from keepmum_installers.clients.cursor import local, manifests
from keepmum_installers.errors import InstallError
from keepmum_installers.files import lies_in
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, edit_keys, own_file, planned
from keepmum_installers.shell_command import TEAM_COMMAND

__all__ = ["files", "plan"]


def plan(machine: Machine) -> Plan:
    """The edits of the repository's files, and the remaining steps for teammates.

    Raises: InstallError when the folder is the user's home.
    """
    servers, hooks, rule = files(machine)
    if lies_in(servers, local.config_folder(machine)):
        raise InstallError(
            f"{machine.repository} is your home, not a project", "Go to the project's folder, or use --scope user."
        )
    entry = {
        "command": TEAM_COMMAND,
        "args": ["mcp", "--client", manifests.NAME],
        "env": {"CURSOR_PROJECT_DIR": "${workspaceFolder}"},
    }
    # Key by key: of an older entry only the command changes.
    wanted = [(("mcpServers", OWN_SERVER, name), each) for name, each in entry.items()]
    items = [
        (("hooks", event), _fail_open(new), [_fail_open(old)])
        for event, (news, olds) in _pairs(_HOOK, _OLDER_HOOK).items()
        for new, old in zip(news, olds, strict=True)
    ]
    makers = (
        lambda: edit_keys(servers, wanted, "the server in Cursor, for the team", comments=True),
        lambda: edit_keys(hooks, ((("version",), 1),), "the hooks in Cursor, for the team", items, comments=True),
        lambda: own_file(rule, manifests.RULE, "tell each chat in Cursor about the memory", 0o644),
    )
    return planned(makers, _FOR_TEAMMATES)


def files(machine: Machine) -> tuple[str, str, str]:
    """The files that `plan` writes: servers, hooks, rule."""
    folder = os.path.join(machine.repository, ".cursor")
    return (
        os.path.join(folder, "mcp.json"),
        os.path.join(folder, "hooks.json"),
        os.path.join(folder, "rules", "keepmum.mdc"),
    )


# Without KEEPMUM_HOME: a repository's settings could set it, and name a program of their own.
_HOOK, _OLDER_HOOK = '"$HOME/.keepmum/bin/keepmum" hook', "keepmum hook"


def _pairs(new: str, older: str) -> dict[str, tuple[list[dict[str, object]], list[dict[str, object]]]]:
    """For each event its hooks, which start with one command, and the same with an older one."""
    now, before = (manifests.hooks(manifests.Start(command=command))["hooks"] for command in (new, older))
    return {event: (now[event], before[event]) for event in now}


def _fail_open(entry: dict[str, object]) -> dict[str, object]:
    """The hook without `failClosed`: it must not block other memories for a teammate without Keepmum."""
    return {key: value for key, value in entry.items() if key != "failClosed"}


_FOR_TEAMMATES = (
    "For Cursor each teammate has to, once:",
    "  1. install Keepmum for themselves, which creates ~/.keepmum/bin/keepmum",
    "  2. open the repository in Cursor, and switch the server `keepmum` on in Settings, MCP",
)
