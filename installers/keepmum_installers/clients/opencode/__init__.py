"""OpenCode, where Keepmum is one line in the folder of its plugins, which leads to the plugin in the bundle."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from keepmum_installers import files
from keepmum_installers.clients.checks import interpreter, lately
from keepmum_installers.clients.client import Scope, Wish
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, own_file
from keepmum_installers.product import Product
from keepmum_installers.source import bundle_folder

__all__ = ["OpenCode"]

_NAME = "opencode"
_PLUGIN = ("plugin", "opencode", "keepmum.js")  # in the bundle
_EVENTS = {"session.created": "session-start", "session.idle": "stop", "tool.execute.before": "guard"}
_SHOWN = "If you use OpenCode daily, start it with --print-logs: does it load the plugin?"


class OpenCode:
    """OpenCode, in the terminal or as an app.

    Its plugins run in its own process. Ours adds server and skill by itself, so that no configuration is edited.
    """

    title = "OpenCode"
    scopes: tuple[Scope, ...] = ("user",)

    def manifests(self, product: Product) -> Mapping[str, object]:  # noqa: ARG002 - as every client
        """None: the plugin is a program, and is not rendered."""
        return {}

    def program(self, machine: Machine) -> str | None:
        """The path of `opencode`; nothing of ours calls it."""
        return machine.find("opencode")

    def is_here(self, machine: Machine) -> bool:
        """Whether the client has a folder here, or a command."""
        return os.path.isdir(self.folder(machine)) or self.program(machine) is not None

    def folder(self, machine: Machine) -> str:
        """`~/.config/opencode`, or where the user moved it."""
        config = machine.environ.get("XDG_CONFIG_HOME") or os.path.join(machine.user_home, ".config")
        return os.path.join(config, "opencode")

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """The file that leads to the plugin.

        Raises: InstallError when a source was named that is none.
        """
        where = bundle_folder(wish.source, wish.root, machine.cwd)
        if where is None:
            return Plan(notes=("OpenCode reads the plugin from a folder: run this installer in a clone of Keepmum.",))
        address = PurePath(where, *_PLUGIN).as_uri()
        step = own_file(_file(self.folder(machine)), f"export * from {json.dumps(address)}\n", "the plugin", 0o644)
        notes = (
            "OpenCode has Keepmum from its next start on.",
            f"It reads the plugin from {where}: keep that folder.",
        )
        return Plan((step,) if step else (), notes)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:  # noqa: ARG002 - as every client
        """None: it is installed for a user."""
        return ()

    def remains(self, machine: Machine) -> Iterable[str]:
        """What to do about a plugin that somebody put there by hand."""
        if os.path.lexists(_file(self.folder(machine))):
            yield f"OpenCode still has the plugin: {_file(self.folder(machine))} is not what this installer wrote."
            yield "  To take it out, remove that file."

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """Plugin, interpreter, heartbeats, and who used the server."""
        if not self.is_here(machine):
            return [absent(_NAME, "OpenCode")]
        return _checks(self.folder(machine), machine)


def _checks(place: str, machine: Machine) -> Iterator[Finding]:
    yield ok(_NAME, f"at {place}")
    yield interpreter(_NAME, machine)
    yield _plugin(f"{_NAME} plugin", place)
    yield from lately(_NAME, _EVENTS, machine, _SHOWN)


def _plugin(about: str, place: str) -> Finding:
    again = f"Run `keepmum install --client {_NAME}`."
    content = files.read(_file(place))
    if content is None:
        return note(about, "the plugin is not installed", again)
    found = re.fullmatch(r'export \* from "file://(.+)"\n', content.decode("utf-8", "replace"))
    if not found:
        return problem(about, f"{_file(place)} was changed by hand", again)
    from urllib.request import url2pathname

    where = url2pathname(found[1])
    if not os.path.isfile(where):
        return problem(about, f"its code at {where} is gone", f"{again} Do so in another clone.")
    return ok(about, f"read from {where}")


def _file(place: str) -> str:
    return os.path.join(place, "plugins", "keepmum.js")
