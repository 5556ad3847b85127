"""OpenCode, run as `opencode serve` and controlled over its HTTP API on loopback.

`opencode run` ends with the answer, before a reminder could be sent; a server keeps running, as the terminal does.

Source: https://opencode.ai/docs/server, read 2026-11-21; and runs of version 1.18.33.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

from keepmum_installers import files
from keepmum_installers.errors import InstallError
from keepmum_installers.live.chat import Chat
from keepmum_installers.live.model import Call
from keepmum_installers.live.sandbox import SECONDS, Sandbox

__all__ = ["OpenCode"]

_ENVIRON = {
    f"OPENCODE_DISABLE_{what}": "1"
    for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "DEFAULT_PLUGINS")
}
_PLUGIN = ("plugin", "opencode", "keepmum.js")
_REMINDER_SECONDS = 15.0  # from the end of the first turn to the end of the reminder's
_TURNS = 2  # the prompt's, and the reminder's


class OpenCode:
    """The client without its terminal."""

    api = Chat()

    def install(self, program: str, box: Sandbox) -> None:  # noqa: ARG002 - as every driver
        """Write the line that imports the plugin, as the installer does."""
        address = PurePath(box.root, *_PLUGIN).as_uri()
        folder = os.path.join(box.home, ".config", "opencode")
        os.makedirs(os.path.join(folder, "plugins"))
        files.write(os.path.join(folder, "plugins", "keepmum.js"), f"export * from {json.dumps(address)}\n".encode())
        # The client first fetches types for plugins from npm, and retries for a minute.
        files.write(os.path.join(box.home, ".npmrc"), b"offline=true\n")

    def run(self, program: str, box: Sandbox, model: str, prompt: str) -> str:
        """One prompt and the turns that follow it; every tool is allowed, so a refusal comes from the guard."""
        settings = os.path.join(box.home, ".config", "opencode", "opencode.json")
        files.write(settings, json.dumps(_settings(model)).encode())
        with _server(program, box) as address, _opened(f"{address}/event") as events:
            session = _posted(f"{address}/session", {})["id"]
            _posted(f"{address}/session/{session}/prompt_async", {"parts": [{"type": "text", "text": prompt}]})
            _follow(events, session)
            with _opened(f"{address}/session/{session}/message") as answer:
                return str(answer.read().decode("utf-8", "replace"))

    def write(self, path: str, text: str) -> Call:
        """The tool that writes a file."""
        return Call("write", {"filePath": path, "content": text})


def _settings(model: str) -> dict[str, object]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model}/v1", "apiKey": "no-key-the-model-is-on-loopback"},
        "models": {"trial": {"name": "trial", "limit": {"context": 100_000, "output": 4_000}}},
    }
    return {
        "model": "trial/trial",
        "small_model": "trial/trial",
        "permission": "allow",
        "autoupdate": False,
        "provider": {"trial": provider},
    }


@contextmanager
def _server(program: str, box: Sandbox) -> Iterator[str]:
    """The address of a server that runs until the block ends."""
    command = (program, "serve", "--hostname", "127.0.0.1")
    environ = {**box.environ, **_ENVIRON}
    try:
        child = subprocess.Popen(
            command,
            cwd=box.project,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        raise InstallError("the server could not be started", _BY_HAND) from None
    with child:
        try:
            assert child.stdout is not None
            for line in child.stdout:  # the loop ends if the server exits before it listens
                if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", line):
                    yield found[1]
                    break
            else:
                raise InstallError("the server exited before it listened", _BY_HAND)
        finally:
            child.terminate()
            try:
                child.wait(SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()


_BY_HAND = "Run `opencode serve` once by hand, then try again."


def _opened(address: str | Request) -> Any:
    """The response of the server, without a proxy."""
    try:
        return build_opener(ProxyHandler({})).open(address, timeout=_REMINDER_SECONDS)
    except OSError:
        raise InstallError("the server does not answer", _BY_HAND) from None


def _posted(address: str, body: object) -> Any:
    """The JSON response to a POST; None when it is empty."""
    request = Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310 - loopback
    with _opened(request) as answer:
        return json.loads(answer.read() or b"null")


def _follow(events: Any, session: str) -> None:
    """Read events until the reminder's turn ends or its time limit is over.

    Raises: InstallError when the prompt's turn does not end.
    """
    turns, deadline = 0, time.monotonic() + SECONDS
    try:
        while turns < _TURNS and time.monotonic() < deadline:
            line = events.readline()
            if not line:
                break
            if _is_end_of_turn(line, session):
                turns += 1
                deadline = time.monotonic() + _REMINDER_SECONDS
    except TimeoutError:
        pass  # no reminder came
    if not turns:
        raise InstallError("the session did not end", _BY_HAND)


def _is_end_of_turn(line: bytes, session: str) -> bool:
    try:
        event = json.loads(line.removeprefix(b"data:"))
    except ValueError:
        return False
    ended = isinstance(event, dict) and event.get("type") == "session.idle"
    return ended and event.get("properties", {}).get("sessionID") == session
