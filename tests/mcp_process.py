"""An MCP server as a process, and a client's end of its pipes. Every wait has a limit."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Self

__all__ = ["LIMIT", "ServerProcess", "request"]

LIMIT = 60.0  # seconds; the machines of CI are slow and shared
Json = dict[str, object]


class ServerProcess:
    """A running server. As a context manager it is ended in any case."""

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
            with contextlib.suppress(BrokenPipeError):  # the server went before it had read all
                stream.close()

    def send(self, message: object) -> None:
        """Write one message."""
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Write bytes as they are."""
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
        """The answer to a request; what comes before it is passed over."""
        self.send(request(method, params, request_id))
        while (message := self.receive()).get("id") != request_id or "method" in message:
            continue
        return message

    def greet(self, protocol: str = "2025-11-25", capabilities: object = None) -> Json:
        """Make the handshake; returns the answer to `initialize`."""
        answer = self.ask(
            "initialize",
            {
                "protocolVersion": protocol,
                "capabilities": capabilities or {},
                "clientInfo": {"name": "tester", "version": "2.0"},
            },
            "hello",
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, request_id: object = 1, **arguments: object) -> Json:
        """The answer to a tool call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, request_id)

    def close_input(self) -> None:
        """Let the server see the end of its input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def rest(self) -> list[Json]:
        """All messages up to the end of the output."""
        messages = []
        while True:
            try:
                messages.append(self.receive())
            except EOFError:
                return messages

    def end(self) -> int:
        """The exit status."""
        return self.process.wait(LIMIT)

    def errors(self) -> str:
        """What the server wrote to standard error; to be asked after the end."""
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


def request(method: str, params: object = None, request_id: object = 1) -> Json:
    """A request, as it is sent."""
    message: Json = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}
