"""Cancellation, progress, log messages, roots, and the working folder of a call."""

from __future__ import annotations

import pytest

from keepmum.core.errors import KeepmumError
from keepmum.mcp.client import VERSIONS
from keepmum.mcp.surface import Context
from mcp_process import Json, request, text_of
from mcp_sample import SECRET_WORDS, SampleHandlers
from unit.mcp.conversations import Conversation, call, cancel


def test_request_cancelled_while_pending_is_not_run(conversation: Conversation) -> None:
    conversation.sent.clear()
    conversation.tell(call("echo", 1, text="x"))
    conversation.tell(call("who", 2))
    conversation.tell(cancel(1))
    conversation.work()
    assert [answer["id"] for answer in conversation.sent] == [2]
    assert conversation.handlers.seen == ["who"]


def test_request_cancelled_while_running_is_not_answered() -> None:
    cancelled: list[bool] = []

    class SelfCancelling(SampleHandlers):
        def call(self, name: str, arguments: Json, context: Context) -> str:
            cancelled.append(context.cancelled())
            conversation.tell(cancel(1))
            context.progress(1)
            cancelled.append(context.cancelled())
            return super().call(name, arguments, context)

    conversation = Conversation(open_handlers=lambda _: SelfCancelling())
    conversation.greet()
    message = {"name": "who", "_meta": {"progressToken": 1}}
    assert conversation.say(request("tools/call", message, 1)) == []
    assert cancelled == [False, True]
    assert conversation.ask("ping")["result"] == {}


def test_progress_is_sent_with_the_token_of_the_request(conversation: Conversation) -> None:
    sent = conversation.say(request("tools/call", {"name": "report", "_meta": {"progressToken": "t"}}))
    assert [message["params"] for message in sent if message.get("method") == "notifications/progress"] == [
        {"progressToken": "t", "progress": 1, "total": 2, "message": "half"},
        {"progressToken": "t", "progress": 2, "total": 2},
    ]


@pytest.mark.parametrize("meta", [None, {}, {"progressToken": True}, {"progressToken": {}}, "meta"])
def test_no_progress_is_sent_without_a_token(conversation: Conversation, meta: object) -> None:
    sent = conversation.say(request("tools/call", {"name": "report", "_meta": meta}))
    assert "notifications/progress" not in str(sent)


@pytest.mark.parametrize(
    ("level", "expected"), [("debug", ["debug", "error"]), ("info", ["error"]), ("error", ["error"]), ("alert", [])]
)
def test_log_messages_below_the_level_are_not_sent(conversation: Conversation, level: str, expected: list[str]) -> None:
    assert conversation.result("logging/setLevel", {"level": level}) == {}
    sent = conversation.say(call("report"))
    levels = [message["params"]["level"] for message in sent if message.get("method") == "notifications/message"]  # type: ignore[index]
    assert levels == expected


def test_log_message_names_its_logger(conversation: Conversation) -> None:
    sent = conversation.say(call("report"))
    assert sent[0]["params"] == {"level": "error", "logger": "sample", "data": "a trouble"}


def test_roots_are_requested_after_the_handshake_and_passed_to_the_handlers() -> None:
    conversation = Conversation()
    conversation.greet(capabilities={"roots": {"listChanged": True}})
    roots_request = conversation.sent[-1]
    assert roots_request["method"] == "roots/list"
    assert (
        text_of(conversation.say(call("who"))[0]) == "tester | 2.0 | 2025-11-25"
    )  # the call does not wait for the response
    conversation.say({"jsonrpc": "2.0", "id": roots_request["id"], "result": {"roots": [{"uri": "file:///my%20work"}]}})
    assert conversation.handlers.seen == ["who", "roots /my work"]
    assert text_of(conversation.say(call("who"))[0]) == "tester | 2.0 | 2025-11-25 | /my work"


def test_outdated_roots_response_is_ignored() -> None:
    conversation = Conversation()
    conversation.greet(capabilities={"roots": {}})
    first = conversation.sent[-1]["id"]
    second = conversation.say({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})[0]["id"]
    conversation.say({"jsonrpc": "2.0", "id": second, "result": {"roots": [{"uri": "file:///new"}]}})
    conversation.say({"jsonrpc": "2.0", "id": first, "result": {"roots": [{"uri": "file:///old"}]}})
    assert conversation.handlers.seen == ["roots /new"]


def test_roots_are_not_requested_without_the_capability() -> None:
    conversation = Conversation()
    conversation.greet(capabilities={"elicitation": {}})
    assert "roots/list" not in str(conversation.sent)


def test_exception_in_roots_changed_does_not_end_the_session() -> None:
    class Broken(SampleHandlers):
        def roots_changed(self, _: Context) -> None:
            raise RuntimeError(SECRET_WORDS)

    conversation = Conversation(open_handlers=lambda _: Broken())
    conversation.greet(capabilities={"roots": {}})
    assert conversation.say({"jsonrpc": "2.0", "id": "roots-1", "result": {"roots": []}}) == []
    assert conversation.ask("ping")["result"] == {}


def codex_call(session: str, *folders: str) -> Json:
    """A call with the metadata that Codex sends."""
    turn: Json = {"session_id": session, "workspaces": {folder: {"has_changes": True} for folder in folders} or None}
    return request("tools/call", {"name": "who", "arguments": {}, "_meta": {"x-codex-turn-metadata": turn}})


def folder_of_call(conversation: Conversation, session: str, *folders: str) -> str:
    """The working folder of the handlers during a call."""
    return str(text_of(conversation.say(codex_call(session, *folders))[0])).rpartition("| ")[2]


def test_call_moves_the_handlers_to_its_folder(conversation: Conversation) -> None:
    conversation.say(call("who"))
    assert folder_of_call(conversation, "one", "/a") == "/a"
    assert folder_of_call(conversation, "one", "/a") == "/a"
    assert folder_of_call(conversation, "two", "/b") == "/b"
    assert conversation.handlers.seen == ["who", "roots /a", "who", "who", "roots /b", "who"]


def test_call_without_folders_uses_the_last_folder_of_its_session(conversation: Conversation) -> None:
    conversation.say(codex_call("one", "/a"))
    assert folder_of_call(conversation, "one") == "/a"
    assert folder_of_call(conversation, "two") != "/a"


def test_first_call_opens_the_handlers_in_its_folder() -> None:
    opened: list[tuple[str, tuple[str, ...]]] = []

    def open_handlers(context: Context) -> SampleHandlers:
        opened.append((context.session, context.roots))
        return SampleHandlers()

    conversation = Conversation(open_handlers=open_handlers)
    conversation.tell(request("initialize", {"protocolVersion": VERSIONS[0], "clientInfo": {"name": "x"}}, 1))
    conversation.say(codex_call("one", "/a"))
    assert opened == [("one", ("/a",))]


def test_failed_move_is_refused_and_retried_by_the_next_call() -> None:
    class Stuck(SampleHandlers):
        def roots_changed(self, context: Context) -> None:
            super().roots_changed(context)
            raise KeepmumError("that place has a broken settings file")

    handlers = Stuck()
    conversation = Conversation(open_handlers=lambda _: handlers)
    conversation.greet()
    conversation.say(call("who"))
    for _ in range(2):
        assert text_of(conversation.say(codex_call("one", "/a"))[0]) == "that place has a broken settings file"
    assert handlers.seen == ["who", "roots /a", "roots /a"]
