"""Sources that are locked, newer, damaged, huge or hostile: a clear message, and the rest is imported."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreign_memories import AGENT_MEMORY, ENGRAM, database, document
from hidden import assert_hidden
from keepmum.cli import console
from keepmum.cli.main import main
from keepmum.core.errors import InvalidInput
from keepmum.service import importers, imports
from keepmum.service.importers import json_source, sqlite_source
from keepmum.service.importers.field_values import parse_time

pytestmark = pytest.mark.usefixtures("project")

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2


def run_import(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["import", "--yes", *map(str, words)])
    return status, *capsys.readouterr()


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "foreign"
    folder.mkdir()
    return database(folder, "memories.db", AGENT_MEMORY)


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_source_stays_as_it_is(capsys: pytest.CaptureFixture[str], source: Path, journal: str) -> None:
    db = sqlite3.connect(source)
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.close()
    before = snapshot(source.parent)
    assert run_import(capsys, source)[0] == 0
    assert snapshot(source.parent) == before


def test_what_a_running_program_has_not_checkpointed_is_imported(
    capsys: pytest.CaptureFixture[str], source: Path
) -> None:
    db = sqlite3.connect(source)
    db.execute("PRAGMA journal_mode = wal")
    db.execute(
        "INSERT INTO memories VALUES (9, 'k', 'in the log only', 'note', NULL, 'a', '2026-01-05', '2026-01-05', 0)"
    )
    db.commit()
    assert run_import(capsys, source)[1] == "3 imported, 0 unchanged, 0 refused\n"
    db.close()


def test_a_locked_database_is_reported(
    capsys: pytest.CaptureFixture[str], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_source, "_TIMEOUT", 0.01)
    db = sqlite3.connect(source)
    db.execute("BEGIN EXCLUSIVE")
    status, _, err = run_import(capsys, source)
    assert status == 1
    assert "is locked by another program; close that program" in err
    db.close()


def _overwritten(path: Path, start: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(content)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: _overwritten(path, 100, b"\xff" * 3000), "is a damaged database"),
        (lambda path: _overwritten(path, 18, b"\x09\x09"), "newer format|damaged database|cannot be opened"),
        (lambda path: os.truncate(path, 2048), "damaged database"),
        (lambda path: path.write_bytes(b""), "nothing|0 memories|0 imported"),
        (lambda path: path.write_bytes(b"\x00" * 9000), "is not JSON"),
        (lambda path: database(path.parent, "x.db", "CREATE TABLE x (y)").replace(path), "it has the tables x"),
    ],
    ids=["page", "newer", "cut off", "empty", "zeros", "another program's"],
)  # fmt: skip
def test_a_spoilt_database_is_explained(
    capsys: pytest.CaptureFixture[str], source: Path, spoil: Callable[[Path], object], message: str
) -> None:
    spoil(source)
    _, out, err = run_import(capsys, source)
    assert any(part in out + err for part in message.split("|")), err
    assert "Traceback" not in err


def test_rows_above_damage_are_imported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = database(tmp_path, "memories.db", AGENT_MEMORY)
    with sqlite3.connect(path) as db:
        db.executemany(
            "INSERT INTO memories VALUES (?, ?, ?, 'note', NULL, 'a', '2026-01-05', '2026-01-05', 0)",
            [(number, f"k{number}", f"note {number} " * 60) for number in range(100, 400)],
        )
    db.close()
    size = path.stat().st_size
    _overwritten(path, size // 4096 * 3 // 4 * 4096, b"\x00" * 4096)
    status, out, err = run_import(capsys, path)
    assert status == 1
    assert int(out.split()[0]) > 10
    assert "damaged" in err


def test_a_value_that_is_too_large_is_refused_and_the_rest_imported(
    capsys: pytest.CaptureFixture[str], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(source) as db:
        db.execute("UPDATE memories SET value = ? WHERE id = 7", ("x" * 2_000_000,))
    db.close()
    monkeypatch.setattr(sqlite_source, "_LARGEST", 1_000_000)
    status, out, err = run_import(capsys, source)
    assert (status, out) == (1, "1 imported, 0 unchanged, 1 refused\n")
    assert "memories, row 7: has a value of more than" in err


def test_an_older_table_without_some_columns_is_imported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = database(tmp_path, "memories.db", "CREATE TABLE memories (id INTEGER PRIMARY KEY, key, value, agent_id);"
                    "INSERT INTO memories VALUES (1, 'k', 'v', 'a')")  # fmt: skip
    assert run_import(capsys, path)[1] == "1 imported, 0 unchanged, 0 refused\n"


def test_columns_and_tables_of_a_newer_version_are_counted(capsys: pytest.CaptureFixture[str], source: Path) -> None:
    with sqlite3.connect(source) as db:
        db.executescript(
            "ALTER TABLE memories ADD COLUMN mood TEXT; UPDATE memories SET mood = 'good' WHERE id = 7;"
            "CREATE TABLE feelings (x); INSERT INTO feelings VALUES (1), (2);"
        )
    db.close()
    err = run_import(capsys, source)[2]
    assert "not kept: values of memories.mood (1)" in err
    assert "not kept: rows of the table feelings (2)" in err


def test_a_document_that_is_cut_off_is_imported_up_to_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [{"key": f"k{number}", "value": "v", "agent_id": "a"} for number in range(3)]
    path = document("export.json", {"memories": rows})(tmp_path)
    path.write_text(path.read_text()[:-30])
    status, out, err = run_import(capsys, path)
    assert (status, out) == (1, "2 imported, 0 unchanged, 1 refused\n")
    assert "ends too early; what is above it was read" in err


def test_instructions_of_a_megabyte_are_imported_by_section(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    section = "The service reads its settings at the start and then again every minute.\n" * 60
    (tmp_path / "CLAUDE.md").write_text("".join(f"# Part {number}\n{section}" for number in range(240)))
    assert (tmp_path / "CLAUDE.md").stat().st_size > 1 << 20
    _, out, _ = run_import(capsys, tmp_path / "CLAUDE.md")
    assert "240 imported" in out


@pytest.mark.parametrize("name", ["CLAUDE.md", "note.md"])
def test_a_file_that_is_named_may_be_a_link(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "AGENTS.md").write_text("# Rules\n\nUse tabs.\n")
    (tmp_path / name).symlink_to(tmp_path / "rules" / "AGENTS.md")
    assert run_import(capsys, tmp_path / name)[:2] == (0, "1 imported, 0 unchanged, 0 refused\n")
    assert run_import(capsys, tmp_path / name)[:2] == (0, "0 imported, 1 unchanged, 0 refused\n")


def test_words_above_an_export_are_left_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [{"key": "k", "value": "v", "type": "note", "agent_id": "a"}]
    path = tmp_path / "export.txt"
    path.write_text("Exported 1 memory.\nType filter: note\n\n" + json.dumps({"memories": rows}, indent=2))
    assert run_import(capsys, path)[1] == "1 imported, 0 unchanged, 0 refused\n"


def test_an_import_that_was_interrupted_goes_on(
    capsys: pytest.CaptureFixture[str], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_BATCH", 1)
    known, path = importers.format_of(str(source))
    with monkeypatch.context() as patch, console.Session(origin="import") as memory:
        patch.setattr(imports.Importer, "_commit", _failing_second(imports.Importer._commit))
        with pytest.raises(KeyboardInterrupt):
            memory.import_all(known.read(path))
    assert run_import(capsys, source)[1] == "1 imported, 1 unchanged, 0 refused\n"


def _failing_second(commit: Callable[..., None]) -> Callable[..., None]:
    calls: list[int] = []

    def failing(*arguments: object) -> None:
        if calls:
            raise KeyboardInterrupt
        calls.append(1)
        commit(*arguments)

    return failing


@pytest.mark.parametrize("name", ["note", "\x1b[2J", SECRET], ids=["plain", "escape sequence", "secret"])
def test_names_that_others_chose_are_shown_safely(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / f"{name}.md").write_bytes(b"\xff")
    (folder / "good.md").write_text("text")
    document("redis.json", {f"memory:ada:{name}": {"content": SECRET}})(tmp_path)
    for path in (folder, tmp_path / "redis.json"):
        status, out, err = run_import(capsys, path)
        assert status == 1
        assert "\x1b" not in err
        assert_hidden(SECRET, out + err)


def test_a_secret_in_the_name_of_a_project_or_author_is_not_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = database(tmp_path, "engram.db", ENGRAM)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE observations SET project = ?", (SECRET,))
        db.execute(f"CREATE TABLE {SECRET} (x)")
        db.execute(f"INSERT INTO {SECRET} VALUES (1)")
    db.close()
    status, out, err = run_import(capsys, path)
    assert status == 1
    assert_hidden(SECRET, out + err)


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="not a regular file"):
        importers.format_of(str(tmp_path / "pipe"))


def test_a_line_without_end_fills_no_memory(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 3_000_000 + b"\n" + b'{"type": "entity", "name": "a", "entityType": ""}\n')
    status, out, err = run_import(capsys, "--from", "server-memory", path)
    assert (status, out) == (1, "1 imported, 0 unchanged, 1 refused\n")
    assert "line 1: has more than" in err


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=12,
    ),
    st.integers(1, 7),
)
def test_a_document_is_read_in_parts_whatever_the_size_of_a_read(value: object, size: int) -> None:
    whole = {"memories": [value, 1, "два"], "other": value if not isinstance(value, (list, dict)) else 1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_source, "_CHUNK", size)
        folder = Path(os.environ["KEEPMUM_HOME"])
        folder.mkdir(exist_ok=True)
        (folder / "x.json").write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
        found = list(json_source.parts(str(folder / "x.json")))
    assert [one for names, one in found if names == ("memories",)] == whole["memories"]
    assert ("other",) in [names for names, _ in found]


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2026-01-05 09:30:00", 1_767_605_400_000),
        ("2026-01-05T09:30:00.000Z", 1_767_605_400_000),
        ("2026-01-05T10:30:00+01:00", 1_767_605_400_000),
        (1_767_605_400, 1_767_605_400_000),
        (1_767_605_400.5, 1_767_605_400_500),
        (1_767_605_400_000, 1_767_605_400_000),
        ("1767605400", 1_767_605_400_000),
        ("yesterday", None),
        (True, None),
        (float("nan"), None),
        (-5, None),
        (10**30, None),
        (None, None),
    ],
)
def test_times_are_read_as_other_tools_write_them(text: object, milliseconds: int | None) -> None:
    assert parse_time(text) == milliseconds
