"""`keepmum login`, `logout`, `whoami`, `backend` and `outbox`."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hidden import assert_hidden
from keepmum.cli import outbox as outbox_command
from keepmum.stores import outbox
from keepmum.stores.outbox import Outbox
from keepmum.workspace import credentials
from rest_server import KEY, FakeServer
from rest_server import Answer as Response
from unit.cli.conftest import Answer, Command

pytestmark = pytest.mark.usefixtures("project")


@pytest.fixture
def run(keepmum: Command) -> Command:
    """Runs one command; no output may show the key."""

    def run_one(*words: str, stdin: str = "") -> Answer:
        answer = keepmum(*words, stdin=stdin.encode())
        assert_hidden(KEY, answer.out + answer.err)
        return answer

    return run_one


@pytest.fixture
def state(home: Path) -> str:
    return str(home / ".keepmum")


# -- keys


def test_key_from_a_pipe_is_checked_and_stored(run: Command, origin: str, state: str) -> None:
    status, output, errors = run("login", origin, stdin=f"{KEY}\n")
    assert (status, credentials.origins(state)) == (0, [origin])
    assert "is stored in" in output
    assert f"`keepmum backend use {origin}`" in errors


def test_key_refused_by_the_server_is_not_stored(run: Command, origin: str, state: str) -> None:
    status, _, errors = run("login", origin, stdin="another-key")
    assert (status, credentials.origins(state)) == (1, [])
    assert "does not accept the key" in errors


def test_refused_key_keeps_the_previous_key(run: Command, origin: str, state: str) -> None:
    run("login", origin, stdin=KEY)
    run("login", origin, stdin="another-key")
    found = credentials.find(state, {}, origin, approved=False)
    assert found is not None
    assert found.secret == KEY


def test_key_for_an_unreachable_server_is_stored_unchecked(run: Command, state: str) -> None:
    status, _, errors = run("login", "http://127.0.0.1:9", stdin=KEY)
    assert (status, credentials.origins(state)) == (0, ["http://127.0.0.1:9"])
    assert "could not be checked" in errors


@pytest.mark.parametrize(
    "address", ["memory.example", "http://memory.example", "https://me:pw@memory.example", "ftp://x"]
)
def test_invalid_address_is_refused_without_repeating_it(run: Command, address: str) -> None:
    status, _, errors = run("login", address, stdin=KEY)
    assert status == 1
    assert "without user, password or path" in errors
    assert "me:pw" not in errors


def test_login_is_refused_inside_a_client_session(
    run: Command, origin: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "5f0a")
    status, _, errors = run("login", origin, stdin=KEY)
    assert (status, credentials.origins(state)) == (1, [])
    assert "only a person decides which server is trusted" in errors
    assert run("backend", "use", "https://evil.example").status == 1


def test_logout_removes_the_key(run: Command, origin: str, state: str) -> None:
    run("login", origin, stdin=KEY)
    assert run("logout", origin).status == 0
    assert credentials.origins(state) == []
    assert "no key is stored" in run("logout", origin).err


def test_whoami_without_a_server(run: Command) -> None:
    assert "no server is configured" in run("whoami").out


def test_whoami_names_server_key_and_collection(run: Command, origin: str) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    status, output, _ = run("whoami")
    assert status == 0
    assert f"server: {origin}" in output
    assert "key: from credentials.toml" in output
    assert "collection: shared_agent_memory; model ready" in output


def test_whoami_reports_a_missing_key(run: Command, origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_API_URL", origin)
    status, output, _ = run("whoami")
    assert status == 1
    assert f"there is no key for {origin}" in output


# -- the store in use


def test_backend_list_marks_the_store_in_use(run: Command, origin: str) -> None:
    assert "* sqlite" in run("backend", "list").out
    run("backend", "use", origin)
    output = run("backend", "list").out
    assert f"* rest       {origin}" in output
    assert "  sqlite" in output


def test_backend_use_switches_between_server_and_sqlite(run: Command, origin: str, fake: FakeServer) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    run("remember", "Blue first")
    run("backend", "use", "sqlite")
    run("remember", "Green first")
    assert [memory["text"] for memory in fake.memories.values()] == ["Blue first"]


def test_backend_use_reports_a_missing_key(run: Command, origin: str) -> None:
    _, output, errors = run("backend", "use", origin)
    assert f"Memories are now stored at {origin}" in output
    assert f"`keepmum login {origin}`" in errors


def test_status_reports_whether_the_server_answers(run: Command, origin: str, fake: FakeServer) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    assert f"server    {origin} answers" in run("status").out
    fake.fault = lambda _: Response(503)
    assert "cannot serve just now" in run("status").out


def test_backend_use_reports_an_overriding_variable(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPMUM_BACKEND", "sqlite")
    assert "KEEPMUM_BACKEND overrides it" in run("backend", "use", "http://localhost:9").err


def test_backend_test_lists_missing_capabilities(run: Command, origin: str) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    status, output, _ = run("backend", "test")
    assert status == 0
    assert "without scopes: this server keeps memories of projects" in output
    assert "readable and writable" in output


def test_failed_backend_test_gives_the_reason(run: Command, origin: str, fake: FakeServer) -> None:
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    fake.keys = {}
    status, output, errors = run("backend", "test")
    assert status == 1
    assert "does not accept the key" in errors
    assert "without" not in output  # a server that was not reached may be of any kind


def test_embedded_store_passes_backend_test(run: Command) -> None:
    assert run("backend", "test").status == 0


@pytest.mark.parametrize("words", [("use",), ("use", "nonsense"), ("use", "https://x/y")])
def test_invalid_store_is_refused(run: Command, words: tuple[str, ...]) -> None:
    assert run("backend", *words).status == 1


# -- outbox


@pytest.fixture
def pending(run: Command, origin: str, fake: FakeServer) -> FakeServer:
    """An unavailable server with one queued write."""
    run("login", origin, stdin=KEY)
    run("backend", "use", origin)
    fake.fault = lambda _: Response(503, headers={"Retry-After": "60"})
    assert "queued (1 in the queue)" in run("remember", "Blue first").out
    return fake


def test_empty_outbox_is_reported(run: Command) -> None:
    assert "the outbox is empty" in run("outbox", "list").err


def test_outbox_list_shows_pending_writes(run: Command, pending: FakeServer, origin: str) -> None:
    assert pending.memories == {}
    output = run("outbox", "list").out
    assert "waiting  create Blue first" in output
    assert origin in output
    assert '"action": "create"' in run("outbox", "list", "--json").out


def test_outbox_retry_sends_pending_writes(run: Command, pending: FakeServer) -> None:
    pending.fault = lambda _: None
    status, output, _ = run("outbox", "retry")
    assert (status, output.strip()) == (0, "1 sent, 0 left")
    assert [memory["text"] for memory in pending.memories.values()] == ["Blue first"]


@pytest.mark.usefixtures("pending")
def test_writes_for_another_server_are_named(run: Command, origin: str) -> None:
    assert f"writes are still queued for {origin}" in run("backend", "use", "http://localhost:9").err
    status, _, errors = run("outbox", "retry")
    assert status == 1
    assert f"`keepmum backend use {origin}` sends it" in errors
    assert "still queued" not in run("backend", "use", origin).err


def test_outbox_retry_times_out_when_nothing_is_sent(
    run: Command, pending: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, hours, mark = threading.Event(), itertools.count(0, 3600), Outbox.mark_failed

    def mark_and_note(*given: Any, **options: Any) -> None:
        mark(*given, **options)
        failed.set()

    monkeypatch.setattr(Outbox, "mark_failed", mark_and_note)
    clock = SimpleNamespace(monotonic=lambda: next(hours) if failed.is_set() else 0, sleep=time.sleep)
    monkeypatch.setattr(outbox_command, "time", clock)
    status, output, errors = run("outbox", "retry")
    assert (status, output.strip()) == (1, "none sent, 1 left")
    assert "cannot serve just now (503)" in errors
    assert pending.memories == {}


def test_outbox_retry_reports_a_refused_write(run: Command, pending: FakeServer) -> None:
    pending.fault = lambda request: Response(422) if request.method == "POST" else None
    status, output, errors = run("outbox", "retry")
    assert (status, output.strip()) == (1, "none sent, 1 left")
    assert "refused (422)" in errors


def test_outbox_reports_a_refused_key(run: Command, pending: FakeServer) -> None:
    pending.fault = lambda _: None
    pending.keys = {}
    status, _, errors = run("outbox", "retry")
    assert status == 1
    assert "does not accept the key" in errors
    assert "does not accept the key" in run("outbox", "list").err


def test_outbox_drop_needs_an_id_and_confirmation(run: Command, pending: FakeServer, state: str) -> None:
    box = outbox.Outbox(outbox.file_of(state))
    name = box.items()[0].id
    assert run("outbox", "drop").status == 1
    assert run("outbox", "drop", name).status == 1
    assert run("outbox", "drop", "0" * 8, "--yes").status == 1
    assert len(box.items()) == 1
    assert run("outbox", "drop", name[:20], "--yes").out.strip() == "1 dropped"
    assert box.items() == []
    box.close()
    assert pending.memories == {}
