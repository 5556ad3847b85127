"""What the `claude` command reports about itself and our plugin."""

from __future__ import annotations

import os
import re

from keepmum_installers.clients.checks import json_list
from keepmum_installers.machine import Machine
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.source import Source

__all__ = ["WHOLE_SINCE", "entries", "known_source", "program", "version"]

WHOLE_SINCE = (2, 1, 163)
"""The first version that passes a Stop hook's additionalContext to the model without showing it as a problem."""
# Source: https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md, read 2026-11-21

_SECONDS = 20
_NEXT = "Run `claude update`, then try again."


def program(machine: Machine) -> str | None:
    """The path of `claude`: on PATH, else where the client's own installer puts it; None when it is in neither."""
    usual = (os.path.join(machine.user_home, *names, "claude") for names in ((".local", "bin"), (".claude", "local")))
    return machine.find("claude") or next((path for path in usual if os.access(path, os.X_OK)), None)


def version(claude: str, machine: Machine) -> tuple[int, ...] | None:
    """The client's version; None when it does not report one."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", machine.run((claude, "--version"), _SECONDS).out)
    return tuple(map(int, found.groups())) if found else None


def known_source(claude: str, machine: Machine) -> Source | None:
    """The source that the client has for our marketplace; None when it has none."""
    for entry in json_list((claude, "plugin", "marketplace", "list", "--json"), machine, _NEXT):
        kind, where = entry.get("source"), entry.get("path") or entry.get("url") or entry.get("repo")
        if entry.get("name") == MARKETPLACE and isinstance(where, str):
            if kind == "directory":
                return Source("directory", os.path.realpath(where))
            return Source("github", where) if kind == "github" else Source("git", where)
    return None


def entries(claude: str, machine: Machine) -> list[dict[str, object]]:
    """The client's entries of plugins with our name, one per scope."""
    name = PLUGIN.partition("@")[0] + "@"
    entries = json_list((claude, "plugin", "list", "--json"), machine, _NEXT)
    return [entry for entry in entries if str(entry.get("id", "")).startswith(name)]
