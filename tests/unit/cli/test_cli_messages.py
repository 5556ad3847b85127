"""What commands say to a person: hints, defaults, numbers in words, and output for a terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hidden import assert_hidden
from keepmum.cli import commands, terminal
from keepmum.core.wording import counted
from keepmum.workspace import project as projects
from unit.cli.conftest import Command

TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
KNOWN = list(commands.COMMANDS)

pytestmark = pytest.mark.usefixtures("project")


# -- help and hints


def test_help_is_a_command(keepmum: Command) -> None:
    assert keepmum("help") == keepmum("--help")


@pytest.mark.parametrize("command", KNOWN)
def test_help_of_a_command_is_its_own_help(keepmum: Command, command: str) -> None:
    answer = keepmum("help", command)
    assert answer.status == 0
    assert answer.out.startswith("usage: keepmum")


def test_help_of_an_unknown_command_has_a_hint(keepmum: Command) -> None:
    assert "did you mean `keepmum recall`?" in keepmum("help", "query").err


def test_help_of_an_alias_is_that_of_the_command(keepmum: Command) -> None:
    assert keepmum("help", "search") == keepmum("help", "recall")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("query", "recall"),
        ("serach", "recall"),
        ("config", "status"),
        ("rember", "remember"),
        ("drop", "forget"),
        ("undo", "forget --undo"),
        ("SHOW", "load"),
        ("xyzzy", "help"),
    ],
)
def test_an_unknown_command_has_a_hint(keepmum: Command, word: str, hint: str) -> None:
    answer = keepmum(word)
    assert answer.status == 2
    assert f"`keepmum {hint}`" in answer.err


def test_every_hint_is_a_command() -> None:
    assert {command.split()[0] for command in commands._CALLED_ELSEWHERE.values()} <= set(KNOWN)
    assert not set(commands._CALLED_ELSEWHERE) & {*KNOWN, *commands.ALIASES}


# -- commands without an action


@pytest.mark.parametrize(
    ("words", "same"),
    [(("model",), ("model", "status")), (("outbox",), ("outbox", "list")), (("backend",), ("backend", "list"))],
)
def test_a_family_alone_shows_its_state(keepmum: Command, words: tuple[str, ...], same: tuple[str, ...]) -> None:
    answer = keepmum(*words)
    assert answer.status == 0
    assert answer == keepmum(*same)


def test_guard_alone_lists_servers(keepmum: Command) -> None:
    assert keepmum("guard") == keepmum("guard", "list")


@pytest.mark.parametrize(
    ("words", "missing"),
    [((), "EVENT is missing"), (("stop",), "--client NAME is missing"), (("x",), "EVENT is missing")],
)
def test_hook_says_what_is_missing(keepmum: Command, words: tuple[str, ...], missing: str) -> None:
    answer = keepmum("hook", *words)
    assert answer.status == 0
    assert missing in answer.err
    assert "usage: keepmum hook" in answer.err


@pytest.mark.parametrize(("name", "meant"), [("claude", "claude-code"), ("copilot", "copilot-cli"), ("codx", "codex")])
def test_an_unknown_client_is_repeated_with_the_one_that_was_meant(keepmum: Command, name: str, meant: str) -> None:
    said = keepmum("guard", "add", name, "memory").err
    assert f"there is no client {name!r}" in said
    assert f"Did you mean {meant}?" in said
    said = keepmum("install", "--client", name).err
    assert f"there is no client {name!r}; did you mean {meant}?" in said


def test_a_secret_in_place_of_a_client_is_not_repeated(keepmum: Command) -> None:
    assert_hidden(TOKEN, keepmum("guard", "add", TOKEN, "memory").err)
    assert_hidden(TOKEN, keepmum("guard", "list", TOKEN).err)
    assert_hidden(TOKEN, keepmum("install", "--client", TOKEN).err)


def test_logout_without_a_server_says_what_is_missing(keepmum: Command) -> None:
    said = keepmum("logout").err
    assert "URL: is missing, and no team server is configured; no key is stored for any server" in said


# -- settings


def test_on_writes_no_setting_that_is_the_default(keepmum: Command) -> None:
    keepmum("on")
    path = Path(os.environ["KEEPMUM_HOME"]) / "config.toml"
    assert not path.exists()
    keepmum("off")
    assert "  enabled = false, from" in keepmum("status").out
    keepmum("on")
    assert not path.exists()
    assert "enabled" not in keepmum("status").out


def test_on_keeps_the_other_lines(keepmum: Command) -> None:
    path = Path(os.environ["KEEPMUM_HOME"]) / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# mine\nenabled = false\nscope = 'global'\n", encoding="utf-8")
    keepmum("on")
    assert path.read_text(encoding="utf-8") == "# mine\nscope = 'global'\n"
    assert '  scope = "global", from' in keepmum("status").out


def test_status_determines_the_project_once(keepmum: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    def counting(*arguments: Any) -> projects.Project:
        calls.append(arguments)
        return find_project(*arguments)

    find_project = projects.find_project
    monkeypatch.setattr(projects, "find_project", counting)
    assert keepmum("status").status == 0
    assert len(calls) == 1


# -- numbers


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [
        (0, "memory", "0 memories"),
        (1, "backup", "1 backup"),
        (2, "place", "2 places"),
        (2, "key", "2 keys"),
        (1200, "write", "1,200 writes"),
    ],
)
def test_numbers_agree_with_their_nouns(count: int, noun: str, said: str) -> None:
    assert counted(count, noun) == said


def test_doctor_and_forget_count_in_the_singular(keepmum: Command) -> None:
    keepmum("remember", "The blue pool", "--key", "pool")
    assert "store: 1 memory, all indexed" in keepmum("doctor").out
    assert keepmum("forget", "pool").out.endswith("1 memory trashed\n")


# -- nothing found, or only a part


def test_a_review_that_finds_nothing_says_so(keepmum: Command) -> None:
    keepmum("remember", "The blue pool")
    assert "checked 1 memory; nothing needs attention" in keepmum("review").err


def test_forgetting_nothing_fails(keepmum: Command) -> None:
    keepmum("remember", "The user is located in Hamburg")
    answer = keepmum("forget", "--query", "my address", "--yes")
    assert answer.status == 1
    assert "nothing was removed: no memory has every word of the query" in answer.err


def test_forgetting_again_is_not_a_failure(keepmum: Command) -> None:
    name = keepmum("remember", "The blue pool").out.partition("(")[2].partition(",")[0]
    keepmum("forget", name)
    answer = keepmum("forget", name)
    assert (answer.status, answer.out) == (0, "")
    assert "trashed already: 1 memory" in answer.err


def test_load_prints_what_exists_and_fails_for_the_rest(keepmum: Command) -> None:
    keepmum("remember", "The blue pool", "--key", "blue")
    keepmum("remember", "The green pool", "--key", "green")
    for options in ((), ("--json",)):
        answer = keepmum("load", "blue", "no such key", "green", *options)
        assert answer.status == 1
        assert "The blue pool" in answer.out
        assert "The green pool" in answer.out
        assert "ids[1]: no memory has this key of 11 characters" in answer.err


def test_undo_goes_on_after_an_unknown_id(keepmum: Command) -> None:
    keepmum("remember", "The blue pool", "--key", "blue")
    keepmum("remember", "The green pool", "--key", "green")
    keepmum("forget", "blue", "green")
    answer = keepmum("forget", "--undo", "blue", "unknown", "green")
    assert answer.status == 1
    assert answer.out.count("restored: ") == 2
    assert "ids[1]: " in answer.err


def test_a_list_of_the_latest_says_how_many_there_are(keepmum: Command) -> None:
    for number in range(3):
        keepmum("remember", f"pool {number}")
    assert "the latest 2 of 3; --limit and --tokens show more" in keepmum("recall", "--limit", "2").err
    assert "the latest" not in keepmum("recall", "--limit", "3").err


# -- a terminal


def test_resume_shows_a_person_no_frame(keepmum: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    keepmum("remember", "The blue pool", "--kind", "decision")
    framed = keepmum("resume").out
    assert framed.startswith("<keepmum-memories>\n")
    monkeypatch.setattr(terminal, "is_for_person", lambda: True)
    plain = keepmum("resume").out
    assert "keepmum-memories" not in plain
    assert "They are data" not in plain
    assert "The blue pool" in plain
