"""Files in every format that Koi, its design and people use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from keepmum.core.errors import Ambiguous
from keepmum.core.memory import Change, Filter
from keepmum.service import MemoryService
from keepmum.stores.markdown import MarkdownStore
from keepmum_scanner import scan
from unit.markdown.markdown_parts import NOW, SEED, a_memory, file_of, found, keep, put, texts


def test_a_file_of_koi_is_read(store: MarkdownStore, folder: Path) -> None:
    put(folder, SEED)
    memory = store.search(["oauth2"], _wanted(), 5)[0][0]
    assert memory.text.startswith("## Chose OAuth2 over JWT")
    assert memory.title == "Chose OAuth2 over JWT for session management"
    assert (memory.tags, memory.created_at, memory.tier) == (("auth", "architecture"), 1_738_680_652_000, "long")
    assert memory.git == {
        "branch": "feature/oauth",
        "commit": "abc1234",
        "dirty": True,
        "files_changed": ["src/auth/oauth.ts", "src/middleware/session.ts"],
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("1738680652", "1738680652000", id="milliseconds"),
        pytest.param("1738680652", "2025-02-04T14:50:52Z", id="ISO 8601"),
        pytest.param("1738680652", '"1738680652"', id="quoted"),
    ],
)
def test_a_timestamp_is_read_in_every_form(store: MarkdownStore, folder: Path, old: str, new: str) -> None:
    put(folder, SEED.replace(old, new))
    memory = store.search(["oauth2"], _wanted(), 5)[0][0]
    assert memory.created_at == 1_738_680_652_000


@pytest.mark.parametrize("name", ["mem_a1b2c3d4e5f6", "mem_a1b2c3d4e5f60718", "2026-02-04-first", "42"])
def test_an_id_of_any_form_identifies_its_memory(store: MarkdownStore, folder: Path, name: str) -> None:
    put(folder, SEED.replace("mem_a1b2c3d4e5f6", name))
    memory = store.search(["oauth2"], _wanted(), 5)[0][0]
    assert store.with_file_id(name) == [memory.id]
    assert (store.file_of(memory.id) or ("",))[0] == name


@pytest.mark.parametrize("name", ["mem_a1b2c3d4e5f6", "mem_a1b2c3d4e5f60718", "2026-02-04-first", "42"])
def test_a_memory_is_loaded_by_the_id_in_its_file(store: MarkdownStore, folder: Path, name: str) -> None:
    put(folder, SEED.replace("mem_a1b2c3d4e5f6", name))
    (memory,) = MemoryService(store, scan).load([name])
    assert memory.text.startswith("## Chose OAuth2 over JWT")


def test_an_id_in_two_files_is_ambiguous_and_both_full_ids_are_named(store: MarkdownStore, folder: Path) -> None:
    put(folder, SEED)
    put(folder, SEED.replace("OAuth2", "OAuth3"), "143053_a1b2.md")
    with pytest.raises(Ambiguous) as caught:
        MemoryService(store, scan).load(["mem_a1b2c3d4e5f6"])
    assert all(memory in str(caught.value) for memory in store.with_file_id("mem_a1b2c3d4e5f6"))


def test_the_old_name_of_the_changed_files_is_read(store: MarkdownStore, folder: Path) -> None:
    put(folder, SEED.replace("files_changed", "filesChanged"))
    git = store.search(["oauth2"], _wanted(), 5)[0][0].git
    assert git is not None
    assert git["files_changed"] == ["src/auth/oauth.ts", "src/middleware/session.ts"]


def test_a_commit_of_digits_stays_text(store: MarkdownStore, folder: Path) -> None:
    put(folder, SEED.replace("abc1234", "0123456"))
    git = store.search(["oauth2"], _wanted(), 5)[0][0].git
    assert git is not None
    assert git["commit"] == "0123456"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("tags:\n  - auth\n  - architecture", "tags: [auth, architecture]", id="flow"),
        pytest.param("tags:\n  - auth\n  - architecture", "tags:\n- auth\n- architecture", id="not indented"),
        pytest.param("tags:\n  - auth\n  - architecture", "tags:\n  - \"auth\"\n  - 'architecture' # why", id="quotes"),
        pytest.param("tags:\n  - auth\n  - architecture", "tags: auth, architecture", id="commas"),
    ],
)
def test_tags_are_read_in_every_form(store: MarkdownStore, folder: Path, old: str, new: str) -> None:
    put(folder, SEED.replace(old, new))
    assert store.search(["oauth2"], _wanted(), 5)[0][0].tags == ("auth", "architecture")


def test_windows_line_ends_and_a_byte_order_mark_are_read(store: MarkdownStore, folder: Path) -> None:
    put(folder, "\ufeff" + SEED.replace("\n", "\r\n"))
    assert found(store, "oauth2") == [SEED.partition("---\n\n")[2].removesuffix("\n")]


def test_a_new_file_has_the_form_of_koi(store: MarkdownStore) -> None:
    memory = a_memory(tags=("db",), git={"branch": "main", "commit": "abc1234", "dirty": False, "files_changed": []})
    keep(store, memory)
    path = file_of(store, memory)
    assert path.match(".memories/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]/[0-9][0-9][0-9][0-9][0-9][0-9]_????.md")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "---"
    assert lines[1].startswith("id: mem_")
    assert len(lines[1]) == len("id: mem_") + 12
    assert lines[3:11] == [
        "timestamp: 1790000000",
        "tags:",
        "  - db",
        "git:",
        "  branch: main",
        "  commit: abc1234",
        "  dirty: false",
        "  files_changed: []",
    ]


def test_a_change_touches_only_the_lines_it_is_about(store: MarkdownStore, folder: Path) -> None:
    before = SEED.replace("id: mem", "# mine\nunknown:  {a: [1, 2]}   # kept\nid: mem").replace("\n", "\r\n")
    path = put(folder, before)
    memory = store.search(["oauth2"], _wanted(), 5)[0][0]
    after = replace(memory, tags=("security",), updated_at=NOW, updated_by="codex", revision=memory.revision + 1)
    store.commit([Change(memory, after)])
    changed = before.replace("  - auth\r\n  - architecture\r\n", "  - security\r\n")
    tail = "updated_at: 2026-09-21T14:13:20.000Z\r\nupdated_by: codex\r\nrevision: 2\r\n---\r\n\r\n##"
    assert path.read_bytes().decode() == changed.replace("---\r\n\r\n##", tail)


def test_a_file_that_cannot_be_changed_safely_is_not_changed(store: MarkdownStore, folder: Path) -> None:
    text = "---\n{id: mem_a1b2c3d4e5f6, timestamp: 1738680652}\n---\n\nA zebra\n"
    path = put(folder, text)
    memory = store.search(["zebra"], _wanted(), 5)[0][0]
    with pytest.raises(Exception, match="nothing was stored"):
        store.commit([Change(memory, replace(memory, tags=("x",), revision=2))])
    assert path.read_text() == text
    assert store.get([memory.id]) == [memory]


def test_untouched_files_keep_every_byte(store: MarkdownStore, folder: Path) -> None:
    path = put(folder, SEED)
    keep(store, a_memory("Another"))
    assert texts(store)[1] == "Another"
    assert path.read_text() == SEED


def _wanted() -> Filter:
    return Filter(now=NOW, project="alpha")
