"""SessionStart: the right briefing, once, the note that the server reads, and the removal of old state."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keepmum.core import memory_text
from keepmum_hooks import places
from keepmum_hooks.event import SESSION_START, Event
from keepmum_hooks.start import remove_old_state, start
from keepmum_hooks.switches import Switches

SESSION = "s"
DAY = 86_400  # seconds
LEFT_OUT = f"\nThe rest is left out.\n</{memory_text.TAG}>"
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


def test_the_repositorys_briefing_is_given_in_its_folders(scene: Scene) -> None:
    scene.brief(scene.repository)
    assert scene.start() == TEXT


def test_the_nearest_briefing_is_given(scene: Scene) -> None:
    scene.brief(scene.repository, "far")
    scene.brief(scene.below, "near")
    assert scene.start() == "near"


def test_a_briefing_is_found_through_a_symbolic_link(scene: Scene, tmp_path: Path) -> None:
    scene.brief(scene.repository)
    (tmp_path / "link").symlink_to(scene.below)
    assert scene.start(tmp_path / "link") == TEXT


def test_a_briefing_of_a_folder_above_the_repository_is_not_given(scene: Scene) -> None:
    scene.brief(scene.repository.parent)
    assert scene.start() is None


def test_a_project_file_above_the_repository_extends_the_project(scene: Scene) -> None:
    (scene.repository.parent / ".keepmum.toml").touch()
    scene.brief(scene.repository.parent)
    assert scene.start() == TEXT


def test_outside_a_project_only_the_folders_own_briefing_is_given(scene: Scene) -> None:
    folder = scene.repository.parent / "notes"
    folder.mkdir()
    scene.brief(folder.parent)
    assert scene.start(folder) is None


def test_without_a_briefing_there_is_no_answer(scene: Scene) -> None:
    assert scene.start() is None


def test_a_blank_briefing_is_not_given(scene: Scene) -> None:
    scene.brief(scene.repository, " \n\n")
    assert scene.start() is None


def test_with_briefings_switched_off_none_is_given(scene: Scene) -> None:
    scene.brief(scene.repository)
    off = Switches(enabled=True, capture=True, every=5, unattended=False, briefing=False)
    assert start(Event(kind=SESSION_START, session=SESSION, cwd=str(scene.below)), off, scene.home) is None


def test_a_briefing_file_that_is_a_symbolic_link_is_not_read(scene: Scene, tmp_path: Path) -> None:
    file = scene.brief(scene.repository)
    file.unlink()
    (tmp_path / "other").write_text("not ours", encoding="utf-8")
    file.symlink_to(tmp_path / "other")
    assert scene.start() is None


def test_two_sessions_get_the_same_bytes(scene: Scene) -> None:
    scene.brief(scene.repository)
    assert scene.start(session="one") == scene.start(session="two")


def test_a_long_briefing_is_cut_at_a_line(scene: Scene) -> None:
    line = "x" * 99 + "\n"
    scene.brief(scene.repository, line * 150)
    assert scene.start() == (line * 99).rstrip("\n") + LEFT_OUT


@pytest.mark.parametrize(
    ("second", "kept"),
    [
        pytest.param(4999 - len(LEFT_OUT), 2, id="the second line ends at the limit"),
        pytest.param(5000 - len(LEFT_OUT), 1, id="the second line ends one character after it"),
    ],
)
def test_a_long_briefing_keeps_all_lines_that_fit(scene: Scene, second: int, kept: int) -> None:
    lines = ["x" * 5000, "y" * second, "z" * 100]
    scene.brief(scene.repository, "\n".join(lines))
    assert scene.start() == "\n".join(lines[:kept]) + LEFT_OUT


def test_a_briefing_of_the_maximum_length_is_not_cut(scene: Scene) -> None:
    text = "é" * 10_000
    scene.brief(scene.repository, text)
    assert scene.start() == text


def test_a_single_line_that_is_too_long_is_cut(scene: Scene) -> None:
    scene.brief(scene.repository, "x" * 50_000)
    assert scene.start() == "x" * (10_000 - len(LEFT_OUT)) + LEFT_OUT


def test_a_briefing_that_is_cut_says_so_and_closes_its_frame(scene: Scene) -> None:
    scene.brief(scene.repository, memory_text.block(f"- a line {number}" for number in range(1000)))
    given = scene.start() or ""
    assert given.count(memory_text.TAG) == 2
    assert given.endswith(f"\nThe rest is left out.\n</{memory_text.TAG}>")
    assert len(given) <= 10_000


def test_a_resumed_session_gets_no_second_briefing(scene: Scene) -> None:
    scene.brief(scene.repository)
    scene.start()
    assert scene.start(source="resume") is None


def test_a_session_that_is_resumed_twice_gets_no_second_briefing(scene: Scene) -> None:
    scene.brief(scene.repository)
    scene.start()
    scene.start(source="resume")
    assert scene.start(source="resume") is None


def test_a_resumed_session_without_a_briefing_gets_one(scene: Scene) -> None:
    scene.start()
    scene.brief(scene.repository)
    assert scene.start(source="resume") == TEXT


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "fork", ""])
def test_any_other_start_gets_the_briefing_again(scene: Scene, source: str) -> None:
    scene.brief(scene.repository)
    scene.start()
    assert scene.start(source=source) == TEXT


def test_the_note_contains_the_working_folder(scene: Scene) -> None:
    scene.brief(scene.repository)
    scene.start()
    assert scene.note() == {"briefed": True, "cwd": str(scene.below)}


def test_the_note_is_written_without_a_briefing(scene: Scene) -> None:
    scene.start()
    assert scene.note() == {"briefed": False, "cwd": str(scene.below)}


def test_a_damaged_note_counts_as_missing(scene: Scene) -> None:
    scene.brief(scene.repository)
    note = Path(places.session_note(scene.home, SESSION))
    note.parent.mkdir(parents=True)
    note.write_bytes(b'{"briefed": tr')
    assert scene.start(source="resume") == TEXT


def test_a_note_that_cannot_be_written_does_not_withhold_the_briefing(scene: Scene) -> None:
    scene.brief(scene.repository)
    Path(places.session_note(scene.home, SESSION)).mkdir(parents=True)
    assert scene.start() == TEXT


def test_a_session_without_a_folder_gets_no_briefing(scene: Scene) -> None:
    assert start(Event(kind=SESSION_START, session=SESSION, cwd=""), ON, scene.home) is None


def test_a_start_removes_old_sessions(scene: Scene) -> None:
    old = Path(places.turns_file(scene.home, "old"))
    old.parent.mkdir(parents=True)
    old.touch()
    os.utime(old, (0, 0))
    scene.start()
    assert not old.exists()


def test_old_sessions_are_removed_once_a_day(scene: Scene) -> None:
    scene.start()
    old = Path(places.turns_file(scene.home, "old"))
    old.touch()
    os.utime(old, (0, 0))
    scene.start()
    assert old.exists()


# -- old state ------------------------------------------------------------------------------------------------------


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    folder = Path(places.sessions_folder(str(tmp_path)))
    folder.mkdir(parents=True)
    return folder


def make_file(folder: Path, name: str, days: float) -> Path:
    file = folder / name
    file.touch()
    then = time.time() - days * DAY
    os.utime(file, (then, then))
    return file


@pytest.mark.parametrize(("days", "stays"), [(0, True), (59, True), (61, False), (-30, True)])
def test_session_files_are_kept_for_sixty_days(tmp_path: Path, sessions: Path, days: int, stays: bool) -> None:  # noqa: FBT001 - a column of the table
    file = make_file(sessions, "s.turns", days)
    remove_old_state(str(tmp_path))
    assert file.exists() is stays


def test_one_run_checks_500_files(tmp_path: Path, sessions: Path) -> None:
    for number in range(1200):
        make_file(sessions, f"s{number}.turns", 100)
    remove_old_state(str(tmp_path))
    assert len(os.listdir(sessions)) == 700


def test_every_file_is_checked_within_days(tmp_path: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1200):
        make_file(sessions, f"new{number:04}.turns", 0)
    last = make_file(sessions, "old.turns", 100)
    today = time.time()
    for day in range(3):
        monkeypatch.setattr(time, "time", lambda day=day: today + day * DAY)
        remove_old_state(str(tmp_path))
    assert not last.exists()


def test_without_sessions_no_folder_is_created(tmp_path: Path) -> None:
    remove_old_state(str(tmp_path))
    assert not Path(places.sessions_folder(str(tmp_path))).exists()


def test_a_folder_among_the_sessions_is_kept(tmp_path: Path, sessions: Path) -> None:
    (sessions / "odd").mkdir()
    os.utime(sessions / "odd", (0, 0))
    remove_old_state(str(tmp_path))
    assert (sessions / "odd").exists()


def test_module_caches_are_kept_for_sixty_days(tmp_path: Path) -> None:
    folder = Path(places.module_cache_folder(str(tmp_path)))
    folder.mkdir(parents=True)
    old, new = make_file(folder, "old", 61), make_file(folder, "new", 1)
    remove_old_state(str(tmp_path))
    assert (old.exists(), new.exists()) == (False, True)


def _dead() -> int:
    """The number of a process that ended."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", ""]) as child:
        pass
    return child.pid


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be asked there whether it runs")
@pytest.mark.parametrize("folder", ["", "state", "state/briefings", "state/heartbeat", "cache/modules"])
@pytest.mark.parametrize("form", ["config.toml.{}-1a2b3c4d.part", "config.toml.{}.tmp"])
def test_what_a_dead_process_left_unfinished_is_removed(tmp_path: Path, folder: str, form: str) -> None:
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    dead, running = (tmp_path / folder / form.format(number) for number in (_dead(), os.getpid()))
    dead.touch()
    running.touch()
    remove_old_state(str(tmp_path))
    assert (dead.exists(), running.exists()) == (False, True)


def test_an_unfinished_file_without_a_number_is_removed_after_an_hour(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "briefings"
    folder.mkdir(parents=True)
    for name, age in (("new", 60), ("old", 4000)):
        (folder / f"{name}.part").touch()
        os.utime(folder / f"{name}.part", (time.time() - age,) * 2)
    remove_old_state(str(tmp_path))
    assert os.listdir(folder) == ["new.part"]


def test_the_files_of_others_in_the_home_stay(tmp_path: Path) -> None:
    names = ["memory.db.mended.part", "memory.db.1.part", "notes.tmp", "config.toml"]
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1, 1))
    remove_old_state(str(tmp_path))
    assert set(names) <= set(os.listdir(tmp_path))
