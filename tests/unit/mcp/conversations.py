"""A client's conversation with a session, without a process; jobs run when a test says so."""

from __future__ import annotations

import json
from collections.abc import Callable

from keepmum.mcp.client import VERSIONS
from keepmum.mcp.session import Session
from keepmum.mcp.surface import Context, Surface
from mcp_process import Json, request
from mcp_sample import SURFACE, SampleHandlers

__all__ = ["Conversation", "call", "cancel"]


class Conversation:
    """A session, the messages it sent, and its pending jobs."""

    def __init__(
        self, surface: Surface = SURFACE, open_handlers: Callable[[Context], SampleHandlers] | None = None
    ) -> None:
        self.handlers = SampleHandlers()
        self.sent: list[Json] = []
        self.jobs: list[Callable[[], None]] = []
        self.session = Session(
            surface,
            open_handlers or (lambda _: self.handlers),
            name="sample",
            version="1",
            send=self._keep,
            submit=self.jobs.append,
        )

    def _keep(self, message: object) -> None:
        self.sent.append(json.loads(json.dumps(message)))

    def batches(self) -> list[list[Json]]:
        """The batches among the sent messages."""
        sent: list[object] = [*self.sent]
        return [message for message in sent if isinstance(message, list)]

    def tell(self, message: object) -> None:
        """Send one message without running jobs."""
        self.session.receive(json.dumps(message).encode())

    def work(self) -> None:
        """Run all pending jobs."""
        while self.jobs:
            self.jobs.pop(0)()

    def say(self, message: object) -> list[Json]:
        """Send one message and run the jobs; returns the messages sent in response."""
        before = len(self.sent)
        self.tell(message)
        self.work()
        return self.sent[before:]

    def ask(self, method: str, params: object = None, request_id: object = 7) -> Json:
        """The only answer to a request."""
        answers = self.say(request(method, params, request_id))
        assert len(answers) == 1
        assert answers[0]["id"] == request_id
        return answers[0]

    def result(self, method: str, params: object = None) -> Json:
        result = self.ask(method, params)["result"]
        assert isinstance(result, dict)
        return result

    def error(self, method: str, params: object = None) -> tuple[object, object]:
        error = self.ask(method, params)["error"]
        assert isinstance(error, dict)
        return error["code"], error["message"]

    def greet(self, protocol: str = VERSIONS[0], capabilities: object = None) -> Json:
        result = self.result(
            "initialize",
            {
                "protocolVersion": protocol,
                "capabilities": capabilities or {},
                "clientInfo": {"name": "tester", "version": "2.0"},
            },
        )
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result


def call(tool: str, request_id: object = 7, **arguments: object) -> Json:
    return request("tools/call", {"name": tool, "arguments": arguments}, request_id)


def cancel(request_id: object) -> Json:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
