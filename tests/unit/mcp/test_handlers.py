"""The default tools over a real store: what a model is told, and what it is not."""

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
    """Handlers over an empty store, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    opened = open_handlers(Context(agent="claude-code", roots=(str(tmp_path),)))
    yield opened
    opened.close()


def _call(handlers: MemoryHandlers, name: str, **arguments: object) -> str:
    return handlers.call(name, arguments, ANYONE)


def _repository(folder: Path) -> str:
    (folder / ".git").mkdir(parents=True)
    return str(folder)


def _note(home: Path, session: str, folder: str) -> None:
    path = Path(places.session_note(str(home / ".keepmum"), session))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cwd": folder, "briefed": False}))


def _where(handlers: MemoryHandlers, session: str, *roots: str) -> str | None:
    """The folder of the project that the handlers work in after a client said so."""
    handlers.roots_changed(Context(roots=roots, session=session))
    return handlers._service.place.root


def test_a_sessions_note_names_the_project_where_the_client_does_not(
    handlers: MemoryHandlers, tmp_path: Path, home: Path
) -> None:
    folder = _repository(tmp_path / "a")
    _note(home, "one", folder)
    assert _where(handlers, "one") == folder
    assert handlers._service.place.session == "one"


def test_a_sessions_note_tells_the_part_of_a_repository_that_has_a_project_of_its_own(
    handlers: MemoryHandlers, tmp_path: Path, home: Path
) -> None:
    top = _repository(tmp_path / "a")
    part = tmp_path / "a" / "part"
    part.mkdir()
    (part / ".keepmum.toml").write_text('project = "part"\n')
    _note(home, "one", str(part))
    assert _where(handlers, "one", top) == str(part)


def test_a_note_of_a_session_that_has_moved_on_says_nothing(
    handlers: MemoryHandlers, tmp_path: Path, home: Path
) -> None:
    _note(home, "one", _repository(tmp_path / "old"))
    new = _repository(tmp_path / "new")
    assert _where(handlers, "one", new) == new


def test_where_a_project_is_switched_off_nothing_is_kept_and_elsewhere_it_is_again(
    handlers: MemoryHandlers, tmp_path: Path
) -> None:
    off, on = _repository(tmp_path / "off"), _repository(tmp_path / "on")
    (tmp_path / "off" / ".keepmum.toml").write_text("enabled = false\n")
    _where(handlers, "one", off)
    with pytest.raises(SwitchedOff, match=r"by .*\.keepmum\.toml:1"):
        _call(handlers, "remember", text="Blue first")
    _where(handlers, "two", on)
    assert "Kept" in _call(handlers, "remember", text="Blue first")


@pytest.mark.parametrize("text", ["", "[]", '{"cwd": 7}', '{"cwd": "/is/not/there"}', "\udcff"])
def test_a_note_that_says_nothing_is_none(handlers: MemoryHandlers, tmp_path: Path, home: Path, text: str) -> None:
    _note(home, "one", "")
    Path(places.session_note(str(home / ".keepmum"), "one")).write_text(text, errors="surrogateescape")
    new = _repository(tmp_path / "new")
    assert _where(handlers, "one", new) == new


def test_what_was_kept_is_found(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Deploys go through the blue pool first")
    assert "blue pool" in _call(handlers, "recall", query="which pool?")


def test_who_wrote_it_is_told(handlers: MemoryHandlers) -> None:
    assert "by claude-code" in _call(handlers, "remember", text="Blue first")


def test_secret_is_refused_without_its_words(handlers: MemoryHandlers) -> None:
    with pytest.raises(SecretFound) as refused:
        _call(handlers, "remember", text=f"The job signs in with {TOKEN}.")
    assert not any(piece in str(refused.value) for piece in (TOKEN, TOKEN[:8], "signs in"))


def test_change_under_a_key_tells_how_to_undo_it(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first", key="pool")
    assert "`forget` with `undo` puts it back" in _call(handlers, "remember", text="Green first", key="pool")


def test_undo_brings_the_value_before_back(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first", key="pool")
    _call(handlers, "remember", text="Green first", key="pool")
    _call(handlers, "forget", ids=["pool"], undo=True)
    assert "Blue first" in _call(handlers, "load", ids=["pool"])


def test_forgetting_by_a_query_lists_first(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first")
    assert "nothing was removed yet" in _call(handlers, "forget", query="blue")
    assert "Blue first" in _call(handlers, "recall")


def test_forgetting_by_a_query_is_done_once_confirmed(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first")
    code = _call(handlers, "forget", query="blue").partition('confirm "')[2].partition('"')[0]
    assert _call(handlers, "forget", query="blue", confirm=code).startswith("1 trashed")


def test_empty_memory_says_so(handlers: MemoryHandlers) -> None:
    assert [_call(handlers, name).startswith("Nothing is remembered") for name in ("recall", "resume")] == [True] * 2


def test_days_to_live_are_kept_as_given(handlers: MemoryHandlers) -> None:
    assert "Kept" in _call(handlers, "remember", text="Freeze until the release", ttl_days=0.5)


@pytest.mark.parametrize("arguments", [{"ids": []}, {"undo": True}], ids=["no ids", "undo without ids"])
def test_missing_ids_are_asked_for(handlers: MemoryHandlers, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        _call(handlers, "forget" if "undo" in arguments else "load", **arguments)


def test_memory_is_a_resource_under_its_key(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first", key="pool order")
    assert "Blue first" in handlers.read("memory://pool%20order", ANYONE)[1]


def test_activity_names_the_agent(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first")
    assert "claude-code" in handlers.read(resources.ACTIVITY, ANYONE)[1]


def test_other_resources_are_not_found(handlers: MemoryHandlers) -> None:
    with pytest.raises(NotFound):
        handlers.read("file:///etc/hostname", ANYONE)


def test_briefing_prompt_looks_its_topic_up(handlers: MemoryHandlers) -> None:
    _call(handlers, "remember", text="Blue first", kind="note")
    assert "Blue first" in handlers.prompt("session-briefing", {"focus": "blue"}, ANYONE)


def test_what_the_user_has_to_know_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORY_API_URL", "https://team.example")
    handlers = open_handlers(ANYONE)
    told = [
        _call(handlers, "recall").count("Tell the user: there is no key for https://team.example") for _ in range(2)
    ]
    handlers.close()
    assert told == [1, 0]


def test_damage_that_a_question_meets_is_told_with_its_answer(handlers: MemoryHandlers) -> None:
    for number in range(40):
        _call(handlers, "remember", text=f"Pool {number} is blue " + "and stays so " * 60)
    handlers.close()
    with open(os.path.join(os.environ["KEEPMUM_HOME"], "memory.db"), "r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 4096 * 30)
    anew = open_handlers(ANYONE)
    answer = _call(anew, "recall", query="pool", limit=50)
    anew.close()
    assert "the memory store was damaged" in answer


def test_a_resource_says_once_that_something_was_masked_as_recall_does(handlers: MemoryHandlers, home: Path) -> None:
    _call(handlers, "remember", text="an ordinary value", key="known")
    with contextlib.closing(sqlite3.connect(home / ".keepmum" / "memory.db")) as db, db:
        db.execute("UPDATE memories SET text = ?", (f"deploy with {TOKEN}",))
    first, second = (handlers.read("memory://known", ANYONE)[1] for _ in range(2))
    assert_hidden(TOKEN[:12], first)
    assert "Tell the user: 1 place masked: run `keepmum audit`" in first
    assert "masked: run" not in second


def test_a_recall_lists_no_more_than_can_be_loaded_for_so_many_tokens(handlers: MemoryHandlers) -> None:
    for number in range(5):
        _call(handlers, "remember", text=f"zebra {number} " + "runs " * 20)
    assert _call(handlers, "recall", query="zebra").count("mem_") == 5
    assert _call(handlers, "recall", query="zebra", tokens=120).count("mem_") == 2
