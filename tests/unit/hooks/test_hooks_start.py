"""SessionStart: the right briefing, once, and the note that the server reads."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from keepmum_hooks import places
from keepmum_hooks.event import SESSION_START, Event
from keepmum_hooks.start import start
from keepmum_hooks.switches import Switches

SESSION = "s"
TEXT = "What is known:\n- the pool drains first"
ON = Switches(enabled=True, capture=True, every=5, unattended=False, briefing=True)


class Scene:
    """A home and a repository with a folder in it."""

    def __init__(self, folder: Path) -> None:
        self.home = str(folder / "keepmum")
        self.repository = folder / "user" / "repository"
        self.below = self.repository / "src" / "deep"
        self.below.mkdir(parents=True)
        (self.repository / ".git").mkdir()

    def brief(self, root: Path, text: str = TEXT) -> Path:
        file = Path(places.briefing_file(self.home, str(root)))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def start(self, folder: Path | None = None, source: str = "startup", session: str = SESSION) -> str | None:
        cwd = str(folder or self.below)
        return start(Event(kind=SESSION_START, session=session, cwd=cwd, source=source), ON, self.home)

    def note(self) -> object:
        return json.loads(Path(places.session_note(self.home, SESSION)).read_text(encoding="utf-8"))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_the_briefing_of_the_repository_is_given_below_it(scene: Scene) -> None:
    scene.brief(scene.repository)
    assert scene.start() == TEXT


def test_the_nearest_briefing_is_given(scene: Scene) -> None:
    scene.brief(scene.repository, "far")
    scene.brief(scene.below, "near")
    assert scene.start() == "near"


def test_a_briefing_is_found_through_a_link(scene: Scene, tmp_path: Path) -> None:
    scene.brief(scene.repository)
    (tmp_path / "link").symlink_to(scene.below)
    assert scene.start(tmp_path / "link") == TEXT


def test_the_briefing_of_a_folder_around_the_repository_is_another_projects(scene: Scene) -> None:
    scene.brief(scene.repository.parent)
    assert scene.start() is None


def test_a_project_file_above_makes_one_project_of_the_repositories_below(scene: Scene) -> None:
    (scene.repository.parent / ".keepmum.toml").touch()
    scene.brief(scene.repository.parent)
    assert scene.start() == TEXT


def test_outside_a_project_only_the_folders_own_briefing_is_given(scene: Scene) -> None:
    folder = scene.repository.parent / "notes"
    folder.mkdir()
    scene.brief(folder.parent)
    assert scene.start(folder) is None


def test_without_a_briefing_nothing_is_said(scene: Scene) -> None:
    assert scene.start() is None


def test_a_blank_briefing_says_nothing(scene: Scene) -> None:
    scene.brief(scene.repository, " \n\n")
    assert scene.start() is None


def test_with_briefings_off_nothing_is_said(scene: Scene) -> None:
    scene.brief(scene.repository)
    off = Switches(enabled=True, capture=True, every=5, unattended=False, briefing=False)
    assert start(Event(kind=SESSION_START, session=SESSION, cwd=str(scene.below)), off, scene.home) is None


def test_a_linked_briefing_is_not_followed(scene: Scene, tmp_path: Path) -> None:
    file = scene.brief(scene.repository)
    file.unlink()
    (tmp_path / "other").write_text("not ours", encoding="utf-8")
    file.symlink_to(tmp_path / "other")
    assert scene.start() is None


def test_the_same_briefing_is_given_in_the_same_bytes(scene: Scene) -> None:
    scene.brief(scene.repository)
    assert scene.start(session="one") == scene.start(session="two")


def test_a_long_briefing_is_cut_at_a_line(scene: Scene) -> None:
    line = "x" * 99 + "\n"
    scene.brief(scene.repository, line * 150)
    assert scene.start() == (line * 100).rstrip("\n")


@pytest.mark.parametrize(
    ("second", "kept"),
    [
        pytest.param(4999, 2, id="the second line ends at the limit"),
        pytest.param(5000, 1, id="the second line ends one character behind it"),
    ],
)
def test_the_cut_is_at_the_last_line_that_fits(scene: Scene, second: int, kept: int) -> None:
    lines = ["x" * 5000, "y" * second, "z"]
    scene.brief(scene.repository, "\n".join(lines))
    assert scene.start() == "\n".join(lines[:kept])


def test_a_briefing_that_just_fits_is_whole(scene: Scene) -> None:
    text = "é" * 10_000
    scene.brief(scene.repository, text)
    assert scene.start() == text


def test_a_single_line_that_is_too_long_is_cut_anyway(scene: Scene) -> None:
    scene.brief(scene.repository, "x" * 50_000)
    assert scene.start() == "x" * 10_000


def test_a_resumed_session_is_not_told_twice(scene: Scene) -> None:
    scene.brief(scene.repository)
    scene.start()
    assert scene.start(source="resume") is None


def test_a_session_that_is_resumed_again_is_not_told_either(scene: Scene) -> None:
    scene.brief(scene.repository)
    scene.start()
    scene.start(source="resume")
    assert scene.start(source="resume") is None


def test_a_resumed_session_that_was_never_told_is_told(scene: Scene) -> None:
    scene.start()
    scene.brief(scene.repository)
    assert scene.start(source="resume") == TEXT


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "fork", ""])
def test_any_other_start_is_told_again(scene: Scene, source: str) -> None:
    scene.brief(scene.repository)
    scene.start()
    assert scene.start(source=source) == TEXT


def test_the_note_says_which_folder_the_session_works_in(scene: Scene) -> None:
    scene.brief(scene.repository)
    scene.start()
    assert scene.note() == {"briefed": True, "cwd": str(scene.below)}


def test_the_note_is_left_without_a_briefing(scene: Scene) -> None:
    scene.start()
    assert scene.note() == {"briefed": False, "cwd": str(scene.below)}


def test_a_broken_note_counts_as_none(scene: Scene) -> None:
    scene.brief(scene.repository)
    note = Path(places.session_note(scene.home, SESSION))
    note.parent.mkdir(parents=True)
    note.write_bytes(b'{"briefed": tr')
    assert scene.start(source="resume") == TEXT


def test_a_note_that_cannot_be_left_withholds_nothing(scene: Scene) -> None:
    scene.brief(scene.repository)
    Path(places.session_note(scene.home, SESSION)).mkdir(parents=True)
    assert scene.start() == TEXT


def test_a_session_without_a_folder_is_told_nothing(scene: Scene) -> None:
    assert start(Event(kind=SESSION_START, session=SESSION, cwd=""), ON, scene.home) is None


def test_old_sessions_are_swept(scene: Scene) -> None:
    old = Path(places.turns_file(scene.home, "old"))
    old.parent.mkdir(parents=True)
    old.touch()
    os.utime(old, (0, 0))
    scene.start()
    assert not old.exists()


def test_the_broom_rests_for_a_day(scene: Scene) -> None:
    scene.start()
    old = Path(places.turns_file(scene.home, "old"))
    old.touch()
    os.utime(old, (0, 0))
    scene.start()
    assert old.exists()
