"""Whether and how often: each switch from the first place that says it, and off means off."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keepmum_hooks import places, switches, toml_lines

SESSION = "s"


class Scene:
    """A home, a project folder and an environment to be switched in."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "keepmum"
        self.project = folder / "project"
        self.below = self.project / "src" / "deep"
        self.home.mkdir()
        self.below.mkdir(parents=True)
        self.environ: dict[str, str] = {}

    def user_says(self, text: str) -> None:
        (self.home / "config.toml").write_text(text, encoding="utf-8")

    def project_says(self, text: str) -> None:
        (self.project / ".keepmum.toml").write_text(text, encoding="utf-8")

    def read(self) -> switches.Switches:
        return switches.read(str(self.home), SESSION, str(self.below), self.environ)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_the_defaults_hold_where_nothing_is_said(scene: Scene) -> None:
    chosen = scene.read()
    assert (chosen.enabled, chosen.capture, chosen.every, chosen.unattended, chosen.briefing) == (
        True,
        True,
        5,
        False,
        True,
    )


def test_the_user_file_says_all(scene: Scene) -> None:
    scene.user_says(
        "enabled = false\nbriefing.enabled = false\n[capture]\nenabled = false\nevery = 7\nunattended = true\n"
    )
    chosen = scene.read()
    assert (chosen.enabled, chosen.capture, chosen.every, chosen.unattended, chosen.briefing) == (
        False,
        False,
        7,
        True,
        False,
    )


def test_the_project_file_wins_over_the_users(scene: Scene) -> None:
    scene.user_says("capture.every = 7")
    scene.project_says("capture.every = 3")
    assert scene.read().every == 3


def test_the_nearest_project_file_counts(scene: Scene) -> None:
    scene.project_says("capture.every = 3")
    (scene.below / ".keepmum.toml").write_text("capture.every = 2", encoding="utf-8")
    assert scene.read().every == 2


def test_a_project_is_found_through_a_link(scene: Scene, tmp_path: Path) -> None:
    scene.project_says("enabled = false")
    (tmp_path / "link").symlink_to(scene.below)
    assert not switches.read(str(scene.home), SESSION, str(tmp_path / "link"), {}).enabled


def test_the_environment_wins_over_all_files(scene: Scene) -> None:
    scene.user_says("capture.every = 7")
    scene.project_says("capture.every = 3")
    scene.environ = {"KEEPMUM_CAPTURE_EVERY": "2"}
    assert scene.read().every == 2


def test_the_plugins_own_setting_counts_as_environment(scene: Scene) -> None:
    scene.project_says("capture.every = 3")
    scene.environ = {"CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY": "9"}
    assert scene.read().every == 9


def test_our_variable_wins_over_the_plugins_setting(scene: Scene) -> None:
    scene.environ = {"CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY": "9", "KEEPMUM_CAPTURE_EVERY": "2"}
    assert scene.read().every == 2


@pytest.mark.parametrize("text", ["0", "-1", "1001", "five", "2.5", "", " ", "9" * 5000, "²"])
def test_an_interval_that_is_none_is_passed_over(scene: Scene, text: str) -> None:
    scene.environ = {"KEEPMUM_CAPTURE_EVERY": text}
    assert scene.read().every == 5


@pytest.mark.parametrize("text", ["0", "false", "FALSE", " no ", "off"])
def test_the_environment_switches_off(scene: Scene, text: str) -> None:
    scene.environ = {"KEEPMUM_ENABLED": text}
    assert not scene.read().enabled


@pytest.mark.parametrize("text", ["1", "true", "Yes", "on"])
def test_the_environment_switches_reminders_on_where_nobody_watches(scene: Scene, text: str) -> None:
    scene.environ = {"KEEPMUM_CAPTURE_UNATTENDED": text}
    assert scene.read().unattended


def test_the_session_is_off_while_its_marker_exists(scene: Scene) -> None:
    marker = Path(places.off_marker(str(scene.home), SESSION))
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert not scene.read().enabled


def test_another_sessions_marker_does_not_matter(scene: Scene) -> None:
    marker = Path(places.off_marker(str(scene.home), "another"))
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert scene.read().enabled


@pytest.mark.parametrize("name", ["enabled", "capture.enabled", "briefing.enabled"])
def test_a_project_switches_off(scene: Scene, name: str) -> None:
    scene.project_says(f"{name} = false")
    chosen = scene.read()
    assert [chosen.enabled, chosen.capture, chosen.briefing].count(False) == 1


