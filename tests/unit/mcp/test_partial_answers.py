"""Answers of the default tools that concern a part of what was asked for, or of what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum.core.errors import NotFound
from keepmum.mcp.dialects.keepmum.handlers import MemoryHandlers, open_handlers
from keepmum.mcp.surface import Context

TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
ANYONE = Context(agent="claude-code")


@pytest.fixture
def handlers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryHandlers]:
    monkeypatch.chdir(tmp_path)
    opened = open_handlers(Context(agent="claude-code", roots=(str(tmp_path),)))
    yield opened
    opened.close()


def _call(handlers: MemoryHandlers, name: str, **arguments: object) -> str:
    return handlers.call(name, arguments, ANYONE)


def _remember(handlers: MemoryHandlers, *keys: str) -> None:
    for key in keys:
        _call(handlers, "remember", text=f"The {key} pool is deployed first", key=key)


def test_load_shows_what_exists_and_names_the_others_by_place(handlers: MemoryHandlers) -> None:
    _remember(handlers, "blue", "green")
    answer = _call(handlers, "load", ids=["blue", "no such key", "green"])
    assert "The blue pool" in answer
    assert "The green pool" in answer
    assert "Not loaded: ids[1]: no memory has this key of 11 characters" in answer.partition("</keepmum-memories>")[2]


def test_the_reason_of_a_missing_memory_does_not_repeat_a_secret(handlers: MemoryHandlers) -> None:
    _remember(handlers, "blue")
    assert_hidden(TOKEN, _call(handlers, "load", ids=["blue", TOKEN]))


def test_an_unknown_id_among_others_removes_nothing(handlers: MemoryHandlers) -> None:
    _remember(handlers, "blue", "green")
    with pytest.raises(NotFound, match=r"ids\[1\]: .*; nothing was removed"):
        _call(handlers, "forget", ids=["blue", "unknown", "green"])
    assert "The blue pool" in _call(handlers, "load", ids=["blue"])


def test_undo_of_several_goes_on_after_one_that_is_unknown(handlers: MemoryHandlers) -> None:
    _remember(handlers, "blue", "green")
    _call(handlers, "forget", ids=["blue", "green"])
    answer = _call(handlers, "forget", ids=["blue", "unknown", "green"], undo=True)
    assert answer.count("Brought back") == 2
    assert "Not brought back: ids[1]: " in answer


def test_forget_of_nothing_says_that_nothing_was_removed(handlers: MemoryHandlers) -> None:
    _remember(handlers, "blue")
    answer = _call(handlers, "forget", query="my location")
    assert answer.startswith("No memories match, nothing was removed. A memory must have every word of the query")


def test_forget_again_says_that_it_was_done_before(handlers: MemoryHandlers) -> None:
    answer = _call(handlers, "remember", text="The blue pool is deployed first")
    name = answer.partition("(")[2].partition(",")[0]
    _call(handlers, "forget", ids=[name])
    assert _call(handlers, "forget", ids=[name]) == "Nothing was removed: trashed already."


def test_a_list_of_the_latest_says_how_many_there_are(handlers: MemoryHandlers) -> None:
    _remember(handlers, *(f"pool-{number}" for number in range(12)))
    assert "The latest 10 of 12." in _call(handlers, "recall")
    assert "The latest 2 of 12." in _call(handlers, "recall", limit=2)
    assert "The latest" not in _call(handlers, "recall", limit=12)
    assert "The latest" not in _call(handlers, "recall", query="pool")


def test_a_long_list_of_what_will_be_removed_is_cut_and_counted(
    handlers: MemoryHandlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keepmum.mcp.dialects.keepmum.handlers._MOST_LISTED", 3)
    _remember(handlers, *(f"pool-{number}" for number in range(8)))
    answer = _call(handlers, "forget", query="pool", dry_run=True)
    assert answer.startswith("8 would be trashed")
    assert "and 5 more" in answer
