"""Claude Code, run as `claude -p` with a temporary configuration folder."""

from __future__ import annotations

import os
from collections.abc import Mapping

from keepmum_installers.clients.claude import manifests, settings
from keepmum_installers.live.messages import Messages
from keepmum_installers.live.model import Call
from keepmum_installers.live.sandbox import Sandbox
from keepmum_installers.product import PLUGIN, read

__all__ = ["ClaudeCode"]

_KEY = "no-key-the-model-is-on-loopback"  # the client requires one; nothing checks it


class ClaudeCode:
    """The client on the command line."""

    api = Messages()

    def install(self, program: str, box: Sandbox) -> None:
        """Install the same files as the installer, by the same commands."""
        folder = box.write_plugin(manifests.plugin_files(read(box.root), box.root, settings.PYTHON))
        environ = _environ(box)
        box.run((program, "plugin", "marketplace", "add", folder), "adding the marketplace", environ)
        box.run((program, "plugin", "install", PLUGIN), "installing the plugin", environ)

    def run(self, program: str, box: Sandbox, model: str, prompt: str) -> str:
        """One `claude -p`, in which every tool is allowed, so a refusal comes from the guard."""
        environ = {**_environ(box), "ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": _KEY, "IS_SANDBOX": "1"}
        return box.run((program, "-p", prompt, "--dangerously-skip-permissions"), "the session", environ)

    def write(self, path: str, text: str) -> Call:
        """The tool that writes a file."""
        return Call("Write", {"file_path": path, "content": text})


def _environ(box: Sandbox) -> Mapping[str, str]:
    return {
        "CLAUDE_CONFIG_DIR": os.path.join(box.home, ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }
