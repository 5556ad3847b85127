"""`keepmum import` reads memories of other tools."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hidden import assert_hidden
from keepmum.cli.main import main
from keepmum.core.errors import InvalidInput
from keepmum.service import importers

pytestmark = pytest.mark.usefixtures("project")

SEED = (
    "---\nid: mem_a1b2c3d4e5f6\ntimestamp: 1738680652\ntags:\n  - auth\n---\n\n## Chose OAuth2\n\nIt can be revoked\n"
)


def run_import(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of an import."""
    capsys.readouterr()
    status = main(["import", "--yes", *words])
    output = capsys.readouterr()
    return status, output.out.strip(), output.err


def recalled(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    """The results of `recall`, with every field."""
    capsys.readouterr()
    main(["recall", *words, "--limit", "50", "--json"])
    ids = [found["id"] for found in json.loads(capsys.readouterr().out)]
    main(["load", *ids, "--json"])
    memories: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return memories


# What an import in another home changes: anyone could have written the file.
OUTSIDE = {"trust": "outside", "origin": "import"}


def exported(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """All memories with every field, one per line."""
    capsys.readouterr()
    main(["export"])
    return sorted(capsys.readouterr().out.splitlines())


def history(capsys: pytest.CaptureFixture[str], reference: str) -> list[dict[str, Any]]:
    """The former states of a memory, latest first, without their use, which `load` changes."""
    capsys.readouterr()
    main(["load", reference, "--history", "--json"])
    (memory,) = json.loads(capsys.readouterr().out)
    used = {"accessed_at", "access_count"}
    return [
        {**one, "before": {name: value for name, value in one["before"].items() if name not in used}}
        for one in memory["history"]
    ]


ROW: dict[str, Any] = {
    "id": "mem_01m7yytwqcewd9089yc1qzhn18",
    "title": "New",
    "text": "New",
    "created_at": 1,
    "updated_at": 2,
}


def a_graph(folder: Path) -> str:
    lines: list[dict[str, Any]] = [
        {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tabs", "works on billing"]},
        {"type": "entity", "name": "billing", "entityType": "service", "observations": []},
        {"type": "relation", "from": "Ada", "to": "billing", "relationType": "owns"},
    ]
    path = folder / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return str(path)


def a_claude_folder(folder: Path) -> str:
    path = folder / "memory"
    path.mkdir()
    (path / "MEMORY.md").write_text("# Memory\n\n- [Tabs](user_tabs.md) — likes tabs\n- Releases go out on Tuesdays\n")
    (path / "user_tabs.md").write_text("---\nname: Tabs\ndescription: indentation\ntype: user\n---\n\nUse tabs.\n")
    return str(path)


def test_entities_become_facts_with_their_relations(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_import(capsys, a_graph(tmp_path))[:2] == (0, "2 imported, 0 unchanged, 0 refused")
    (ada,) = recalled(capsys, "tabs")
    assert ada["text"] == "Ada\n- likes tabs\n- works on billing\n- owns billing"
    assert ada["data"] == {"entity": "person", "related": [{"to": "billing", "how": "owns"}]}
    assert (ada["kind"], ada["tags"], ada["title"]) == ("fact", ["person"], "Ada")


def test_files_of_claude_become_memories_of_their_kind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_import(capsys, a_claude_folder(tmp_path))[:2] == (0, "2 imported, 0 unchanged, 0 refused")
    tabs, index = recalled(capsys, "tabs")[0], recalled(capsys, "tuesdays")[0]
    assert (tabs["text"], tabs["title"], tabs["kind"], tabs["why"]) == (
        "Use tabs.",
        "Tabs",
        "preference",
        "indentation",
    )
    assert "Tabs" not in index["text"]
    assert "Releases go out on Tuesdays" in index["text"]


def test_files_of_a_repository_become_memories_of_this_project(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    day = tmp_path / "other" / ".memories" / "2025-02-04"
    day.mkdir(parents=True)
    (day / "145052_e5f6.md").write_text(SEED)
    assert run_import(capsys, str(tmp_path / "other"))[:2] == (0, "1 imported, 0 unchanged, 0 refused")
    (found,) = recalled(capsys, "oauth2")
    assert (found["tags"], found["created_at"], found["tier"]) == (["auth"], 1_738_680_652_000, "long")


@pytest.mark.parametrize("make", [a_graph, a_claude_folder])
def test_importing_again_changes_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, make: Any) -> None:
    path = make(tmp_path)
    run_import(capsys, path)
    assert run_import(capsys, path)[:2] == (0, "0 imported, 2 unchanged, 0 refused")


@pytest.mark.parametrize("kind", ["server-memory", "claude", "memories", "keepmum"])
def test_a_secret_in_an_import_is_refused_and_not_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str
) -> None:
    secret = "ghp_" + os.urandom(18).hex()
    path = tmp_path / "import"
    if kind == "server-memory":
        path.write_text(json.dumps({"type": "entity", "name": "x", "entityType": "", "observations": [secret]}))
    elif kind == "keepmum":
        values = {
            "id": "mem_01m7yytwqcewd9089yc1qzhn18",
            "title": "x",
            "text": secret,
            "created_at": 1,
            "updated_at": 1,
        }
        path.write_text(json.dumps(values))
    elif kind == "claude":
        path.mkdir()
        (path / "MEMORY.md").write_text(f"the token is {secret}")
    else:
        (path / "2025-02-04").mkdir(parents=True)
        (path / "2025-02-04" / "a.md").write_text(SEED.replace("It can", secret))
    status, counts, messages = run_import(capsys, str(path))
    assert (status, counts) == (1, "0 imported, 0 unchanged, 1 refused")
    assert "github" in messages
    assert_hidden(secret, messages)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"type": "entity", "name": "a"}\n{"type": "relation", "from": "z"}', "line 2: is a relation of an entity"),
        (b'{"type": "entity", "name": "a"}\nnonsense', "line 2: is not JSON"),
        (b'{"type": "entity", "name": "a"}\n{"type": "else"}', "line 2: is neither an entity"),
        (b'{"type": "entity", "name": "a"}\n\xff', "line 2: is not JSON in UTF-8"),
    ],
)
def test_an_invalid_line_is_reported_and_the_others_are_imported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, problem: str
) -> None:
    (tmp_path / "memory.jsonl").write_bytes(content)
    status, counts, messages = run_import(capsys, str(tmp_path / "memory.jsonl"))
    assert (status, counts) == (1, "1 imported, 0 unchanged, 1 refused")
    assert problem in messages


def test_an_invalid_file_is_reported_and_the_others_are_imported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = Path(a_claude_folder(tmp_path))
    (path / "bad.md").write_bytes(b"\xff\xfe")
    (path / "link.md").symlink_to("/etc/hostname")
    status, counts, messages = run_import(capsys, str(path))
    assert (status, counts) == (1, "2 imported, 0 unchanged, 2 refused")
    assert "bad.md: is not UTF-8 at byte 0" in messages


def test_an_unknown_kind_of_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"neither MEMORY\.md nor folders"):
        importers.format_of(str(tmp_path))


@pytest.mark.parametrize("form", ["lines", "files"])
def test_an_export_can_be_imported_without_loss(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    main(["remember", "Deploys go through: the blue pool\n\n- a\n", "--key", "k", "--why", "a: b", "--tag", "x y"])
    main(["remember", "Everywhere", "--scope", "global", "--importance", "0.9", "--ttl-days", "9"])
    main(["load", "k"])
    before = exported(capsys)
    target = str(tmp_path / "export")
    assert main(["export", *(["--markdown", target] if form == "files" else [target])]) == 0
    monkeypatch.setenv("KEEPMUM_HOME", str(tmp_path / "another home"))
    assert run_import(capsys, target)[:2] == (0, "2 imported, 0 unchanged, 0 refused")
    assert [{**json.loads(line), **OUTSIDE} for line in before] == list(map(json.loads, exported(capsys)))


def test_an_export_with_history_is_imported_with_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pool in ("green", "blue", "red"):
        main(["remember", f"Deploys use the {pool} pool", "--key", "pool", "--why", f"{pool} is free"])
    before, target = history(capsys, "pool"), str(tmp_path / "export")
    assert main(["export", "--history", target]) == 0
    monkeypatch.setenv("KEEPMUM_HOME", str(tmp_path / "another home"))
    assert run_import(capsys, target)[:2] == (0, "1 imported, 0 unchanged, 0 refused")
    assert history(capsys, "pool") == before
    assert [one["before"]["why"] for one in before] == ["blue is free", "green is free"]
    main(["forget", "pool", "--undo"])
    assert "blue is free" in exported(capsys)[0]


def test_an_imported_former_state_stays_in_the_place_of_its_memory(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    past = {"at": 1, "agent": "x", "action": "updated", "before": {"text": "Old", "user": "eve", "scope": "global"}}
    path = tmp_path / "export"
    path.write_text(json.dumps({**ROW, "history": [past]}))
    assert run_import(capsys, str(path))[0] == 0
    (one,) = history(capsys, ROW["id"])
    assert (one["before"]["text"], {"user", "scope"} & {*one["before"]}) == ("Old", set())


@pytest.mark.parametrize(
    "history",
    [
        pytest.param("no list", id="no list"),
        pytest.param(["no object"], id="no object"),
        pytest.param([{"at": 1, "agent": "x"}], id="without the former fields"),
        pytest.param([{"at": 10**20, "agent": "x", "before": {}}], id="a time that no database holds"),
        pytest.param([{"at": True, "agent": "x", "before": {}}], id="a time that is no number"),
    ],
)
def test_a_memory_whose_history_cannot_be_read_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, history: object
) -> None:
    path = tmp_path / "export"
    path.write_text(json.dumps({**ROW, "history": history}))
    status, counts, messages = run_import(capsys, str(path))
    assert (status, counts) == (1, "0 imported, 0 unchanged, 1 refused")
    assert "line 1: has a history that cannot be read" in messages


def test_an_export_into_a_folder_that_is_not_empty_is_refused(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    (project / "a").write_text("x")
    assert main(["export", "--markdown", str(project)]) == 1
    assert "is not empty" in capsys.readouterr().err
