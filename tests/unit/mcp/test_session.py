"""One client's conversation, without a process: lines in, messages out, jobs done when a test says so."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator

import pytest

from keepmum.errors import KeepmumError
from keepmum.mcp.client import VERSIONS
from keepmum.mcp.rpc import MAX_LINE
from keepmum.mcp.session import Session
from keepmum.mcp.surface import Context, Surface, Tool
from mcp_sample import SECRET_WORDS, SURFACE, SampleHandlers

Json = dict[str, object]


class Conversation:
    """A session, what it sent, and the jobs that wait."""

    def __init__(self, surface: Surface = SURFACE, opening: Callable[[Context], SampleHandlers] | None = None) -> None:
        self.handlers = SampleHandlers()
        self.sent: list[Json] = []
        self.jobs: list[Callable[[], None]] = []
        self.session = Session(
            surface,
            opening or (lambda _: self.handlers),
            name="sample",
            version="1",
            send=self._keep,
            submit=self.jobs.append,
        )

    def _keep(self, message: object) -> None:
        self.sent.append(json.loads(json.dumps(message)))

    def batches(self) -> list[list[Json]]:
        """The answers that came together."""
        sent: list[object] = [*self.sent]
        return [message for message in sent if isinstance(message, list)]

    def tell(self, message: object) -> None:
        """Send one message, leaving jobs undone."""
        self.session.receive(json.dumps(message).encode())

    def work(self) -> None:
        """Do all jobs."""
        while self.jobs:
            self.jobs.pop(0)()

    def say(self, message: object) -> list[Json]:
        """Send one message, do the jobs; returns what came back."""
        before = len(self.sent)
        self.tell(message)
        self.work()
        return self.sent[before:]

    def ask(self, method: str, params: object = None, request_id: object = 7) -> Json:
        """The one answer to a request."""
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


def request(method: str, params: object = None, request_id: object = 7) -> Json:
    message: Json = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def call(tool: str, request_id: object = 7, **arguments: object) -> Json:
    return request("tools/call", {"name": tool, "arguments": arguments}, request_id)


def cancel(request_id: object) -> Json:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


def text_of(answer: Json) -> object:
    result = answer["result"]
    assert isinstance(result, dict)
    return result["content"][0]["text"]


def code_of(answer: Json) -> object:
    error = answer["error"]
    assert isinstance(error, dict)
    return error["code"]


@pytest.fixture
def conversation() -> Iterator[Conversation]:
    """A conversation that has begun."""
    begun = Conversation()
    begun.greet()
    yield begun
    assert begun.ask("ping")["result"] == {}  # whatever a test did, the conversation lives on


# --- the handshake ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_a_known_version_is_agreed_to(version: str) -> None:
    assert Conversation().greet(version)["protocolVersion"] == version


@pytest.mark.parametrize("version", ["2026-07-28", "", None, 7])
def test_an_unknown_version_is_answered_with_the_latest(version: object) -> None:
    assert Conversation().result("initialize", {"protocolVersion": version})["protocolVersion"] == "2025-11-25"


def test_the_handshake_tells_name_version_and_instructions() -> None:
    result = Conversation().greet()
    assert result["serverInfo"] == {"name": "sample", "version": "1"}
    assert result["instructions"] == SURFACE.instructions


def test_only_what_the_surface_has_is_announced() -> None:
    bare = Surface("", tools=(Tool("a", "", {}, {}),))
    assert Conversation(bare).greet()["capabilities"] == {"logging": {}, "tools": {}}
    assert Conversation().greet()["capabilities"] == {"logging": {}, "tools": {}, "resources": {}, "prompts": {}}


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "prompts/list", "prompts/get"])
def test_what_is_not_announced_is_no_method(method: str) -> None:
    bare = Conversation(Surface("", tools=(Tool("a", "", {}, {}),)))
    bare.greet()
    assert bare.error(method, {"name": "x"}) == (-32601, "method not found")


@pytest.mark.parametrize("method", ["server/discover", "completion/complete", "resources/subscribe", "x"])
def test_an_unknown_method_is_answered_at_once(method: str) -> None:
    conversation = Conversation()
    conversation.tell(request(method, {"ref": 1}))
    assert [code_of(answer) for answer in conversation.sent] == [-32601]


@pytest.mark.parametrize("method", ["ping", "tools/list", "resources/list", "prompts/list"])
def test_pings_and_lists_need_no_handshake(method: str) -> None:
    assert "result" in Conversation().ask(method)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "who"}),
        ("resources/read", {"uri": "memory://note"}),
        ("prompts/get", {"name": "greet", "arguments": {"name": "x"}}),
    ],
)
def test_what_reaches_handlers_needs_a_handshake(method: str, params: Json) -> None:
    assert Conversation().error(method, params)[0] == -32600


def test_handlers_are_opened_after_the_handshake_and_before_a_call() -> None:
    opened: list[str] = []

    def opening(context: Context) -> SampleHandlers:
        opened.append(context.agent)
        return SampleHandlers()

    conversation = Conversation(opening=opening)
    conversation.result("initialize", {"clientInfo": {"name": "tester"}})
    conversation.ask("tools/list")
    assert opened == []
    conversation.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert opened == ["tester"]
    conversation.say(call("echo", text="x"))
    assert opened == ["tester"]


def test_a_failure_to_open_is_told_and_tried_again() -> None:
    troubles: list[Exception] = [KeepmumError("the store is away")] * 2

    def opening(_: Context) -> SampleHandlers:
        if troubles:
            raise troubles.pop()
        return SampleHandlers()

    conversation = Conversation(opening=opening)
    conversation.greet()  # the first trouble
    assert conversation.say(call("echo", text="x"))[0]["result"] == {
        "content": [{"type": "text", "text": "the store is away"}],
        "isError": True,
    }
    assert text_of(conversation.say(call("echo", text="x"))[0]) == "x"


@pytest.mark.parametrize("trouble", [RuntimeError(SECRET_WORDS), SystemExit(SECRET_WORDS)])
def test_a_bug_in_opening_ends_nothing_and_tells_nothing(
    trouble: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def opening(_: Context) -> SampleHandlers:
        raise trouble

    conversation = Conversation(opening=opening)
    conversation.greet()
    answer = conversation.say(call("echo", text="x"))[0]
    assert answer["error"] == {"code": -32603, "message": "internal error in echo; nothing was stored"}
    assert SECRET_WORDS not in capsys.readouterr().err


# --- lists ------------------------------------------------------------------------------------------------------


def test_a_tool_is_listed_with_schema_annotations_and_meta(conversation: Conversation) -> None:
    tools = conversation.result("tools/list")["tools"]
    assert isinstance(tools, list)
    assert tools[0] == {
        "name": "echo",
        "title": "Echo",
        "description": "Answers with its text.",
        "inputSchema": SURFACE.tools[0].parameters,
        "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
        "_meta": {"anthropic/alwaysLoad": True},
    }
    assert "_meta" not in tools[1]


def test_resources_templates_and_prompts_are_listed(conversation: Conversation) -> None:
    assert conversation.result("resources/list") == {
        "resources": [{"uri": "memory://note", "name": "note", "description": "A note.", "mimeType": "text/markdown"}]
    }
    assert conversation.result("resources/templates/list") == {
        "resourceTemplates": [
            {
                "uriTemplate": "memory://{key}",
                "name": "by key",
                "description": "A note by its key.",
                "mimeType": "text/markdown",
            }
        ]
    }
    assert conversation.result("prompts/list") == {
        "prompts": [
            {
                "name": "greet",
                "description": "Greets.",
                "arguments": [{"name": "name", "description": "Whom.", "required": True}],
            }
        ]
    }


def test_a_cursor_is_refused_since_there_is_one_page(conversation: Conversation) -> None:
    assert conversation.error("tools/list", {"cursor": "2"})[0] == -32602


# --- tools, resources, prompts ----------------------------------------------------------------------------------


def test_a_tool_answers_with_text(conversation: Conversation) -> None:
    assert conversation.result("tools/call", {"name": "echo", "arguments": {"text": "ä"}}) == {
        "content": [{"type": "text", "text": "ä"}]
    }


def test_arguments_may_be_left_out(conversation: Conversation) -> None:
    assert text_of(conversation.ask("tools/call", {"name": "who"})) == "tester | 2.0 | 2025-11-25"


def test_a_refusal_is_a_result_that_the_model_reads(conversation: Conversation) -> None:
    assert conversation.say(call("refuse", text="x"))[0]["result"] == {
        "content": [{"type": "text", "text": "refused, nothing stored"}],
        "isError": True,
    }


def test_wrong_arguments_are_a_result_that_the_model_reads(conversation: Conversation) -> None:
    answer = conversation.say(call("echo", txt="x"))[0]
    assert text_of(answer) == "txt: is not a field here (did you mean text?); allowed: text"
    assert conversation.handlers.seen == []


@pytest.mark.parametrize("tool", ["fail", "leave"])
def test_a_bug_is_told_by_place_and_not_by_its_words(
    conversation: Conversation, capsys: pytest.CaptureFixture[str], tool: str
) -> None:
    answer = conversation.say(call(tool))[0]
    assert answer["error"] == {"code": -32603, "message": f"internal error in {tool}; nothing was stored"}
    told = capsys.readouterr().err
    assert f"keepmum: internal error in {tool}: " in told
    assert "mcp_sample.py:" in told
    assert SECRET_WORDS not in told


def test_a_closed_standard_error_is_no_further_trouble(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert code_of(conversation.say(call("fail"))[0]) == -32603


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        pytest.param("tools/call", {"name": "nope"}, -32602, id="unknown tool"),
        pytest.param("tools/call", {}, -32602, id="no tool"),
        pytest.param("tools/call", {"name": ["echo"]}, -32602, id="a tool of a list"),
        pytest.param("tools/call", {"name": "echo", "arguments": "text"}, -32602, id="arguments of text"),
        pytest.param("tools/call", {"name": "echo", "arguments": []}, -32602, id="arguments of a list"),
        pytest.param("resources/read", {}, -32602, id="no URI"),
        pytest.param("resources/read", {"uri": 1}, -32602, id="a URI of a number"),
        pytest.param("resources/read", {"uri": "memory://\0"}, -32602, id="NUL in a URI"),
        pytest.param("resources/read", {"uri": "memory://\ud800"}, -32602, id="half a pair in a URI"),
        pytest.param("resources/read", {"uri": "memory://nope"}, -32002, id="unknown resource"),
        pytest.param("resources/read", {"uri": "memory://broken"}, -32603, id="a resource that cannot be had"),
        pytest.param("prompts/get", {"name": "nope"}, -32602, id="unknown prompt"),
        pytest.param("prompts/get", {"name": "greet"}, -32602, id="a prompt without its argument"),
        pytest.param("prompts/get", {"name": "greet", "arguments": {"name": 1}}, -32602, id="an argument of a number"),
        pytest.param("prompts/get", {"name": "greet", "arguments": {"nam": "x"}}, -32602, id="an unknown argument"),
        pytest.param("logging/setLevel", {"level": "loud"}, -32602, id="unknown level"),
        pytest.param("logging/setLevel", {"level": {}}, -32602, id="a level of an object"),
    ],
)
def test_wrong_parameters_have_their_code(conversation: Conversation, method: str, params: Json, code: int) -> None:
    assert conversation.error(method, params)[0] == code


def test_an_unknown_tool_is_answered_with_the_known_and_without_its_name(conversation: Conversation) -> None:
    _, message = conversation.error("tools/call", {"name": "nope"})
    assert message == ("unknown tool; there are echo, refuse, fail, leave, chatter, report, who, wait, watch")


def test_a_resource_is_read(conversation: Conversation) -> None:
    assert conversation.result("resources/read", {"uri": "memory://note"}) == {
        "contents": [{"uri": "memory://note", "mimeType": "text/markdown", "text": "a note for tester"}]
    }


def test_a_prompt_is_one_message_of_the_user(conversation: Conversation) -> None:
    assert conversation.result("prompts/get", {"name": "greet", "arguments": {"name": "you"}}) == {
        "description": "Greets.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "greet you, tester"}}],
    }


# --- malformed input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b"{", -32700, id="not JSON"),
        pytest.param(b'"\xff"', -32700, id="not UTF-8"),
        pytest.param(b"[" * 500_000, -32700, id="nested without end"),
        pytest.param(b'{"a":NaN}', -32700, id="NaN"),
        pytest.param(b"3", -32600, id="a number"),
        pytest.param(b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, id="id null"),
        pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, id="a batch in a version without"),
        pytest.param(None, -32600, id="a line too long to keep"),
    ],
)
def test_a_malformed_line_is_answered_without_id(conversation: Conversation, line: bytes | None, code: int) -> None:
    conversation.sent.clear()
    conversation.session.receive(line)
    assert [(answer["id"], code_of(answer)) for answer in conversation.sent] == [(None, code)]


def test_the_limit_of_a_message_is_told(conversation: Conversation) -> None:
    conversation.session.receive(None)
    assert str(MAX_LINE) in str(conversation.sent[-1])


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"jsonrpc": "2.0", "method": "x"}, id="unknown"),
        pytest.param({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "echo"}}, id="a call without id"),
        pytest.param(cancel("nope"), id="cancelling nothing"),
        pytest.param(cancel({"a": 1}), id="cancelling an object"),
        pytest.param({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}, id="wrong parameters"),
        pytest.param({"jsonrpc": "2.0", "id": "roots-9", "result": {}}, id="an answer to no question"),
        pytest.param({"jsonrpc": "2.0", "id": [], "error": {}}, id="an answer without a usable id"),
    ],
)
def test_what_wants_no_answer_gets_none(conversation: Conversation, message: Json) -> None:
    assert conversation.say(message) == []


def test_notifications_before_the_handshake_do_nothing() -> None:
    conversation = Conversation()
    assert conversation.say({"jsonrpc": "2.0", "method": "notifications/initialized"}) == []
    assert conversation.say({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}) == []
    assert conversation.jobs == []


def test_an_id_in_use_is_refused_and_free_again_after_the_answer(conversation: Conversation) -> None:
    conversation.sent.clear()
    conversation.tell(call("echo", 5, text="first"))
    conversation.tell(call("echo", 5, text="second"))
    conversation.work()
    assert [answer.get("error", {}) != {} for answer in conversation.sent] == [True, False]
    assert text_of(conversation.sent[1]) == "first"
    assert text_of(conversation.say(call("echo", 5, text="third"))[0]) == "third"


def test_requests_past_a_thousand_are_told_to_come_again(conversation: Conversation) -> None:
    conversation.sent.clear()
    for number in range(1025):
        conversation.tell(call("echo", number, text="x"))
    assert [(answer["id"], code_of(answer)) for answer in conversation.sent] == [(1024, -32603)]
    conversation.work()
    assert len(conversation.sent) == 1025


@pytest.mark.parametrize("request_id", [0, -1, 2**70, "a", "", 1.5, "\ud800"])
def test_every_usable_id_comes_back(conversation: Conversation, request_id: object) -> None:
    assert conversation.ask("ping", None, request_id)["id"] == request_id


# --- batches ----------------------------------------------------------------------------------------------------


@pytest.fixture
def batching() -> Conversation:
    """A conversation in a version that has batches."""
    begun = Conversation()
    begun.greet("2025-03-26")
    return begun


def test_a_batch_is_answered_together_once_all_is_done(batching: Conversation) -> None:
    batching.tell([call("echo", 1, text="x"), {"jsonrpc": "2.0", "method": "x"}, request("ping", None, 2), 5])
    before = len(batching.sent)
    batching.work()
    assert len(batching.sent) == before + 1
    assert {answer["id"] for answer in batching.batches()[-1]} == {1, 2, None}


def test_a_batch_of_notifications_gets_no_answer(batching: Conversation) -> None:
    assert batching.say([{"jsonrpc": "2.0", "method": "x"}] * 2) == []


def test_what_is_cancelled_in_a_batch_is_left_out(batching: Conversation) -> None:
    batching.sent.clear()
    batching.tell([call("echo", 1, text="x"), call("echo", 2, text="y"), cancel(1)])
    batching.work()
    assert [[answer["id"] for answer in batch] for batch in batching.batches()] == [[2]]


@pytest.mark.parametrize("size", [0, 257])
def test_a_batch_of_a_wrong_size_is_refused(batching: Conversation, size: int) -> None:
    assert [code_of(answer) for answer in batching.say([request("ping")] * size)] == [-32600]


def test_a_batch_before_the_handshake_is_refused() -> None:
    assert [code_of(answer) for answer in Conversation().say([request("ping")])] == [-32600]


# --- cancellation, progress, log, roots -------------------------------------------------------------------------


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


# --- the end ----------------------------------------------------------------------------------------------------


def test_closing_closes_the_handlers(conversation: Conversation) -> None:
    conversation.session.close()
    assert conversation.handlers.seen == ["close"]


def test_closing_without_handlers_opens_none() -> None:
    conversation = Conversation()
    conversation.session.close()
    assert conversation.handlers.seen == []


def test_a_bug_in_closing_is_reported_by_place(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(SampleHandlers):
        def close(self) -> None:
            raise RuntimeError(SECRET_WORDS)

    conversation = Conversation(opening=lambda _: Broken())
    conversation.greet()
    conversation.session.close()
    told = capsys.readouterr().err
    assert "internal error in closing: RuntimeError at " in told
    assert SECRET_WORDS not in told
