"""Gemini CLI, run as `gemini -p` with a key that nobody checks."""

from __future__ import annotations

import json
import os
import re

from keepmum_installers import files
from keepmum_installers.clients.gemini import manifests
from keepmum_installers.live.generate import Generate
from keepmum_installers.live.model import Call
from keepmum_installers.live.stage import Stage, said
from keepmum_installers.machine import Machine

__all__ = ["GeminiCli"]

_MODEL = "gemini-2.5-flash"  # a name that is fixed; for "auto" the client asks a model which one to take
_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


class GeminiCli:
    """The client on the command line."""

    title = "Gemini CLI"
    wire = Generate()

    def program(self, machine: Machine) -> str | None:
        """The path of `gemini`."""
        return machine.find("gemini")

    def version(self, program: str, machine: Machine) -> str:
        """The version, or nothing."""
        found = re.search(r"\d+\.\d+\.\d+", said((program, "--version"), machine))
        return found[0] if found else ""

    def install(self, program: str, stage: Stage) -> None:
        """Link the extension."""
        folder = os.path.join(stage.home, ".gemini")
        files.private_folder(folder)
        files.write(os.path.join(folder, "settings.json"), json.dumps(_SETTINGS).encode())
        extension = os.path.join(stage.root, manifests.FOLDER)
        stage.run((program, "extensions", "link", extension, "--consent"), "linking the extension", _ENVIRON)

    def run(self, program: str, stage: Stage, model: str, prompt: str) -> str:
        """One `gemini -p`, in which every tool is allowed: whoever refuses is the guard."""
        environ = {**_ENVIRON, "GOOGLE_GEMINI_BASE_URL": model}
        return stage.run((program, "-m", _MODEL, "--yolo", "-p", prompt), "the session", environ)

    def write(self, path: str, text: str) -> Call:
        """The tool that writes a file."""
        return Call("write_file", {"file_path": path, "content": text})


_ENVIRON = {"GEMINI_API_KEY": "no-key-the-model-is-on-loopback", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
