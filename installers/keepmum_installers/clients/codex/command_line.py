"""What the `codex` command reports about itself and our plugin."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Sequence

from keepmum_installers.clients.checks import json_list
from keepmum_installers.clients.codex import settings
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.source import Source

__all__ = ["OLDEST", "call", "entry", "known_source", "program", "servers", "version"]

OLDEST = (0, 150, 0)
"""The oldest version that is known to install a plugin with hooks by its own commands."""

_SECONDS = 20
_NEXT = "Run `codex update`, or `npm install -g @openai/codex`, then try again."


def program(machine: Machine) -> str | None:
    """The path of `codex`: on PATH, else where its own installer puts it; None when it is in neither."""
    usual = os.path.join(machine.user_home, ".local", "bin", "codex")
    return machine.find("codex") or (usual if os.access(usual, os.X_OK) else None)


def call(codex: str, arguments: Sequence[str], seconds: float, machine: Machine) -> Outcome:
    """The outcome of a command of the client; the folder of links that its first start creates is removed again."""
    home = settings.folder(machine)
    temporary = os.path.join(home, "tmp")
    new = [path for path in (temporary, home) if not os.path.isdir(path)]
    done = machine.run((codex, *arguments), seconds)
    if temporary in new and os.path.isdir(temporary):
        for name in os.listdir(temporary):
            if name.startswith("arg0"):
                shutil.rmtree(os.path.join(temporary, name), ignore_errors=True)
    for path in new:
        with contextlib.suppress(OSError):  # it has files
            os.rmdir(path)
    return done


def version(codex: str, machine: Machine) -> tuple[int, ...] | None:
    """The client's version; None when it does not report one."""
    found = re.search(
        r"^codex-cli (\d+)\.(\d+)\.(\d+)", call(codex, ("--version",), _SECONDS, machine).out, re.MULTILINE
    )
    return tuple(map(int, found.groups())) if found else None


def known_source(codex: str, machine: Machine) -> Source | None:
    """The source that the client has for a marketplace of our name; None when it has none."""
    for each in _listed(codex, "plugin marketplace list --json", machine, "marketplaces"):
        source = each.get("marketplaceSource")
        where = source.get("source") if isinstance(source, dict) else None
        if each.get("name") == MARKETPLACE and isinstance(source, dict) and isinstance(where, str):
            if source.get("sourceType") == "local":
                return Source("directory", os.path.realpath(where))
            name = where.removeprefix("https://github.com/").removesuffix(".git")
            return Source("github", name) if re.fullmatch(r"[\w.-]+/[\w.-]+", name) else Source("git", where)
    return None


def entry(codex: str, machine: Machine) -> dict[str, object] | None:
    """The client's entry of our plugin; None when it is not installed."""
    installed = _listed(codex, "plugin list --json", machine, "installed")
    return next((each for each in installed if each.get("pluginId") == PLUGIN), None)


def servers(codex: str, machine: Machine) -> frozenset[str]:
    """The names of the MCP servers that the client knows, including those of plugins."""
    return frozenset(str(each.get("name")) for each in _listed(codex, "mcp list --json", machine))


def _listed(codex: str, command: str, machine: Machine, key: str = "") -> list[dict[str, object]]:
    return json_list(f"codex {command}", call(codex, command.split(), _SECONDS, machine), _NEXT, key)
