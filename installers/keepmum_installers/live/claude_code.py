"""Claude Code, run as `claude -p` in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping

from keepmum_installers.clients.claude import command_line, places, staging
from keepmum_installers.live.messages import Messages
from keepmum_installers.live.model import Call
from keepmum_installers.live.stage import Stage
from keepmum_installers.machine import Machine
from keepmum_installers.product import PLUGIN, read

__all__ = ["ClaudeCode"]

_KEY = "no-key-the-model-is-on-loopback"  # the client wants one; nobody checks it


class ClaudeCode:
    """The client on the command line, with a configuration folder of its own."""

    title = "Claude Code"
    wire = Messages()

    def program(self, machine: Machine) -> str | None:
        """The path of `claude`."""
        return command_line.program(machine)

    def version(self, program: str, machine: Machine) -> str:
        """The version, or nothing."""
        return command_line.dotted(command_line.version(program, machine) or ())

    def install(self, program: str, stage: Stage) -> None:
        """Hand over the same files as the installer does, by the same commands."""
        handed_over = stage.hand_over(staging.texts(read(stage.root), stage.root, places.PYTHON))
        environ = _environ(stage)
        stage.run((program, "plugin", "marketplace", "add", handed_over), "adding the marketplace", environ)
        stage.run((program, "plugin", "install", PLUGIN), "installing the plugin", environ)

    def run(self, program: str, stage: Stage, model: str, prompt: str) -> str:
        """One `claude -p`, in which every tool is allowed: whoever refuses is the guard."""
        environ = {**_environ(stage), "ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": _KEY, "IS_SANDBOX": "1"}
        return stage.run((program, "-p", prompt, "--dangerously-skip-permissions"), "the session", environ)

    def write(self, path: str, text: str) -> Call:
        """The tool that writes a file."""
        return Call("Write", {"file_path": path, "content": text})


def _environ(stage: Stage) -> Mapping[str, str]:
    return {
        "CLAUDE_CONFIG_DIR": os.path.join(stage.home, ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }
