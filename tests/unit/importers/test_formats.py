"""Each format of another tool: recognised, counted, imported with what it says, and only once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foreign_memories import (
    AGENT_MEMORY,
    ENGRAM,
    ENTITIES,
    QDRANT,
    REDIS,
    TOKEN_SAVER,
    document,
    files,
    stored,
    tables,
)
from hidden import assert_hidden
from keepmum.cli.main import main
from keepmum.core import ids
from keepmum.service import importers


@pytest.fixture(autouse=True)
def _elsewhere(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - the home
    """Work in a project that no source names."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


Make = Callable[[Path], Path]

EXPORTED = {
    "version": 1, "exported_at": "2026-02-02", "count": 1,
    "memories": [{"key": "db", "value": "PostgreSQL 16", "type": "decision", "context": "JSONB", "agent_id": "cursor",
                  "created_at": "2026-01-05 09:30:00", "updated_at": "2026-02-01 08:00:00", "access_count": 12,
                  "tags": ["infra"]}],
}  # fmt: skip
FLAT = {
    "version": "1.0", "source": {"project_path": "/home/ada/shop"},
    "memories": [{"key": "decision.queue", "value": ["NATS", 2], "scope": "project", "importance": 4, "verbosity": 2,
                  "created_at": "2026-01-05 09:30:00", "updated_at": "2026-01-06 09:30:00", "access_count": 3,
                  "tags": ["mq"], "created_by": "claude"}],
}  # fmt: skip
CODEX = {
    "MEMORY.md": "---\nrollout_summary_files:\n  - a.md (cwd=/nowhere/shop, updated_at=2026-02-12T10:30:00Z)\n"
    "description: Basket\nkeywords: basket, сумма\n---\n\n- Totals are cents\n",
    "memory_summary.md": "## User Profile\nLikes tabs\n\n## General Tips\nRun the tests\n",
    "raw_memories.md": "raw\n",
    "rollout_summaries/2026-basket.md": "cwd: /nowhere/shop\n\nFixed the basket\n",
    "skills/release/SKILL.md": "---\nname: release\ndescription: how to release\n---\n\n1. tag\n",
}
CURSOR = {
    ".cursor/rules/style.mdc": "---\ndescription: Style\nglobs: src/*.ts, *.tsx\nalwaysApply: false\n---\nUse tabs.\n",
    ".cursorrules": "Answer in Deutsch 🇩🇪\n",
}
SECTIONS = {
    "CLAUDE.md": "Top text\n\n# Build\n\n```sh\n# not a heading\nmake\n```\n\n## Tests\n@docs/tests.md\n"
    "sh tests/run.sh\n\n<!-- keepmum:start -->\nours\n<!-- keepmum:end -->\n",
}
OBSIDIAN = {
    ".obsidian/app.json": "{}",
    "Ideas/Люди.md": "---\ntags: [люди]\ncreated: 2026-01-05\n---\nDas [[Projects|проекты]] и [[absent]]\n",
    "Projects.md": "- part_of [[Люди]]\n",
    "picture.png": "x",
}
KOI = {
    "2025-02-04/145052_e5f6.md": "---\nid: mem_a1b2c3d4e5f6\ntimestamp: 1738680652\ntags: [auth]\n---\n\nChose OAuth2\n"
}

CASES: dict[str, tuple[Make, str, int]] = {  # source, name of its format, number of memories
    "claude-mem": (stored("claude_mem.sql"), "claude-mem", 4),
    "memory-service": (stored("memory_service.sql"), "memory-service", 4),
    "memory-service export": (stored("memory_service.json"), "memory-service", 4),
    "mem0 history": (stored("mem0_history.sql"), "mem0", 3),
    "mem0 export": (stored("mem0.json"), "mem0", 3),
    "server-memory": (stored("server_memory.jsonl"), "server-memory", 3),
    "basic-memory": (stored("basic_memory.json"), "vault", 3),
    "agent-memory": (tables("memories.db", AGENT_MEMORY), "agent-memory", 2),
    "agent-memory export": (document("export.json", EXPORTED), "agent-memory", 1),
    "token-saver": (tables("memory.db", TOKEN_SAVER), "token-saver", 2),
    "token-saver export": (document("export.json", FLAT), "token-saver", 1),
    "engram": (tables("engram.db", ENGRAM), "engram", 3),
    "qdrant": (document("points.json", QDRANT), "qdrant", 2),
    "per-user export": (document("ada.json", {"userId": "ada", "memories": ENTITIES}), "per-user", 2),
    "redis": (document("redis.json", REDIS), "per-user", 2),
    "codex": (files("memories", CODEX), "codex", 5),
    "cursor": (files("repository", CURSOR), "cursor", 2),
    "instructions": (lambda folder: files("r", SECTIONS)(folder) / "CLAUDE.md", "instructions", 3),
    "obsidian": (files("vault", OBSIDIAN), "vault", 2),
    "koi": (files(".memories", KOI), "memories", 1),
}


def run_import(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["import", *map(str, words)])
    return status, *capsys.readouterr()


def imported(capsys: pytest.CaptureFixture[str], folder: Path, make: Make, *words: str) -> dict[str, dict[str, Any]]:
    """What is stored after an import, by the first line of its text."""
    assert run_import(capsys, make(folder), "--yes", *words)[0] == 0
    return everything(capsys)


def everything(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    main(["export", "--all"])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {one["text"].splitlines()[0]: one for one in found}


@pytest.mark.parametrize(("make", "name", "count"), CASES.values(), ids=CASES)
def test_each_source_is_recognised_and_imported_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, make: Make, name: str, count: int
) -> None:
    path = make(tmp_path)
    assert importers.format_of(str(path))[0] is importers.format_named(name)
    assert run_import(capsys, path, "--yes")[:2] == (0, f"{count} imported, 0 unchanged, 0 refused\n")
    assert run_import(capsys, path, "--yes")[:2] == (0, f"0 imported, {count} unchanged, 0 refused\n")


@pytest.mark.parametrize("case", ["claude-mem", "memory-service", "agent-memory", "qdrant", "cursor", "obsidian"])
def test_all_of_it_is_from_outside(capsys: pytest.CaptureFixture[str], tmp_path: Path, case: str) -> None:
    for one in imported(capsys, tmp_path, CASES[case][0]).values():
        assert (one["trust"], one["origin"], one["pinned"], one["confirmed_at"]) == ("outside", "import", False, None)


