"""An MCP server as a process, and the client's side of its pipes. Every wait has a limit."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Self

__all__ = ["LIMIT", "Json", "ServerProcess", "code_of", "conversed", "request", "text_of"]

LIMIT = 60.0  # seconds; the machines of CI are slow and shared
Json = dict[str, object]


class ServerProcess:
    """A running server; a context manager that kills it at the end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._errors: list[bytes] = []
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(LIMIT)
        for thread in self._threads:
            thread.join(LIMIT)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):  # the server ended before it read everything
                stream.close()

    def send(self, message: object) -> None:
        """Write one message."""
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Write raw bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> Json:
        """The next message.

        Raises: EOFError when the server closed its output; queue.Empty past the limit.
        """
        line = self._lines.get(timeout=LIMIT)
        if not line:
            raise EOFError
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def ask(self, method: str, params: object = None, request_id: object = 1) -> Json:
        """The answer to a request; messages that arrive before it are dropped."""
        self.send(request(method, params, request_id))
        while (message := self.receive()).get("id") != request_id or "method" in message:
            continue
        return message

    def greet(self, protocol: str = "2025-11-25", capabilities: object = None, client: str = "tester") -> Json:
        """Perform the handshake; returns the answer to `initialize`."""
        answer = self.ask(
            "initialize",
            {
                "protocolVersion": protocol,
                "capabilities": capabilities or {},
                "clientInfo": {"name": client, "version": "2.0"},
            },
            "hello",
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, request_id: object = 1, **arguments: object) -> Json:
        """The answer to a tool call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, request_id)

    def close_input(self) -> None:
        """Close the server's input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def rest(self) -> list[Json]:
        """All messages until the server closes its output."""
        messages = []
        while True:
            try:
                messages.append(self.receive())
            except EOFError:
                return messages

    def end(self) -> int:
        """Wait for the server to end; returns its exit status."""
        return self.process.wait(LIMIT)

    def errors(self) -> str:
        """The server's standard error; call it after the server has ended."""
        self._threads[1].join(LIMIT)
        return b"".join(self._errors).decode()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self._errors.extend(self.process.stderr)


def conversed(command: Sequence[str], text: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The outcome of a server whose input is `text`, and ends when each request has its answer.

    From the end of its input a server has five seconds, which a busy machine may need for less than all requests.
    `options` are those of `subprocess.Popen`.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **options) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        limit = threading.Timer(LIMIT, process.kill)
        limit.start()
        try:
            with contextlib.suppress(BrokenPipeError):  # the server ended before it read everything
                process.stdin.write(text)
                process.stdin.flush()
            awaited, lines = sum("id" in json.loads(line) for line in text.splitlines()), ""
            while awaited and (line := process.stdout.readline()):
                lines += line
                awaited -= "id" in json.loads(line)
            rest, errors = process.communicate()
        finally:
            limit.cancel()
    return subprocess.CompletedProcess(command, process.returncode, lines + rest, errors)


def request(method: str, params: object = None, request_id: object = 1) -> Json:
    """A JSON-RPC request."""
    message: Json = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def text_of(answer: Json) -> str:
    """The text of a tool's result."""
    result = answer["result"]
    assert isinstance(result, dict)
    return str(result["content"][0]["text"])


def code_of(answer: Json) -> object:
    """The code of an error."""
    error = answer["error"]
    assert isinstance(error, dict)
    return error["code"]
