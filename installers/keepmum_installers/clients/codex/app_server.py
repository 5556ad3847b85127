"""How Codex judges our hooks, read from `codex app-server`: trusted, changed since, or new.

It is only read: trusting a hook is the user's decision.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.product import PLUGIN

__all__ = ["Hook", "hooks"]

_SECONDS = 20
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
    with _app_server(codex, machine) as ask:
        ask("initialize", {"clientInfo": {"name": "keepmum-doctor", "version": "1"}})
        answer = ask("hooks/list", {"cwds": [machine.cwd]})
    data = answer.get("data")
    listed = data[0].get("hooks", []) if isinstance(data, list) and data and isinstance(data[0], dict) else []
    return [_hook(each) for each in listed if isinstance(each, dict) and each.get("pluginId") == PLUGIN]


def _hook(value: dict[str, Any]) -> Hook:
    # keepmum@keepmum:hooks/codex.json:session_start:0:0
    words = str(value.get("key", "")).split(":")
    event = words[-3] if len(words) >= 3 else ""
    return Hook(event, str(value.get("trustStatus", "unknown")), value.get("enabled") is not False)


class _Connection:
    """A connection to the client, one JSON-RPC message per line."""

    def __init__(self, stdin: IO[str], stdout: IO[str]) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._number = 0

    def __call__(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        try:
            self._stdin.write(json.dumps({"id": self._number, "method": method, "params": params}) + "\n")
            self._stdin.flush()
            for line in self._stdout:
                message = json.loads(line)
                if isinstance(message, dict) and message.get("id") == self._number and "method" not in message:
                    result = message.get("result")
                    return result if isinstance(result, dict) else {}
        except (OSError, ValueError):
            pass
        raise InstallError(f"`codex app-server` gave no answer to {method}", _NEXT)


@contextmanager
def _app_server(codex: str, machine: Machine) -> Iterator[_Connection]:
    """A running app server; after the time limit it is killed, which ends a request that waits."""
    try:
        child = subprocess.Popen(
            (codex, "app-server"),
            cwd=machine.cwd,
            env={**machine.environ, **_NO_NETWORK},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
    except OSError as error:
        raise InstallError(f"`codex app-server` could not be started: {error.strerror}", _NEXT) from None
    timer = threading.Timer(_SECONDS, child.kill)
    timer.start()
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        yield _Connection(child.stdin, child.stdout)
    finally:
        timer.cancel()
        child.kill()
        child.communicate()
