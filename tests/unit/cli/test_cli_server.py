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

    def run_one(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        status = cli.main(words)
        output = capsys.readouterr()
        assert_hidden(KEY, output.out + output.err)
        return status, output.out, output.err

    return run_one


@pytest.fixture
def state(home: Path) -> str:
    return str(home / ".keepmum")


# -- keys


def test_key_from_a_pipe_is_checked_and_stored(run: Run, origin: str, state: str) -> None:
    status, output, errors = run("login", origin, stdin=f"{KEY}\n")
    assert (status, credentials.origins(state)) == (0, [origin])
    assert "is stored in" in output
    assert f"`keepmum backend use {origin}`" in errors


def test_key_refused_by_the_server_is_not_stored(run: Run, origin: str, state: str) -> None:
    status, _, errors = run("login", origin, stdin="another-key")
    assert (status, credentials.origins(state)) == (1, [])
    assert "does not accept the key" in errors


def test_refused_key_keeps_the_previous_key(run: Run, origin: str, state: str) -> None:
    run("login", origin, stdin=KEY)
    run("login", origin, stdin="another-key")
    found = credentials.find(state, {}, origin, approved=False)
    assert found is not None
    assert found.secret == KEY


def test_key_for_an_unreachable_server_is_stored_unchecked(run: Run, state: str) -> None:
    status, _, errors = run("login", "http://127.0.0.1:9", stdin=KEY)
    assert (status, credentials.origins(state)) == (0, ["http://127.0.0.1:9"])
    assert "could not be checked" in errors


@pytest.mark.parametrize(
    "address", ["memory.example", "http://memory.example", "https://me:pw@memory.example", "ftp://x"]
)
def test_invalid_address_is_refused_without_repeating_it(run: Run, address: str) -> None:
    status, _, errors = run("login", address, stdin=KEY)
    assert status == 1
    assert "without user, password or path" in errors
    assert "me:pw" not in errors


def test_login_is_refused_inside_a_client_session(
    run: Run, origin: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "5f0a")
    status, _, errors = run("login", origin, stdin=KEY)
    assert (status, credentials.origins(state)) == (1, [])
    assert "only a person decides which server is trusted" in errors
    assert run("backend", "use", "https://evil.example")[0] == 1


def test_logout_removes_the_key(run: Run, origin: str, state: str) -> None:
    run("login", origin, stdin=KEY)
    assert run("logout", origin)[0] == 0
    assert credentials.origins(state) == []
    assert "no key is stored" in run("logout", origin)[2]


def test_whoami_without_a_server(run: Run) -> None:
    assert "no server is configured" in run("whoami")[1]


def test_whoami_names_server_key_and_collection(run: Run, origin: str) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    status, output, _ = run("whoami")
    assert status == 0
    assert f"server: {origin}" in output
    assert "key: from credentials.toml" in output
    assert "collection: shared_agent_memory; model ready" in output


def test_whoami_reports_a_missing_key(run: Run, origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_API_URL", origin)
    status, output, _ = run("whoami")
    assert status == 1
    assert f"there is no key for {origin}" in output


# -- the store in use


def test_backend_list_marks_the_store_in_use(run: Run, origin: str) -> None:
    assert "* sqlite" in run("backend", "list")[1]
    run("backend", "use", origin)
    output = run("backend", "list")[1]
    assert f"* rest       {origin}" in output
    assert "  sqlite" in output


def test_backend_use_switches_between_server_and_sqlite(run: Run, origin: str, fake: FakeServer) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    run("remember", "Blue first")
    run("backend", "use", "sqlite")
    run("remember", "Green first")
    assert [memory["text"] for memory in fake.memories.values()] == ["Blue first"]


def test_backend_use_reports_a_missing_key(run: Run, origin: str) -> None:
    _, output, errors = run("backend", "use", origin)
    assert f"Memories are now stored at {origin}" in output
    assert f"`keepmum login {origin}`" in errors


def test_status_reports_whether_the_server_answers(run: Run, origin: str, fake: FakeServer) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    assert f"server    {origin} answers" in run("status")[1]
    fake.fault = lambda _: Answer(503)
    assert "cannot serve just now" in run("status")[1]


def test_backend_use_reports_an_overriding_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPMUM_BACKEND", "sqlite")
    assert "KEEPMUM_BACKEND overrides it" in run("backend", "use", "http://localhost:9")[2]


def test_backend_test_lists_missing_capabilities(run: Run, origin: str) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    status, output, _ = run("backend", "test")
    assert status == 0
    assert "without scopes: this server keeps memories of projects" in output
    assert "readable and writable" in output


def test_failed_backend_test_gives_the_reason(run: Run, origin: str, fake: FakeServer) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    fake.keys = {}
    status, _, errors = run("backend", "test")
    assert status == 1
    assert "does not accept the key" in errors


def test_embedded_store_passes_backend_test(run: Run) -> None:
    assert run("backend", "test")[0] == 0


@pytest.mark.parametrize("words", [("use",), ("use", "nonsense"), ("use", "https://x/y")])
def test_invalid_store_is_refused(run: Run, words: tuple[str, ...]) -> None:
    assert run("backend", *words)[0] == 1


# -- what waits


@pytest.fixture
def pending(run: Run, origin: str, fake: FakeServer) -> FakeServer:
    """A server that is down, and a write that waits for it."""
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    fake.fault = lambda _: Answer(503, headers={"Retry-After": "60"})
    assert "queued (1 in the queue)" in run("remember", "Blue first")[1]
    return fake


def test_empty_outbox_is_reported(run: Run) -> None:
    assert "the outbox is empty" in run("outbox", "list")[2]


def test_outbox_list_shows_pending_writes(run: Run, pending: FakeServer, origin: str) -> None:
    assert pending.memories == {}
    output = run("outbox", "list")[1]
    assert "waiting  create Blue first" in output
    assert origin in output
    assert '"action": "create"' in run("outbox", "list", "--json")[1]


def test_outbox_retry_sends_pending_writes(run: Run, pending: FakeServer) -> None:
    pending.fault = lambda _: None
    status, output, _ = run("outbox", "retry")
    assert (status, output.strip()) == (0, "1 sent, 0 left")
    assert [memory["text"] for memory in pending.memories.values()] == ["Blue first"]


def test_outbox_retry_times_out_when_nothing_is_sent(
    run: Run, pending: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_command, "_TIMEOUT", 0.5)
    status, output, errors = run("outbox", "retry")
    assert (status, output.strip()) == (1, "none sent, 1 left")
    assert "cannot serve just now (503)" in errors
    assert pending.memories == {}


def test_outbox_retry_reports_a_refused_write(run: Run, pending: FakeServer) -> None:
    pending.fault = lambda request: Answer(422) if request.method == "POST" else None
    status, output, errors = run("outbox", "retry")
    assert (status, output.strip()) == (1, "none sent, 1 left")
    assert "refused (422)" in errors


def test_outbox_reports_a_refused_key(run: Run, pending: FakeServer) -> None:
    pending.fault = lambda _: None
    pending.keys = {}
    status, _, errors = run("outbox", "retry")
    assert status == 1
    assert "does not accept the key" in errors
    assert "does not accept the key" in run("outbox", "list")[2]


def test_outbox_drop_needs_an_id_and_confirmation(run: Run, pending: FakeServer, state: str) -> None:
    box = outbox.Outbox(outbox.file_of(state))
    name = box.items()[0].id
    assert run("outbox", "drop")[0] == 1
    assert run("outbox", "drop", name)[0] == 1
    assert run("outbox", "drop", "0" * 8, "--yes")[0] == 1
    assert len(box.items()) == 1
    assert run("outbox", "drop", name[:20], "--yes")[1].strip() == "1 dropped"
    assert box.items() == []
    box.close()
    assert pending.memories == {}
