"""A demonstration on this machine: a memory is stored and found by a question, and a secret is refused.

It uses the real server process, as a client would, in a temporary home, so the user's memories stay untouched.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any, Self

from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.product import Product

__all__ = ["Step", "run"]

_SECONDS = 20  # the first start on a slow disk compiles every module
_NEXT = "Run `keepmum doctor`; if it finds nothing, report this message."
_TITLE = "Deploys go through the blue pool first"
_NOTE = {
    "title": _TITLE,
    "text": "Traffic moves to the green pool after ten quiet minutes.",
    "kind": "decision",
    "why": "A bad release took both pools down once.",
}
_QUESTION = "which pool gets a deploy first?"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the demonstration, and its duration in milliseconds."""

    what: str
    milliseconds: float


def run(root: str, machine: Machine, product: Product) -> list[Step]:
    """The steps in order: start, store, find, refuse.

    Raises: InstallError when one failed.
    """
    with tempfile.TemporaryDirectory(prefix="keepmum-demo-") as home:
        with _Server(root, home, machine) as server:
            # The first start in a new home compiles every module; only the second is what a client waits for.
            _start(server, product)
            server.call("recall", {"query": _QUESTION})
        with contextlib.ExitStack() as running:
            server = _Server(root, home, machine)
            steps = [
                _timed("server ready", lambda: _start(running.enter_context(server), product)),
                _timed(f'kept:    "{_TITLE}"', lambda: _keep(server)),
                _timed(f'found:   by asking "{_QUESTION}"', lambda: _find(server)),
                _timed("refused: a note with an access token in it", lambda: _refuse(server)),
            ]
        _check_absent(_token(), home)
    return steps


def _timed(what: str, act: Callable[[], None]) -> Step:
    start = time.perf_counter()
    act()
    return Step(what, (time.perf_counter() - start) * 1000)


def _start(server: _Server, product: Product) -> None:
    client = {"name": "keepmum-demo", "version": product.version}
    server.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    server.notify("notifications/initialized")


def _keep(server: _Server) -> None:
    answer = server.call("remember", _NOTE)
    if answer.get("isError"):
        raise InstallError("the server did not keep a harmless note", _NEXT)


def _find(server: _Server) -> None:
    answer = server.call("recall", {"query": _QUESTION})
    if answer.get("isError") or _TITLE not in json.dumps(answer, ensure_ascii=False):
        raise InstallError("the server did not find what it had kept", _NEXT)


def _refuse(server: _Server) -> None:
    answer = server.call("remember", {"title": "Release token", "text": f"The release job signs in with {_token()}."})
    if not answer.get("isError"):
        raise InstallError("the server kept an access token", _NEXT)
    if _token() in json.dumps(answer):
        raise InstallError("the refusal repeats the token that it refuses", _NEXT)


def _token() -> str:
    """A made-up token in the form of a real one, assembled here so that no file holds it."""
    return "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"


def _check_absent(token: str, home: str) -> None:
    """Search every file that the server wrote for the refused token.

    Raises: InstallError when one contains it.
    """
    for folder, _, names in os.walk(home):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                if token.encode() in file.read():
                    raise InstallError(f"the refused token was written to {name}", _NEXT)


class _Server:
    """The stdio server as a client runs it, one JSON-RPC message per line."""

    def __init__(self, root: str, home: str, machine: Machine) -> None:
        self._command = (
            sys.executable,
            "-I",
            "-S",
            os.path.join(root, "plugin", "launch.py"),
            "mcp",
            "--client",
            "demo",
        )
        self._home = home
        # The user's settings must not change the demonstration, and its memory must not reach the user's home.
        inherited = {
            key: value for key, value in machine.environ.items() if not key.startswith(("KEEPMUM_", "CLAUDE_"))
        }
        self._environ = {**inherited, "KEEPMUM_HOME": home}
        self._lines: queue.Queue[str] = queue.Queue()
        self._number = 0

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            self._command,
            cwd=self._home,
            env=self._environ,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self._reader = threading.Thread(target=self._read, args=(self._child.stdout,), daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.close()
            self._child.wait(_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            self._child.kill()
            self._child.wait()
        self._reader.join()
        assert self._child.stdout is not None
        self._child.stdout.close()

    def call(self, tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """The result of a tool call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def ask(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """The result of a request.

        Raises: InstallError when the server answers with an error, or not at all.
        """
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        deadline = time.monotonic() + _SECONDS
        while True:
            answer = self._next(method, deadline)
            if answer.get("id") == self._number and "result" in answer:
                result: dict[str, Any] = answer["result"]
                return result
            if answer.get("id") == self._number:
                raise InstallError(f"the server answered {method} with an error", _NEXT)

    def notify(self, method: str) -> None:
        """Sends a notification."""
        self._send({"jsonrpc": "2.0", "method": method})

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(message) + "\n")
            self._child.stdin.flush()
        except OSError:
            raise InstallError("the server exited", _NEXT) from None

    def _next(self, method: str, deadline: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            message = json.loads(line)
        except queue.Empty:
            raise InstallError(f"the server gave no answer to {method} within {_SECONDS} seconds", _NEXT) from None
        except ValueError:
            raise InstallError(f"the server {'sent something that is not JSON' if line else 'exited'}", _NEXT) from None
        return message if isinstance(message, dict) else {}

    def _read(self, lines: IO[str]) -> None:
        for line in lines:
            self._lines.put(line)
        self._lines.put("")
