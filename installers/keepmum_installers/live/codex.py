"""Codex, run as `codex exec` with a settings folder of its own."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping

from keepmum_installers import files
from keepmum_installers.clients.codex import command_line, staging
from keepmum_installers.live.model import Call
from keepmum_installers.live.responses import Responses
from keepmum_installers.live.stage import Stage
from keepmum_installers.machine import Machine
from keepmum_installers.product import PLUGIN, read

__all__ = ["Codex"]

_KEY = "KEEPMUM_TRIAL_KEY"  # the variable of the key that the client wants; nobody checks it
# Nothing of the stage is worth protecting, and whoever refuses is to be our guard. Nobody is there to review hooks.
_FREELY = (
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-bypass-hook-trust",
)


class Codex:
    """The client on the command line."""

    title = "Codex"
    wire = Responses()

    def program(self, machine: Machine) -> str | None:
        """The path of `codex`."""
        return command_line.program(machine)

    def version(self, program: str, machine: Machine) -> str:
        """The version, or nothing."""
        return command_line.dotted(command_line.version(program, machine) or ())

    def install(self, program: str, stage: Stage) -> None:
        """Hand over the same files as the installer does, by the same commands."""
        handed_over = stage.hand_over(staging.texts(read(stage.root), stage.root))
        environ = _environ(stage)
        files.private_folder(environ["CODEX_HOME"])
        stage.run((program, "plugin", "marketplace", "add", handed_over), "adding the marketplace", environ)
        stage.run((program, "plugin", "add", PLUGIN), "installing the plugin", environ)

    def run(self, program: str, stage: Stage, model: str, prompt: str) -> str:
        """One `codex exec`, in which every tool and every hook is allowed."""
        # A model that the client does not know has its tools listed, and not searched for.
        provider = {"name": "trial", "base_url": f"{model}/v1", "wire_api": "responses", "env_key": _KEY}
        chosen = {"model": "trial", "model_provider": "trial"} | {
            f"model_providers.trial.{name}": value for name, value in provider.items()
        }
        options = [word for name, value in chosen.items() for word in ("-c", f'{name}="{value}"')]
        return stage.run((program, "exec", *_FREELY, *options, prompt), "the session", _environ(stage))

    def write(self, path: str, text: str) -> Call:
        """The tool that runs a command, since of all models it is offered to each."""
        script = f"open({path!r}, 'w').write({text!r})"
        return Call("exec_command", {"cmd": f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}"})


def _environ(stage: Stage) -> Mapping[str, str]:
    """The client looks for news of its own when it starts; here it is to reach nobody."""
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy")
    return {
        "CODEX_HOME": os.path.join(stage.home, ".codex"),
        _KEY: "none",
        "GIT_ALLOW_PROTOCOL": "none",
        "NO_PROXY": "127.0.0.1",
        **dict.fromkeys(proxies, "http://127.0.0.1:9"),
    }
