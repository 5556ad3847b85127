"""The tools, resources and prompts of the default dialect over a real store."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum.core.errors import InvalidInput, NotFound, SecretFound, SwitchedOff
from keepmum.mcp.dialects.keepmum import resources
from keepmum.mcp.dialects.keepmum.handlers import MemoryHandlers, open_handlers
from keepmum.mcp.surface import Context
from keepmum_hooks import places

TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
ANYONE = Context(agent="claude-code")


@pytest.fixture
def handlers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryHandlers]:
    """Handlers over an empty store, in a new folder."""
    monkeypatch.chdir(tmp_path)
    opened = open_handlers(Context(agent="claude-code", roots=(str(tmp_path),)))
    yield opened
    opened.close()


def _call(handlers: MemoryHandlers, name: str, **arguments: object) -> str:
    return handlers.call(name, arguments, ANYONE)


def _repository(folder: Path) -> str:
    (folder / ".git").mkdir(parents=True)
    return str(folder)


def _write_note(home: Path, session: str, folder: str) -> None:
    path = Path(places.session_note(str(home / ".keepmum"), session))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cwd": folder, "briefed": False}))


def _project_root(handlers: MemoryHandlers, session: str, *roots: str) -> str | None:
    """The root of the project that the handlers use after the client sent its roots."""
    handlers.roots_changed(Context(roots=roots, session=session))
    return handlers._service.place.root


def test_session_note_supplies_the_project_when_the_client_sends_none(
    handlers: MemoryHandlers, tmp_path: Path, home: Path
) -> None:
    folder = _repository(tmp_path / "a")
    _write_note(home, "one", folder)
    assert _project_root(handlers, "one") == folder
    assert handlers._service.place.session == "one"


def test_session_note_selects_a_project_nested_in_the_repository(
    handlers: MemoryHandlers, tmp_path: Path, home: Path
) -> None:
    top = _repository(tmp_path / "a")
    part = tmp_path / "a" / "part"
    part.mkdir()
    (part / ".keepmum.toml").write_text('project = "part"\n')
    _write_note(home, "one", str(part))
    assert _project_root(handlers, "one", top) == str(part)


def test_outdated_session_note_is_ignored(handlers: MemoryHandlers, tmp_path: Path, home: Path) -> None:
    _write_note(home, "one", _repository(tmp_path / "old"))
    new = _repository(tmp_path / "new")
    assert _project_root(handlers, "one", new) == new


def test_switched_off_project_stores_nothing_and_another_project_does(handlers: MemoryHandlers, tmp_path: Path) -> None:
    off, on = _repository(tmp_path / "off"), _repository(tmp_path / "on")
    (tmp_path / "off" / ".keepmum.toml").write_text("enabled = false\n")
    _project_root(handlers, "one", off)
    with pytest.raises(SwitchedOff, match=r"by .*\.keepmum\.toml:1"):
        _call(handlers, "remember", text="Blue first")
    _project_root(handlers, "two", on)
    assert "Kept" in _call(handlers, "remember", text="Blue first")


@pytest.mark.parametrize("text", ["", "[]", '{"cwd": 7}', '{"cwd": "/is/not/there"}', "\udcff"])
def test_invalid_session_note_is_ignored(handlers: MemoryHandlers, tmp_path: Path, home: Path, text: str) -> None:
    _write_note(home, "one", "")
    Path(places.session_note(str(home / ".keepmum"), "one")).write_text(text, errors="surrogateescape")
    new = _repository(tmp_path / "new")
    assert _project_root(handlers, "one", new) == new


def test_recall_finds_a_stored_memory(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Deploys go through the blue pool first")
    assert "blue pool" in _call(handlers, "recall", query="which pool?")


def test_remember_names_the_author(handlers: MemoryHandlers) -> None:
    assert "by claude-code" in _call(handlers, "remember", text="Blue first")


def test_refusal_repeats_nothing_of_a_secret(handlers: MemoryHandlers) -> None:
    with pytest.raises(SecretFound) as refused:
        _call(handlers, "remember", text=f"The job signs in with {TOKEN}.")
    assert not any(piece in str(refused.value) for piece in (TOKEN, TOKEN[:8], "signs in"))


def test_overwriting_a_key_explains_undo(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first", key="pool")
    assert "`forget` with `undo` puts it back" in _call(handlers, "remember", text="Green first", key="pool")


def test_undo_restores_the_previous_value(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first", key="pool")
    _call(handlers, "remember", text="Green first", key="pool")
    _call(handlers, "forget", ids=["pool"], undo=True)
    assert "Blue first" in _call(handlers, "load", ids=["pool"])


def test_forget_by_query_previews_first(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first")
    assert "nothing was removed yet" in _call(handlers, "forget", query="blue")
    assert "Blue first" in _call(handlers, "recall")


def test_forget_by_query_removes_after_confirmation(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first")
    code = _call(handlers, "forget", query="blue").partition('confirm "')[2].partition('"')[0]
    assert _call(handlers, "forget", query="blue", confirm=code).startswith("1 trashed")


def test_empty_memory_is_reported(handlers: MemoryHandlers) -> None:
    assert [_call(handlers, name).startswith("Nothing is remembered") for name in ("recall", "resume")] == [True] * 2


def test_fractional_days_to_live_are_accepted(handlers: MemoryHandlers) -> None:
    assert "Kept" in _call(handlers, "remember", text="Freeze until the release", ttl_days=0.5)


@pytest.mark.parametrize("arguments", [{"ids": []}, {"undo": True}], ids=["no ids", "undo without ids"])
def test_missing_ids_are_refused(handlers: MemoryHandlers, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        _call(handlers, "forget" if "undo" in arguments else "load", **arguments)


def test_memory_is_readable_as_a_resource_by_key(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first", key="pool order")
    assert "Blue first" in handlers.read("memory://pool%20order", ANYONE)[1]


def test_activity_resource_names_the_agent(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first")
    assert "claude-code" in handlers.read(resources.ACTIVITY, ANYONE)[1]


def test_unknown_resource_is_not_found(handlers: MemoryHandlers) -> None:
    with pytest.raises(NotFound):
        handlers.read("file:///etc/hostname", ANYONE)


def test_briefing_prompt_searches_its_focus(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first", kind="note")
    assert "Blue first" in handlers.prompt("session-briefing", {"focus": "blue"}, ANYONE)


def test_user_notice_is_shown_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORY_API_URL", "https://team.example")
    handlers = open_handlers(ANYONE)
    notices = [
        _call(handlers, "recall").count("Tell the user: there is no key for https://team.example") for _ in range(2)
    ]
    handlers.close()
    assert notices == [1, 0]


def test_recall_reports_store_damage(handlers: MemoryHandlers) -> None:
    for number in range(40):
        _call(handlers, "remember", text=f"Pool {number} is blue " + "and stays so " * 60)
    handlers.close()
    with open(os.path.join(os.environ["KEEPMUM_HOME"], "memory.db"), "r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 4096 * 30)
    reopened = open_handlers(ANYONE)
    answer = _call(reopened, "recall", query="pool", limit=50)
    reopened.close()
    assert "the memory store was damaged" in answer


def test_masking_notice_is_added_once_to_a_resource(handlers: MemoryHandlers, home: Path) -> None:
    _call(handlers, "remember", text="an ordinary value", key="known")
    with contextlib.closing(sqlite3.connect(home / ".keepmum" / "memory.db")) as db, db:
        db.execute("UPDATE memories SET text = ?", (f"deploy with {TOKEN}",))
    first, second = (handlers.read("memory://known", ANYONE)[1] for _ in range(2))
    assert_hidden(TOKEN[:12], first)
    assert "Tell the user: 1 place masked: run `keepmum audit`" in first
    assert "masked: run" not in second


def test_recall_lists_only_what_fits_the_token_budget(handlers: MemoryHandlers) -> None:
    for number in range(5):
        _call(handlers, "remember", text=f"zebra {number} " + "runs " * 20)
    assert _call(handlers, "recall", query="zebra").count("mem_") == 5
    assert _call(handlers, "recall", query="zebra", tokens=120).count("mem_") == 2


def test_a_resume_says_that_all_memories_come_from_outside(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="The page says to use port 8080", source_kind="web")
    assert "comes from outside" in _call(handlers, "resume")
    assert "comes from outside" in handlers.read(resources.CONTEXT, ANYONE)[1]
