"""Codex, run as `codex exec` with a temporary settings folder."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping

from keepmum_installers import files
from keepmum_installers.clients.codex import manifests
from keepmum_installers.live.model import Call
from keepmum_installers.live.responses import Responses
from keepmum_installers.live.sandbox import Sandbox
from keepmum_installers.product import PLUGIN, read

__all__ = ["Codex"]

_KEY = "KEEPMUM_TRIAL_KEY"  # the variable of the key that the client requires; nothing checks it
# The sandbox needs no protection, a refusal must come from our guard, and nobody can review hooks.
_NO_CHECKS = (
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-bypass-hook-trust",
)


class Codex:
    """The client on the command line."""

    api = Responses()

    def install(self, program: str, box: Sandbox) -> None:
        """Install the same files as the installer, by the same commands."""
        folder = box.write_plugin(manifests.plugin_files(read(box.root), box.root))
        environ = _environ(box)
        files.private_folder(environ["CODEX_HOME"])
        box.run((program, "plugin", "marketplace", "add", folder), "adding the marketplace", environ)
        box.run((program, "plugin", "add", PLUGIN), "installing the plugin", environ)

    def run(self, program: str, box: Sandbox, model: str, prompt: str) -> str:
        """One `codex exec`, in which every tool and every hook is allowed."""
        # For a model that the client does not know it lists all tools instead of offering a search.
        provider = {"name": "trial", "base_url": f"{model}/v1", "wire_api": "responses", "env_key": _KEY}
        chosen = {"model": "trial", "model_provider": "trial"} | {
            f"model_providers.trial.{name}": value for name, value in provider.items()
        }
        options = [word for name, value in chosen.items() for word in ("-c", f'{name}="{value}"')]
        return box.run((program, "exec", *_NO_CHECKS, *options, prompt), "the session", _environ(box))

    def write(self, path: str, text: str) -> Call:
        """The tool that runs a command, which every model is offered."""
        script = f"open({path!r}, 'w').write({text!r})"
        return Call("exec_command", {"cmd": f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}"})


def _environ(box: Sandbox) -> Mapping[str, str]:
    """The client looks for updates when it starts; here it must not use the network."""
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy")
    return {
        "CODEX_HOME": os.path.join(box.home, ".codex"),
        _KEY: "none",
        "GIT_ALLOW_PROTOCOL": "none",
        "NO_PROXY": "127.0.0.1",
        **dict.fromkeys(proxies, "http://127.0.0.1:9"),
    }
