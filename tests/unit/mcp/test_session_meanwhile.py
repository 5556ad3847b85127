"""What comes between a request and its answer: an end to it, progress, the log, another place to work in."""

from __future__ import annotations

import pytest

from keepmum.core.errors import KeepmumError
from keepmum.mcp.client import VERSIONS
from keepmum.mcp.surface import Context
from mcp_sample import SECRET_WORDS, SampleHandlers
from unit.mcp.conversations import Conversation, Json, call, cancel, request, text_of


def test_a_request_cancelled_while_it_waits_is_neither_done_nor_answered(conversation: Conversation) -> None:
    conversation.sent.clear()
    conversation.tell(call("echo", 1, text="x"))
    conversation.tell(call("who", 2))
    conversation.tell(cancel(1))
    conversation.work()
    assert [answer["id"] for answer in conversation.sent] == [2]
    assert conversation.handlers.seen == ["who"]


def test_a_request_cancelled_while_it_runs_is_not_answered() -> None:
    heard: list[bool] = []

    class Impatient(SampleHandlers):
        def call(self, name: str, arguments: Json, context: Context) -> str:
            heard.append(context.cancelled())
            talk.tell(cancel(1))
            context.progress(1)
            heard.append(context.cancelled())
            return super().call(name, arguments, context)

    talk = Conversation(opening=lambda _: Impatient())
    talk.greet()
    message = {"name": "who", "_meta": {"progressToken": 1}}
    assert talk.say(request("tools/call", message, 1)) == []
    assert heard == [False, True]
    assert talk.ask("ping")["result"] == {}


def test_progress_is_told_to_who_asked_for_it(conversation: Conversation) -> None:
    sent = conversation.say(request("tools/call", {"name": "report", "_meta": {"progressToken": "t"}}))
    assert [message["params"] for message in sent if message.get("method") == "notifications/progress"] == [
        {"progressToken": "t", "progress": 1, "total": 2, "message": "half"},
        {"progressToken": "t", "progress": 2, "total": 2},
    ]


@pytest.mark.parametrize("meta", [None, {}, {"progressToken": True}, {"progressToken": {}}, "meta"])
def test_progress_is_not_told_without_a_token(conversation: Conversation, meta: object) -> None:
    sent = conversation.say(request("tools/call", {"name": "report", "_meta": meta}))
    assert "notifications/progress" not in str(sent)


@pytest.mark.parametrize(
    ("level", "told"), [("debug", ["debug", "error"]), ("info", ["error"]), ("error", ["error"]), ("alert", [])]
)
def test_the_log_is_told_from_the_level_that_was_set(conversation: Conversation, level: str, told: list[str]) -> None:
    assert conversation.result("logging/setLevel", {"level": level}) == {}
    sent = conversation.say(call("report"))
    levels = [message["params"]["level"] for message in sent if message.get("method") == "notifications/message"]  # type: ignore[index]
    assert levels == told


def test_a_line_of_the_log_names_its_logger(conversation: Conversation) -> None:
    sent = conversation.say(call("report"))
    assert sent[0]["params"] == {"level": "error", "logger": "sample", "data": "a trouble"}


def test_roots_are_asked_for_after_the_handshake_and_given_to_the_handlers() -> None:
    conversation = Conversation()
    conversation.greet(capabilities={"roots": {"listChanged": True}})
    question = conversation.sent[-1]
    assert question["method"] == "roots/list"
    assert text_of(conversation.say(call("who"))[0]) == "tester | 2.0 | 2025-11-25"  # nothing waits for the answer
    conversation.say({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": "file:///my%20work"}]}})
    assert conversation.handlers.seen == ["who", "roots /my work"]
    assert text_of(conversation.say(call("who"))[0]) == "tester | 2.0 | 2025-11-25 | /my work"


def test_only_the_last_answer_about_roots_counts() -> None:
    conversation = Conversation()
    conversation.greet(capabilities={"roots": {}})
    first = conversation.sent[-1]["id"]
    second = conversation.say({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})[0]["id"]
    conversation.say({"jsonrpc": "2.0", "id": second, "result": {"roots": [{"uri": "file:///new"}]}})
    conversation.say({"jsonrpc": "2.0", "id": first, "result": {"roots": [{"uri": "file:///old"}]}})
    assert conversation.handlers.seen == ["roots /new"]


def test_roots_are_not_asked_of_a_client_that_has_none() -> None:
    conversation = Conversation()
    conversation.greet(capabilities={"elicitation": {}})
    assert "roots/list" not in str(conversation.sent)


def test_a_bug_in_the_handlers_about_roots_ends_nothing() -> None:
    class Broken(SampleHandlers):
        def roots_changed(self, _: Context) -> None:
            raise RuntimeError(SECRET_WORDS)

    conversation = Conversation(opening=lambda _: Broken())
    conversation.greet(capabilities={"roots": {}})
    assert conversation.say({"jsonrpc": "2.0", "id": "roots-1", "result": {"roots": []}}) == []
    assert conversation.ask("ping")["result"] == {}


def told(session: str, *folders: str) -> Json:
    """A call as Codex makes it."""
    turn: Json = {"session_id": session, "workspaces": {folder: {"has_changes": True} for folder in folders} or None}
    return request("tools/call", {"name": "who", "arguments": {}, "_meta": {"x-codex-turn-metadata": turn}})


def place(conversation: Conversation, session: str, *folders: str) -> str:
    """The folder that a call finds the handlers in."""
    return str(text_of(conversation.say(told(session, *folders))[0])).rpartition("| ")[2]


def test_a_call_takes_the_handlers_to_where_it_comes_from(conversation: Conversation) -> None:
    conversation.say(call("who"))
    assert place(conversation, "one", "/a") == "/a"
    assert place(conversation, "one", "/a") == "/a"
    assert place(conversation, "two", "/b") == "/b"
    assert conversation.handlers.seen == ["who", "roots /a", "who", "who", "roots /b", "who"]


def test_a_call_without_folders_stays_where_its_session_was(conversation: Conversation) -> None:
    conversation.say(told("one", "/a"))
    assert place(conversation, "one") == "/a"
    assert place(conversation, "two") != "/a"


def test_a_first_call_opens_the_handlers_where_it_comes_from() -> None:
    opened: list[tuple[str, tuple[str, ...]]] = []

    def opening(context: Context) -> SampleHandlers:
        opened.append((context.session, context.roots))
        return SampleHandlers()

    conversation = Conversation(opening=opening)
    conversation.tell(request("initialize", {"protocolVersion": VERSIONS[0], "clientInfo": {"name": "x"}}, 1))
    conversation.say(told("one", "/a"))
    assert opened == [("one", ("/a",))]


def test_a_call_from_where_the_handlers_cannot_go_is_refused_and_the_next_tries_again() -> None:
    class Choosy(SampleHandlers):
        def roots_changed(self, context: Context) -> None:
            super().roots_changed(context)
            raise KeepmumError("that place has a broken settings file")

    handlers = Choosy()
    conversation = Conversation(opening=lambda _: handlers)
    conversation.greet()
    conversation.say(call("who"))
    for _ in range(2):
        assert text_of(conversation.say(told("one", "/a"))[0]) == "that place has a broken settings file"
    assert handlers.seen == ["who", "roots /a", "roots /a"]