@pytest.mark.parametrize("name", ["enabled", "capture.enabled", "briefing.enabled"])
def test_a_project_turns_nothing_on_that_the_user_turned_off(scene: Scene, name: str) -> None:
    scene.user_says(f"{name} = false")
    scene.project_says(f"{name} = true")
    chosen = scene.read()
    assert [chosen.enabled, chosen.capture, chosen.briefing].count(False) == 1


def test_a_project_cannot_make_unattended_runs_speak(scene: Scene) -> None:
    scene.project_says("capture.unattended = true")
    assert not scene.read().unattended


def test_a_project_file_in_a_folder_for_everyone_is_passed_over(scene: Scene) -> None:
    scene.project_says("enabled = false")
    scene.project.chmod(0o1777)
    assert scene.read().enabled


@pytest.mark.parametrize("value", ['"false"', "0", "[]"])
def test_a_switch_of_the_wrong_type_is_passed_over(scene: Scene, value: str) -> None:
    scene.user_says(f"enabled = {value}")
    assert scene.read().enabled


def test_a_byte_order_mark_is_no_obstacle(scene: Scene) -> None:
    (scene.home / "config.toml").write_bytes(b"\xef\xbb\xbfenabled = false\r\n")
    assert not scene.read().enabled


def test_a_file_that_is_not_utf8_still_switches_off(scene: Scene) -> None:
    (scene.home / "config.toml").write_bytes(b"enabled = false\nname = '\xff'\n")
    assert not scene.read().enabled


def test_a_file_that_is_no_toml_still_switches_off(scene: Scene) -> None:
    scene.user_says("enabled = false\nthis is not TOML\n")
    assert not scene.read().enabled


def test_what_lines_do_not_tell_the_full_parser_does(scene: Scene) -> None:
    scene.user_says('notes = """\nenabled = true\n"""\n"enabled" = false\n')
    assert not scene.read().enabled


def test_a_plain_file_needs_no_parser(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "_parsed", lambda _: pytest.fail("the full parser was asked"))
    scene.user_says("# mine\nenabled = false\n\n[capture]\nevery = 5\n")
    assert not scene.read().enabled


def test_a_linked_user_file_is_read(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("enabled = false", encoding="utf-8")
    (scene.home / "config.toml").symlink_to(tmp_path / "dotfiles.toml")
    assert not scene.read().enabled


def test_a_folder_in_the_place_of_a_file_is_passed_over(scene: Scene) -> None:
    (scene.home / "config.toml").mkdir()
    assert scene.read().enabled


def test_without_a_folder_there_is_no_project(scene: Scene) -> None:
    assert switches.read(str(scene.home), SESSION, "", {}).enabled


def test_the_plain_lines_of_any_file_stand_on_an_interpreter_without_a_parser(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9))
    scene.user_says("list = [1]\nenabled = false\n")
    assert not scene.read().enabled


def test_the_reader_of_lines_is_the_first_asked(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_lines, "read", lambda _: toml_lines.Lines({("enabled",): False}, is_plain=True))
    scene.user_says("")
    assert not scene.read().enabled


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        pytest.param('guard.paths = ["a/**", "b.md"]', ("a/**", "b.md"), id="a list"),
        pytest.param("[guard]\npaths = [\n  'a', # one\n]\n", ("a",), id="over lines"),
        pytest.param('guard.paths = ["\\u0061"]', ("a",), id="with an escape"),
        pytest.param('guard.paths = ["**", "", "*", "a"]', ("a",), id="what fits everything or nothing"),
        pytest.param('guard.paths = "a"', (), id="no list"),
        pytest.param("guard.paths = [1, 'a']", ("a",), id="a number among them"),
        pytest.param(f"guard.paths = {['a'] * 300}", ("a",) * 200, id="too many"),
    ],
)
def test_the_files_to_guard_are_read(scene: Scene, text: str, paths: tuple[str, ...]) -> None:
    scene.user_says(text)
    assert scene.read().guard_paths == paths


def test_a_project_adds_to_what_is_guarded(scene: Scene) -> None:
    scene.user_says('guard.tools = ["mcp__a__*"]')
    scene.project_says('guard.tools = ["mcp__b__*"]')
    assert scene.read().guard_tools == ("mcp__b__*", "mcp__a__*")


def test_a_file_with_lists_and_long_values_needs_no_parser(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "_parsed", lambda _: pytest.fail("the full parser was asked"))
    scene.user_says('[backend]\napproved = [\n  "https://a",\n]\nx = 1.5\n[capture]\nevery = 7\nnote = """\nz\n"""\n')
    assert scene.read().every == 7
