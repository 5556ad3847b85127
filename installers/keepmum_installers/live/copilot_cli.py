"""Copilot CLI, run as `copilot -p` against a model of the user's own."""

from __future__ import annotations

import os
import re

from keepmum_installers.live.chat import Chat
from keepmum_installers.live.model import Call
from keepmum_installers.live.stage import Stage, said
from keepmum_installers.machine import Machine
from keepmum_installers.product import PLUGIN

__all__ = ["CopilotCli"]


class CopilotCli:
    """The client on the command line, offline: it needs no account for a model of one's own."""

    title = "Copilot CLI"
    wire = Chat()

    def program(self, machine: Machine) -> str | None:
        """The path of `copilot`."""
        return machine.find("copilot")

    def version(self, program: str, machine: Machine) -> str:
        """The version, or nothing."""
        found = re.search(r"\d+\.\d+\.\d+", said((program, "--version"), machine))
        return found[0] if found else ""

    def install(self, program: str, stage: Stage) -> None:
        """Add the bundle as a marketplace, and the plugin from it."""
        environ = _environ(stage)
        stage.run((program, "plugin", "marketplace", "add", stage.root), "adding the marketplace", environ)
        stage.run((program, "plugin", "install", PLUGIN), "installing the plugin", environ)

    def run(self, program: str, stage: Stage, model: str, prompt: str) -> str:
        """One `copilot -p`, in which every tool is allowed: whoever refuses is the guard."""
        environ = {**_environ(stage), "COPILOT_PROVIDER_BASE_URL": f"{model}/v1"}
        return stage.run((program, "-p", prompt, "--allow-all-tools"), "the session", environ)

    def write(self, path: str, text: str) -> Call:
        """The tool that writes a file."""
        return Call("create", {"path": path, "file_text": text})


def _environ(stage: Stage) -> dict[str, str]:
    return {
        "COPILOT_HOME": os.path.join(stage.home, ".copilot"),
        "COPILOT_OFFLINE": "true",
        "COPILOT_MODEL": "trial",
        "PWD": stage.project,  # as a shell has it; the client takes it for the project
    }
