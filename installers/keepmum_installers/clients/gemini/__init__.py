"""Gemini CLI, where Keepmum is an extension that is linked to the bundle.

Source, for its MCP servers: https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md, read
2026-11-21; for the link, what `gemini extensions link` of 0.61.0 writes and needs, run 2026-11-22.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence

from keepmum_installers import files
from keepmum_installers.clients.checks import interpreter, last_runs
from keepmum_installers.clients.client import Client, InstallSpec, ServerList
from keepmum_installers.clients.gemini import manifests
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.plan import Plan, own_file
from keepmum_installers.product import Product

__all__ = ["GeminiCli"]

_NAME = "gemini-cli"
_EXTENSION = "keepmum"
_TRUST_NOTHING = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}  # for this process only, so nothing is written
_EVENTS = {"SessionStart": "session-start", "AfterAgent": "stop", "BeforeTool": "guard"}
_IF_UNUSED = "If you use Gemini CLI daily, check what /hooks panel shows in it."


class GeminiCli(Client):
    """Gemini on the command line."""

    title = "Gemini CLI"
    commands = ("gemini",)
    comments = True  # not trailing commas, but the installer adds none
    manifests = staticmethod(manifests.render)

    def is_here(self, machine: Machine) -> bool:
        """Whether there is a `gemini`; its folder alone proves nothing, since other programs use it too."""
        return self.program(machine) is not None

    def folder(self, machine: Machine) -> str:
        """`~/.gemini`."""
        return os.path.join(machine.user_home, ".gemini")

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The lists of the project and of the user.

        In them `url` means the old SSE transport and `httpUrl` the new one; the guard can wrap neither.
        """
        yield ServerList("project", os.path.join(machine.repository, ".gemini", "settings.json"), ("mcpServers",))
        yield ServerList("user", os.path.join(self.folder(machine), "settings.json"), ("mcpServers",))

    def call(self, arguments: Sequence[str], seconds: float, machine: Machine) -> Outcome | None:
        """As every client; without the variable the client's commands may mark their working folder as trusted."""
        gemini = self.program(machine)
        return None if gemini is None else machine.run((gemini, *arguments), seconds, _TRUST_NOTHING)

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """The file that links the extension.

        The client's own command for it would also trust the working folder, and leave keys and lists behind.

        Raises: InstallError when the named source is not valid.
        """
        bundle = spec.bundle(machine.cwd)
        if bundle is None or self.program(machine) is None:
            return Plan(notes=_by_hand())
        extension = os.path.join(bundle, manifests.FOLDER)
        starts = "Gemini CLI has Keepmum from its next session on."
        if _linked(self.folder(machine)) == extension:
            return Plan(starts=starts, reads=bundle)
        text = json.dumps({"source": extension, "type": "link"}, indent=2, ensure_ascii=False)
        link = own_file(_link(self.folder(machine)), text, "link the extension", 0o644)
        return Plan((link,) if link else (), starts=starts, reads=bundle)

    def remains(self, machine: Machine) -> Iterable[str]:
        """How to remove an extension that was linked by hand."""
        if _linked(self.folder(machine)) is not None:
            yield "Gemini CLI still has the extension: it was there before this installer, or was linked by hand."
            yield f"  To remove it: gemini extensions uninstall {_EXTENSION}"

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """Extension, interpreter, heartbeats, and who last used the server."""
        gemini = self.program(machine)
        if gemini is None:
            return [absent(_NAME, "Gemini CLI")]
        return _checks(gemini, self.folder(machine), machine)


def _checks(gemini: str, folder: str, machine: Machine) -> Iterator[Finding]:
    yield ok(_NAME, f"at {gemini}")
    yield interpreter(_NAME, machine)
    about, extension = f"{_NAME} extension", _linked(folder)
    if extension is None:
        yield note(about, "the extension is not linked", f"Run `keepmum install --client {_NAME}`.")
    elif not os.path.isfile(os.path.join(extension, "gemini-extension.json")):
        yield problem(about, f"it is read from {extension}, which is missing", "Install Keepmum again.")
    else:
        yield ok(about, f"linked to {extension}")
    yield from last_runs(_NAME, _EVENTS, machine, _IF_UNUSED)


def _linked(folder: str) -> str | None:
    """The folder that our extension is linked to; None when there is none, or a copy."""
    content = files.read(_link(folder))
    try:
        info = json.loads(content or b"null")
        return str(info["source"]) if info["type"] == "link" else None
    except (ValueError, KeyError, TypeError):
        return None


def _link(folder: str) -> str:
    return os.path.join(folder, "extensions", _EXTENSION, ".gemini-extension-install.json")


def _by_hand() -> tuple[str, ...]:
    return (
        "Gemini CLI links an extension from a folder. In a clone of Keepmum, type:",
        f"  GEMINI_CLI_TRUST_WORKSPACE=true gemini extensions link {manifests.FOLDER}",
    )
