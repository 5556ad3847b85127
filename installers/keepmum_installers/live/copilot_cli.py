"""Copilot CLI, run as `copilot -p` against a custom model."""

from __future__ import annotations

import os

from keepmum_installers.live.chat import Chat
from keepmum_installers.live.model import Call
from keepmum_installers.live.sandbox import Sandbox
from keepmum_installers.product import PLUGIN

__all__ = ["CopilotCli"]


class CopilotCli:
    """The client on the command line, offline: a custom model needs no account."""

    api = Chat()

    def install(self, program: str, box: Sandbox) -> None:
        """Add the bundle as a marketplace, and the plugin from it."""
        environ = _environ(box)
        box.run((program, "plugin", "marketplace", "add", box.root), "adding the marketplace", environ)
        box.run((program, "plugin", "install", PLUGIN), "installing the plugin", environ)

    def run(self, program: str, box: Sandbox, model: str, prompt: str) -> str:
        """One `copilot -p`, in which every tool is allowed, so a refusal comes from the guard."""
        environ = {**_environ(box), "COPILOT_PROVIDER_BASE_URL": f"{model}/v1"}
        return box.run((program, "-p", prompt, "--allow-all-tools"), "the session", environ)

    def write(self, path: str, text: str) -> Call:
        """The tool that writes a file."""
        return Call("create", {"path": path, "file_text": text})


def _environ(box: Sandbox) -> dict[str, str]:
    return {
        "COPILOT_HOME": os.path.join(box.home, ".copilot"),
        "COPILOT_OFFLINE": "true",
        "COPILOT_MODEL": "trial",
        "PWD": box.project,  # as a shell sets it; the client reads the project from it
    }
