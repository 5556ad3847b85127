"""The SessionStart hook prints remarks on code only for the commit that they are about, without starting git."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepmum_hooks.checked_out import commit_at, for_commit, with_remarks

ONE, OTHER = "1" * 40, "2" * 40
CONTENT = with_remarks("text; changed", ONE[:12], "text")


def _repository(folder: Path, head: str, **files: str) -> Path:
    git = folder / ".git"
    for name, text in {"HEAD": head, **files}.items():
        path = git / name.replace("__", "/").replace("packed_refs", "packed-refs")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return folder


@pytest.fixture
def on_main(tmp_path: Path) -> Path:
    return _repository(tmp_path / "a", "ref: refs/heads/main", refs__heads__main=ONE)


def test_the_commit_of_a_branch_is_read(on_main: Path) -> None:
    assert commit_at(str(on_main)) == ONE


def test_a_folder_inside_the_working_tree_has_its_commit(on_main: Path) -> None:
    (on_main / "b" / "c").mkdir(parents=True)
    assert commit_at(str(on_main / "b" / "c")) == ONE


def test_a_detached_head_is_a_commit(tmp_path: Path) -> None:
    assert commit_at(str(_repository(tmp_path, OTHER))) == OTHER


def test_a_packed_branch_is_found(tmp_path: Path) -> None:
    packed = f"# pack-refs with: peeled\n{OTHER} refs/heads/main-2\n{ONE} refs/heads/main"
    assert commit_at(str(_repository(tmp_path, "ref: refs/heads/main", packed_refs=packed))) == ONE


def test_a_linked_working_tree_has_its_own_commit(on_main: Path, tmp_path: Path) -> None:
    _repository(
        on_main,
        "ref: refs/heads/main",
        refs__heads__side=OTHER,
        worktrees__side__HEAD="ref: refs/heads/side",
        worktrees__side__commondir="../..",
    )
    linked = tmp_path / "side"
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {on_main}/.git/worktrees/side\n")
    assert commit_at(str(linked)) == OTHER


@pytest.mark.parametrize("head", ["", "ref: refs/heads/.invalid", "ref: ../../../secret", "x" * 40, ONE + "0", "ref: "])
def test_what_is_not_a_commit_is_not_taken_for_one(tmp_path: Path, head: str) -> None:
    (tmp_path / "secret").write_text(ONE)
    assert not commit_at(str(_repository(tmp_path / "a" / "b", head)))


def test_without_a_repository_there_is_no_commit(tmp_path: Path) -> None:
    assert not commit_at(str(tmp_path))


def test_remarks_are_printed_for_their_commit_only(on_main: Path) -> None:
    assert for_commit(CONTENT, str(on_main)) == "text; changed"
    (on_main / ".git" / "refs" / "heads" / "main").write_text(OTHER)
    assert for_commit(CONTENT, str(on_main)) == "text"


def test_a_text_with_a_stray_separator_stays_whole(on_main: Path) -> None:
    assert for_commit("a \x1e b", str(on_main)) == "a \x1e b"
