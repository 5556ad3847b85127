"""Gemini CLI, where Keepmum is an extension that is linked to the bundle."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping

from keepmum_installers import files
from keepmum_installers.clients.checks import interpreter, lately
from keepmum_installers.clients.client import Scope, Wish
from keepmum_installers.clients.gemini import manifests
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Call, Plan
from keepmum_installers.product import Product
from keepmum_installers.source import bundle_folder

__all__ = ["GeminiCli"]

_NAME = "gemini-cli"
_EXTENSION = "keepmum"
_EVENTS = {"SessionStart": "session-start", "AfterAgent": "stop", "BeforeTool": "guard"}
_SHOWN = "If you use Gemini CLI daily, see what /hooks panel shows in it."


class GeminiCli:
    """Gemini on the command line."""

    title = "Gemini CLI"
    scopes: tuple[Scope, ...] = ("user",)

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The extension with its server, its hooks and its skill."""
        return manifests.render(product)

    def program(self, machine: Machine) -> str | None:
        """The path of `gemini`."""
        return machine.find("gemini")

    def is_here(self, machine: Machine) -> bool:
        """Whether there is a `gemini`; other programs keep things in its folder, too."""
        return self.program(machine) is not None

    def folder(self, machine: Machine) -> str:
        """`~/.gemini`."""
        return os.path.join(machine.user_home, ".gemini")

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """The client's command that links the extension.

        Raises: InstallError when a source was named that is none.
        """
        bundle = bundle_folder(wish.source, wish.root, machine.cwd)
        gemini = self.program(machine)
        if bundle is None or gemini is None:
            return Plan(notes=_by_hand())
        where = os.path.join(bundle, manifests.FOLDER)
        notes = ("Gemini CLI has Keepmum from its next session on.", f"It reads the extension from {where}: keep it.")
        if _linked(self.folder(machine)) == where:
            return Plan(notes=notes)
        call = Call(
            client=_NAME,
            what="extension",
            program=gemini,
            arguments=("extensions", "link", where, "--consent"),
            why="switch the extension on for you",
            undo=("extensions", "uninstall", _EXTENSION),
            settings=os.path.join(self.folder(machine), "extensions", "extension-enablement.json"),
        )
        return Plan((call,), notes)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:  # noqa: ARG002 - as every client
        """None: it is installed for a user."""
        return ()

    def remains(self, machine: Machine) -> Iterable[str]:
        """What to do about an extension that was linked by hand."""
        if _linked(self.folder(machine)) is not None:
            yield "Gemini CLI still has the extension: it was there before this installer, or was linked by hand."
            yield f"  To take it out: gemini extensions uninstall {_EXTENSION}"

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:  # noqa: ARG002 - as every client
        """Extension, interpreter, heartbeats, and who used the server."""
        gemini = self.program(machine)
        if gemini is None:
            return [absent(_NAME, "Gemini CLI")]
        return _checks(gemini, self.folder(machine), machine)


def _checks(gemini: str, place: str, machine: Machine) -> Iterator[Finding]:
    yield ok(_NAME, f"at {gemini}")
    yield interpreter(_NAME, machine)
    about, where = f"{_NAME} extension", _linked(place)
    if where is None:
        yield note(about, "the extension is not linked", f"Run `keepmum install --client {_NAME}`.")
    elif not os.path.isfile(os.path.join(where, "gemini-extension.json")):
        yield problem(about, f"it is read from {where}, which is gone", "Run `keepmum install` from another clone.")
    else:
        yield ok(about, f"linked to {where}")
    yield from lately(_NAME, _EVENTS, machine, _SHOWN)


def _linked(place: str) -> str | None:
    """The folder that the client reads our extension from; None when it has none, or a copy."""
    content = files.read(os.path.join(place, "extensions", _EXTENSION, ".gemini-extension-install.json"))
    try:
        known = json.loads(content or b"null")
        return str(known["source"]) if known["type"] == "link" else None
    except (ValueError, KeyError, TypeError):
        return None


def _by_hand() -> tuple[str, ...]:
    return (
        "Gemini CLI links an extension from a folder. In a clone of Keepmum, type:",
        f"  gemini extensions link {manifests.FOLDER}",
    )
