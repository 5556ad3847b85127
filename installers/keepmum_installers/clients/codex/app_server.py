"""How Codex judges our hooks, read from `codex app-server`: trusted, changed since, or new.

It is only read: trusting a hook is the user's decision.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from typing import Any

from keepmum_installers import files
from keepmum_installers.clients.codex import settings
from keepmum_installers.machine import NEUTRAL, Machine
from keepmum_installers.product import PLUGIN
from keepmum_installers.rpc_process import RpcProcess

__all__ = ["Hook", "hooks"]

_NEXT = "Start `codex` and type /hooks, which shows the same."
# The client looks for updates when it starts; the doctor must not use the network.
_NO_NETWORK = {
    "GIT_ALLOW_PROTOCOL": "none",
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
}


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook in the client's list."""

    event: str
    """As in the client's keys: `session_start`."""
    trust: str
    """`trusted`, `untrusted`, `modified`, `managed`, or a word of a newer client."""
    enabled: bool


def hooks(codex: str, machine: Machine) -> list[Hook]:
    """The hooks of our plugin that apply in the working folder.

    Raises: InstallError when the client does not answer.
    """
    with tempfile.TemporaryDirectory(prefix="keepmum-codex-", ignore_cleanup_errors=True) as folder:
        _copy(machine, folder)
        environ = {**machine.environ, **_NO_NETWORK, "CODEX_HOME": folder}
        with RpcProcess("`codex app-server`", (codex, "app-server"), NEUTRAL, environ, _NEXT) as server:
            server.call("initialize", {"clientInfo": {"name": "keepmum-doctor", "version": "1"}})
            data = server.call("hooks/list", {"cwds": [machine.cwd]}).get("data")
    listed = data[0].get("hooks", []) if isinstance(data, list) and data and isinstance(data[0], dict) else []
    return [_hook(each) for each in listed if isinstance(each, dict) and each.get("pluginId") == PLUGIN]


def _copy(machine: Machine, folder: str) -> None:
    """Copy the settings and our plugin: the server fills its settings folder with databases and skills."""
    config, plugin = settings.config_file(machine), os.path.dirname(settings.copy_of_plugin(machine, ""))
    files.write(os.path.join(folder, "config.toml"), files.read(config) or b"")
    target = os.path.join(folder, os.path.relpath(plugin, settings.folder(machine)))
    with contextlib.suppress(OSError):
        shutil.copytree(plugin, target)


def _hook(value: dict[str, Any]) -> Hook:
    # keepmum@keepmum:hooks/codex.json:session_start:0:0
    words = str(value.get("key", "")).split(":")
    event = words[-3] if len(words) >= 3 else ""
    return Hook(event, str(value.get("trustStatus", "unknown")), value.get("enabled") is not False)
