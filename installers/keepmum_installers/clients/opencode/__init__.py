"""OpenCode, where Keepmum is a one-line file in the plugin folder, which imports the plugin of the bundle.

Source, for its MCP servers: https://opencode.ai/docs/mcp-servers, read 2026-11-21; and runs of version 1.18.33.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from keepmum_installers import files
from keepmum_installers.clients.checks import interpreter, last_runs
from keepmum_installers.clients.client import Client, InstallSpec, ServerList
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, own_file
from keepmum_installers.product import Product

__all__ = ["OpenCode"]

_NAME = "opencode"
_PLUGIN = ("plugin", "opencode", "keepmum.js")  # in the bundle
_EVENTS = {"session.created": "session-start", "session.idle": "stop", "tool.execute.before": "guard"}
_IF_UNUSED = "If you use OpenCode daily, start it with --print-logs: does it load the plugin?"


class OpenCode(Client):
    """OpenCode, in the terminal or as an app.

    Its plugins run in its own process. Ours registers server and skill itself, so no configuration is edited.
    """

    title = "OpenCode"
    commands = ("opencode",)
    comments = True

    def folder(self, machine: Machine) -> str:
        """`~/.config/opencode`, or the same below XDG_CONFIG_HOME, on every platform."""
        config = machine.environ.get("XDG_CONFIG_HOME") or os.path.join(machine.user_home, ".config")
        return os.path.join(config, "opencode")

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The lists of the project and of the user."""
        for name in ("opencode.json", "opencode.jsonc"):
            yield ServerList("project", os.path.join(machine.repository, name), ("mcp",))
            yield ServerList("user", os.path.join(self.folder(machine), name), ("mcp",))

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """The file that imports the plugin.

        Raises: InstallError when the named source is not valid.
        """
        root = spec.bundle(machine.cwd)
        if root is None:
            return Plan(notes=("OpenCode reads the plugin from a folder: leave --source out.",))
        address = PurePath(root, *_PLUGIN).as_uri()
        step = own_file(
            _file(self.folder(machine)), f"export * from {json.dumps(address)}\n", "the plugin for OpenCode", 0o644
        )
        starts = "OpenCode has Keepmum from its next start on."
        return Plan((step,) if step else (), starts=starts, reads=root)

    def remains(self, machine: Machine) -> Iterable[str]:
        """How to remove a plugin that was put there by hand."""
        if os.path.lexists(_file(self.folder(machine))):
            yield f"OpenCode still has the plugin: {_file(self.folder(machine))} is not what this installer wrote."
            yield "  To remove it, delete that file."

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """Plugin, interpreter, heartbeats, and who last used the server."""
        if not self.is_here(machine):
            return [absent(_NAME, "OpenCode")]
        return _checks(self.folder(machine), machine)


def _checks(folder: str, machine: Machine) -> Iterator[Finding]:
    yield ok(_NAME, f"at {folder}")
    yield interpreter(_NAME, machine)
    yield _plugin(f"{_NAME} plugin", folder)
    yield from last_runs(_NAME, _EVENTS, machine, _IF_UNUSED)


def _plugin(about: str, folder: str) -> Finding:
    again = f"Run `keepmum install --client {_NAME}`."
    content = files.read(_file(folder))
    if content is None:
        return note(about, "the plugin is not installed", again)
    found = re.fullmatch(r'export \* from "file://(.+)"\n', content.decode("utf-8", "replace"))
    if not found:
        return problem(about, f"{_file(folder)} was changed by hand", again)
    from urllib.request import url2pathname

    plugin = url2pathname(found[1])
    if not os.path.isfile(plugin):
        return problem(about, f"its code at {plugin} does not exist", "Install Keepmum again.")
    return ok(about, f"read from {plugin}")


def _file(folder: str) -> str:
    return os.path.join(folder, "plugins", "keepmum.js")
