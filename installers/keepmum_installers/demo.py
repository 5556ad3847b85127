"""A demonstration on this machine: a memory is stored and found by a question, and a secret is refused.

It uses the real server process, as a client would, in a temporary home, so the user's memories stay untouched.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keepmum_installers import temporary_home
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.product import Product
from keepmum_installers.rpc_process import RpcProcess

__all__ = ["Step", "run"]

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
    with temporary_home.create("keepmum-demo-", machine) as home:
        with _server(root, home, machine) as server:
            # The first start of a version compiles every module; only the second is what a client waits for.
            _start(server, product)
            _call(server, "recall", {"query": _QUESTION})
        with contextlib.ExitStack() as running:
            server = _server(root, home, machine)
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


def _start(server: RpcProcess, product: Product) -> None:
    client = {"name": "keepmum-demo", "version": product.version}
    server.call("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    server.notify("notifications/initialized")


def _server(root: str, home: str, machine: Machine) -> RpcProcess:
    """The stdio server as a client runs it."""
    # The user's settings must not change the demonstration, and its memory must not reach the user's home.
    ours = ("KEEPMUM_", "CLAUDE_")
    inherited = {key: value for key, value in machine.environ.items() if not key.startswith(ours)}
    argv = (sys.executable, "-I", "-S", os.path.join(root, "plugin", "launch.py"), "mcp", "--client", "demo")
    environ = {**inherited, "KEEPMUM_HOME": home}
    return RpcProcess("the server", argv, home, environ, _NEXT, header={"jsonrpc": "2.0"})


def _call(server: RpcProcess, tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    return server.call("tools/call", {"name": tool, "arguments": arguments})


def _keep(server: RpcProcess) -> None:
    answer = _call(server, "remember", _NOTE)
    if answer.get("isError"):
        raise InstallError("the server did not keep a harmless note", _NEXT)


def _find(server: RpcProcess) -> None:
    answer = _call(server, "recall", {"query": _QUESTION})
    if answer.get("isError") or _TITLE not in json.dumps(answer, ensure_ascii=False):
        raise InstallError("the server did not find what it had kept", _NEXT)


def _refuse(server: RpcProcess) -> None:
    answer = _call(server, "remember", {"title": "Release token", "text": f"The release job signs in with {_token()}."})
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
