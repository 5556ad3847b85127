"""Keys, servers and what waits for them, on the command line."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum.cli import main as cli
from keepmum.cli import outbox as outbox_command
from keepmum.stores import outbox
from keepmum.workspace import credentials
from rest_server import KEY, Answer, FakeServer

pytestmark = pytest.mark.usefixtures("project")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Exit status, output and remarks of one command."""

    def run_one(*words: str, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        status = cli.main(words)
        said = capsys.readouterr()
        assert_hidden(KEY, said.out + said.err)
        return status, said.out, said.err

    return run_one


@pytest.fixture
def state(home: Path) -> str:
    return str(home / ".keepmum")


# -- keys


def test_a_key_from_a_pipe_is_tried_and_stored(run: Run, origin: str, state: str) -> None:
    status, said, remark = run("login", origin, typed=f"{KEY}\n")
    assert (status, credentials.origins(state)) == (0, [origin])
    assert "is stored in" in said
    assert f"`keepmum backend use {origin}`" in remark


def test_a_key_that_the_server_does_not_take_is_not_stored(run: Run, origin: str, state: str) -> None:
    status, _, remark = run("login", origin, typed="another-key")
    assert (status, credentials.origins(state)) == (1, [])
    assert "does not accept the key" in remark


def test_a_wrong_key_leaves_the_one_before(run: Run, origin: str, state: str) -> None:
    run("login", origin, typed=KEY)
    run("login", origin, typed="another-key")
    found = credentials.find(state, {}, origin, approved=False)
    assert found is not None
    assert found.secret == KEY


def test_a_key_for_a_server_that_is_down_is_stored_untried(run: Run, state: str) -> None:
    status, _, remark = run("login", "http://127.0.0.1:9", typed=KEY)
    assert (status, credentials.origins(state)) == (0, ["http://127.0.0.1:9"])
    assert "could not be checked" in remark


@pytest.mark.parametrize(
    "address", ["memory.example", "http://memory.example", "https://me:pw@memory.example", "ftp://x"]
)
def test_an_address_that_can_be_none_is_told_without_it(run: Run, address: str) -> None:
    status, _, remark = run("login", address, typed=KEY)
    assert status == 1
    assert "without user, password or path" in remark
    assert "me:pw" not in remark


def test_nobody_signs_in_from_a_clients_session(
    run: Run, origin: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "5f0a")
    status, _, remark = run("login", origin, typed=KEY)
    assert (status, credentials.origins(state)) == (1, [])
    assert "only a person decides which server is trusted" in remark
    assert run("backend", "use", "https://evil.example")[0] == 1


def test_a_key_is_forgotten(run: Run, origin: str, state: str) -> None:
    run("login", origin, typed=KEY)
    assert run("logout", origin)[0] == 0
    assert credentials.origins(state) == []
    assert "no key is stored" in run("logout", origin)[2]


def test_who_one_is_without_a_server(run: Run) -> None:
    assert "no server is configured" in run("whoami")[1]


def test_who_one_is_at_a_server(run: Run, origin: str) -> None:
    run("login", origin, typed=KEY)
    run("backend", "use", origin)
    status, said, _ = run("whoami")
    assert status == 0
    assert f"server: {origin}" in said
    assert "key: from credentials.toml" in said
    assert "collection: shared_agent_memory; model ready" in said


def test_a_variable_without_a_key_is_told(run: Run, origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_API_URL", origin)
    status, said, _ = run("whoami")
    assert status == 1
    assert f"there is no key for {origin}" in said


# -- the store in use


def test_kinds_are_listed_with_the_one_in_use(run: Run, origin: str) -> None:
    assert "* sqlite" in run("backend", "list")[1]
    run("backend", "use", origin)
    said = run("backend", "list")[1]
    assert f"* rest       {origin}" in said
    assert "  sqlite" in said


def test_a_server_is_used_and_left_again(run: Run, origin: str, fake: FakeServer) -> None:
    run("login", origin, typed=KEY)
    run("backend", "use", origin)
    run("remember", "Blue first")
    run("backend", "use", "sqlite")
    run("remember", "Green first")
    assert [memory["text"] for memory in fake.memories.values()] == ["Blue first"]


def test_a_server_is_named_with_the_key_that_it_lacks(run: Run, origin: str) -> None:
    _, said, remark = run("backend", "use", origin)
    assert f"Memories are now stored at {origin}" in said
    assert f"`keepmum login {origin}`" in remark


def test_the_status_says_how_the_server_answers(run: Run, origin: str, fake: FakeServer) -> None:
    run("login", origin, typed=KEY)
    run("backend", "use", origin)
    assert f"server    {origin} answers" in run("status")[1]
    fake.fault = lambda _: Answer(503)
    assert "cannot serve just now" in run("status")[1]


def test_a_variable_that_says_otherwise_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPMUM_BACKEND", "sqlite")
    assert "KEEPMUM_BACKEND overrides it" in run("backend", "use", "http://localhost:9")[2]


def test_a_test_tells_what_the_server_cannot(run: Run, origin: str) -> None:
    run("login", origin, typed=KEY)
    run("backend", "use", origin)
    status, said, _ = run("backend", "test")
    assert status == 0
    assert "without scopes: this server keeps memories of projects" in said
    assert "readable and writable" in said


def test_a_test_of_a_server_that_fails_says_why(run: Run, origin: str, fake: FakeServer) -> None:
    run("login", origin, typed=KEY)
    run("backend", "use", origin)
    fake.keys = {}
    status, _, remark = run("backend", "test")
    assert status == 1
    assert "does not accept the key" in remark


def test_the_embedded_store_passes_its_test(run: Run) -> None:
    assert run("backend", "test")[0] == 0


@pytest.mark.parametrize("words", [("use",), ("use", "nonsense"), ("use", "https://x/y")])
def test_nonsense_is_no_store(run: Run, words: tuple[str, ...]) -> None:
    assert run("backend", *words)[0] == 1


# -- what waits


@pytest.fixture
def waiting(run: Run, origin: str, fake: FakeServer) -> FakeServer:
    """A server that is down, and a write that waits for it."""
    run("login", origin, typed=KEY)
    run("backend", "use", origin)
    fake.fault = lambda _: Answer(503, headers={"Retry-After": "60"})
    assert "queued (1 in the queue)" in run("remember", "Blue first")[1]
    return fake


def test_an_empty_outbox_says_so(run: Run) -> None:
    assert "the outbox is empty" in run("outbox", "list")[2]


def test_what_waits_is_listed(run: Run, waiting: FakeServer, origin: str) -> None:
    assert waiting.memories == {}
    said = run("outbox", "list")[1]
    assert "waiting  create Blue first" in said
    assert origin in said
    assert '"action": "create"' in run("outbox", "list", "--json")[1]


def test_what_waits_is_sent_by_hand(run: Run, waiting: FakeServer) -> None:
    waiting.fault = lambda _: None
    status, said, _ = run("outbox", "retry")
    assert (status, said.strip()) == (0, "1 sent, 0 left")
    assert [memory["text"] for memory in waiting.memories.values()] == ["Blue first"]


def test_a_try_by_hand_ends_where_nothing_arrives(
    run: Run, waiting: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_command, "_TIMEOUT", 0.5)
    status, said, remark = run("outbox", "retry")
    assert (status, said.strip()) == (1, "none sent, 1 left")
    assert "cannot serve just now (503)" in remark
    assert waiting.memories == {}


def test_what_is_refused_by_hand_is_told(run: Run, waiting: FakeServer) -> None:
    waiting.fault = lambda request: Answer(422) if request.method == "POST" else None
    status, said, remark = run("outbox", "retry")
    assert (status, said.strip()) == (1, "none sent, 1 left")
    assert "refused (422)" in remark


def test_a_key_that_is_not_taken_any_more_is_told(run: Run, waiting: FakeServer) -> None:
    waiting.fault = lambda _: None
    waiting.keys = {}
    status, _, remark = run("outbox", "retry")
    assert status == 1
    assert "does not accept the key" in remark
    assert "does not accept the key" in run("outbox", "list")[2]


def test_what_waits_is_dropped_only_by_name_and_with_a_yes(run: Run, waiting: FakeServer, state: str) -> None:
    box = outbox.Outbox(outbox.file_of(state))
    name = box.items()[0].id
    assert run("outbox", "drop")[0] == 1
    assert run("outbox", "drop", name)[0] == 1
    assert run("outbox", "drop", "0" * 8, "--yes")[0] == 1
    assert len(box.items()) == 1
    assert run("outbox", "drop", name[:20], "--yes")[1].strip() == "1 dropped"
    assert box.items() == []
    box.close()
    assert waiting.memories == {}