def test_observations_of_claude_mem_keep_what_they_say(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = imported(capsys, tmp_path, stored("claude_mem.sql"))
    one = found["Totals of 3 items were off by a cent"]
    assert one["text"].endswith(
        "Rounding moved to total.ts.\n\n- round() was called in cart.ts and in total.ts\n- cart.ts keeps cents"
    )
    assert (one["title"], one["kind"], one["tags"]) == (
        "Basket total was rounded twice", "troubleshooting", ["problem-solution", "gotcha"],
    )  # fmt: skip
    assert (one["created_by"], one["project"], one["session"], one["created_at"]) == (
        "claude-code", "shop", "memory-1", 1_767_605_400_000,
    )  # fmt: skip
    assert one["data"] == {"type": "bugfix", "files_read": ["src/cart.ts"], "files_modified": ["src/total.ts"]}
    other = found["🚀 Releases go out on Tuesdays"]
    assert (other["created_by"], other["project"]) == ("cursor", "ドキュメント")
    assert found["Investigated: cart.ts"]["title"] == "Fix the basket"


def test_versions_of_memory_service_stay_linked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from keepmum.service.importers.item import stable_id

    imported(capsys, tmp_path, stored("memory_service.sql"))
    capsys.readouterr()
    new = "38275fb318c43deddb7c4a2ac6296356e7af75fd8a3bb5a9894c695545a2d951"
    old = "2b6896363a815d1f54c6e440f1146e28881759898d2254d75fc3e63f84219fa3"
    main(["load", *(stable_id("mcp-memory-service", one) for one in (new, old)), "--json"])
    after, before = json.loads(capsys.readouterr().out)
    assert (before["status"], before["superseded_by"], after["supersedes"]) == ("superseded", after["id"], before["id"])


def test_metadata_of_memory_service_is_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = imported(capsys, tmp_path, stored("memory_service.sql"))["Chose PostgreSQL 16 for orders"]
    assert (one["created_by"], one["access_count"], one["kind"], one["project"]) == ("ada", 4, "decision", "shop")
    assert (one["created_at"], one["updated_at"]) == (1_767_605_400_000, 1_767_605_460_000)


def test_mem0_keeps_ids_owners_and_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = imported(capsys, tmp_path, stored("mem0.json"))["Works on billing and on search"]
    assert ids.to_uuid(one["id"]) == "b0e50066-1da9-406e-8b2f-7e456605a795"
    assert (one["created_by"], one["session"], one["data"]) == (
        "cursor", "run-1", {"user_id": "ada", "role": "user", "metadata": {"topic": "editor"}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "first", "former"),
    [
        (stored("mem0_history.sql"), "Works on billing and on search", (["Works on billing"], ["mem0"])),
        (tables("memories.db", AGENT_MEMORY), "PostgreSQL 16", (["PostgreSQL 15", "MySQL 8"], ["cursor", "claude-ai"])),
    ],
)
def test_former_texts_become_history(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, make: Make, first: str, former: tuple[list[str], list[str]]
) -> None:
    one, (texts, agents) = imported(capsys, tmp_path, make)[first], former
    capsys.readouterr()
    assert main(["load", one["id"], "--history"]) == 0
    shown = capsys.readouterr().out
    assert [shown.index(text) for text in texts] == sorted(shown.index(text) for text in texts)
    assert all(agent in shown for agent in agents)
    assert one["revision"] == len(texts) + 1


def test_agent_memory_keeps_author_dates_use_and_reason(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = imported(capsys, tmp_path, tables("memories.db", AGENT_MEMORY))
    one = found["PostgreSQL 16"]
    assert (one["created_by"], one["key"], one["kind"], one["why"], one["scope"]) == (
        "cursor", "db", "decision", "JSONB and familiar", "global",
    )  # fmt: skip
    assert (one["tags"], one["access_count"]) == (["infra", "db"], 12)
    assert (one["created_at"], one["updated_at"]) == (1_767_605_400_000, 1_769_932_800_000)
    assert found["タブを使う 🏁"]["key"] == "стиль"


def test_token_saver_keeps_values_levels_and_tags(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = imported(capsys, tmp_path, tables("memory.db", TOKEN_SAVER))
    one = found['{"flow": "PKCE", "ttl": 3600}']
    assert one["data"] == {"verbosity": 3, "value": {"flow": "PKCE", "ttl": 3600}}
    assert (one["importance"], one["tags"], one["created_by"], one["access_count"]) == (
        1.0, ["auth", "oauth"], "claude", 9,
    )  # fmt: skip
    assert (one["project"], one["kind"]) == ("shop", "decision")
    assert (found["Prefers short answers"]["scope"], found["Prefers short answers"]["importance"]) == ("global", 0.25)


def test_the_flat_export_of_token_saver_loses_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (one,) = imported(capsys, tmp_path, document("export.json", FLAT)).values()
    assert (one["importance"], one["tags"], one["data"], one["access_count"], one["created_by"]) == (
        0.75, ["mq"], {"verbosity": 2, "value": ["NATS", 2]}, 3, "claude",
    )  # fmt: skip
    assert (one["created_at"], one["key"]) == (1_767_605_400_000, "decision.queue")


def test_points_keep_agent_key_owner_and_decay(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = imported(capsys, tmp_path, document("points.json", QDRANT))["Deploys go through the blue pool"]
    assert ids.to_uuid(one["id"]) == "3b0f4e52-5c3a-4d1e-9a51-3f1a2b3c4d5e"
    assert (one["agent"], one["created_by"], one["updated_by"], one["project"], one["tier"]) == (
        "codex", "ada-key", "bob-key", "shop", "mid",
    )  # fmt: skip
    assert (one["access_count"], one["accessed_at"]) == (5, 1_770_019_200_000)


def test_a_users_memories_stay_that_users(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert imported(capsys, tmp_path, document("redis.json", REDIS)) == {}
    monkeypatch.setenv("KEEPMUM_USER", "ada")
    one = everything(capsys)["Lives in Hamburg"]
    assert (one["user"], one["importance"], one["confidence"], one["supersedes"], one["session"]) == (
        "ada", 0.8, 0.9, "mem_01jh0000000000000000000001", "conv-1",
    )  # fmt: skip


def test_notes_keep_links_to_each_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = imported(capsys, tmp_path, stored("basic_memory.json"))
    coffee, water, friend = found["# Coffee Brewing"], found["# Water Temperature"], found["# 山田さんのメモ"]
    assert coffee["data"]["related"] == [
        {"to": water["id"], "how": "requires"}, {"to": friend["id"], "how": "links to"},
    ]  # fmt: skip
    assert (coffee["tags"], coffee["title"]) == (["coffee", "method"], "Coffee Brewing")


def test_instructions_come_by_section(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = imported(capsys, tmp_path, CASES["instructions"][0])
    assert {one["title"]: one["text"] for one in found.values()} == {
        "Top text": "Top text", "Build": "```sh\n# not a heading\nmake\n```", "Build / Tests": "sh tests/run.sh",
    }  # fmt: skip
    assert {one["kind"] for one in found.values()} == {"instruction"}


def test_a_preview_says_what_cannot_be_kept_and_stores_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tables("engram.db", ENGRAM)(tmp_path)
    status, out, err = run_import(capsys, path, "--dry-run")
    assert (status, out) == (0, "")
    assert "3 memories, 2026-01-05 to 2026-01-06" in err
    assert "not kept: memories that were deleted (1)" in err
    assert "not kept: rows of the table user_prompts (1)" in err
    assert "shop (not known here) 2" in err
    assert everything(capsys) == {}


def test_without_a_terminal_an_import_needs_yes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tables("engram.db", ENGRAM)(tmp_path)
    status, _, err = run_import(capsys, path)
    assert status == 1
    assert "nothing was imported" in err
    assert everything(capsys) == {}


def test_a_change_in_the_source_is_imported_later(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tables("memories.db", AGENT_MEMORY)(tmp_path)
    run_import(capsys, path, "--yes")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE memories SET value = 'PostgreSQL 17', updated_at = '2026-03-01 08:00:00' WHERE id = 7")
    db.close()
    assert run_import(capsys, path, "--yes")[1] == "0 imported, 1 updated, 1 unchanged, 0 refused\n"
    assert everything(capsys)["PostgreSQL 17"]["revision"] == 4


def test_what_was_changed_or_forgotten_here_stays_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tables("memories.db", AGENT_MEMORY)(tmp_path)
    run_import(capsys, path, "--yes")
    main(["forget", "db", "--yes"])
    assert run_import(capsys, path, "--yes")[1] == "0 imported, 2 unchanged, 0 refused\n"
    assert "PostgreSQL 16" not in everything(capsys)


def test_a_key_that_is_taken_here_is_left_out_and_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["remember", "SQLite", "--key", "db", "--scope", "global"])
    status, out, err = run_import(capsys, tables("memories.db", AGENT_MEMORY)(tmp_path), "--yes")
    assert (status, out) == (0, "2 imported, 0 unchanged, 0 refused\n")
    assert "1 without the key" in err
    found = everything(capsys)
    assert (found["SQLite"]["key"], found["PostgreSQL 16"]["key"]) == ("db", None)


def test_here_puts_all_into_this_project(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["remember", "of this project"])
    found = imported(capsys, tmp_path, stored("claude_mem.sql"), "--here")
    assert {one["project"] for one in found.values()} == {found["of this project"]["project"]}


_SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2
_PLANTED = {
    "value": "UPDATE memories SET value = ? WHERE id = 8",
    "key": "UPDATE memories SET key = ? WHERE id = 8",
    "context": "UPDATE memories SET context = ? WHERE id = 8",
    "author": "UPDATE memories SET agent_id = ? WHERE id = 8",
    "tag": "INSERT INTO tags VALUES (8, ?)",
}


@pytest.mark.parametrize("statement", _PLANTED.values(), ids=_PLANTED)
def test_a_secret_in_any_field_is_refused_and_listed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, statement: str
) -> None:
    path = tables("memories.db", AGENT_MEMORY)(tmp_path)
    with sqlite3.connect(path) as db:
        db.execute(statement, (_SECRET,))
    db.close()
    status, out, err = run_import(capsys, path, "--yes")
    assert (status, out) == (1, "1 imported, 0 unchanged, 1 refused\n")
    assert "memories, row 8: refused" in err
    assert_hidden(_SECRET, out + err)


@pytest.mark.parametrize("column", ["old_value", "changed_by"])
def test_a_secret_in_a_former_state_is_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, column: str
) -> None:
    path = tables("memories.db", AGENT_MEMORY)(tmp_path)
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE memory_history SET {column} = ? WHERE id = 1", (_SECRET,))
    db.close()
    status, out, err = run_import(capsys, path, "--yes")
    assert (status, out) == (0, "2 imported, 0 unchanged, 0 refused\n")
    assert "1 former states left out" in err
    main(["load", "db", "--history"])
    assert_hidden(_SECRET, out + err + capsys.readouterr().out)


def test_a_secret_in_a_field_that_is_not_kept_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    row = {"id": "mem_01m7yytwqcewd9089yc1qzhn18", "title": "x", "text": "y", "created_at": 1, "updated_at": 1,
           "confirmed_at": 1, "confirmed_by": _SECRET}  # fmt: skip
    path = tmp_path / "all.jsonl"
    path.write_text(json.dumps(row))
    status, out, err = run_import(capsys, path, "--yes")
    assert (status, out) == (1, "0 imported, 0 unchanged, 1 refused\n")
    assert_hidden(_SECRET, out + err)
