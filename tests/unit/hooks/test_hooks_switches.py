"""The settings of hooks: each from the first source that contains it, and off means off."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keepmum_hooks import places, switches, toml_lines

SESSION = "s"


class Scene:
    """A home, a project folder and an environment with settings."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "keepmum"
        self.project = folder / "project"
        self.below = self.project / "src" / "deep"
        self.home.mkdir()
        self.below.mkdir(parents=True)
        self.environ: dict[str, str] = {}

    def write_user_file(self, text: str) -> None:
        (self.home / "config.toml").write_text(text, encoding="utf-8")

    def write_project_file(self, text: str) -> None:
        (self.project / ".keepmum.toml").write_text(text, encoding="utf-8")

    def read(self) -> switches.Switches:
        return switches.read(str(self.home), SESSION, str(self.below), self.environ)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_defaults(scene: Scene) -> None:
    settings = scene.read()
    assert (settings.enabled, settings.capture, settings.every, settings.unattended, settings.briefing) == (
        True,
        True,
        5,
        False,
        True,
    )


def test_the_user_file_can_contain_every_setting(scene: Scene) -> None:
    scene.write_user_file(
        "enabled = false\nbriefing.enabled = false\n[capture]\nenabled = false\nevery = 7\nunattended = true\n"
    )
    settings = scene.read()
    assert (settings.enabled, settings.capture, settings.every, settings.unattended, settings.briefing) == (
        False,
        False,
        7,
        True,
        False,
    )


def test_the_project_file_overrides_the_users(scene: Scene) -> None:
    scene.write_user_file("capture.every = 7")
    scene.write_project_file("capture.every = 3")
    assert scene.read().every == 3


def test_the_nearest_project_file_is_used(scene: Scene) -> None:
    scene.write_project_file("capture.every = 3")
    (scene.below / ".keepmum.toml").write_text("capture.every = 2", encoding="utf-8")
    assert scene.read().every == 2


def test_a_project_file_is_found_through_a_symbolic_link(scene: Scene, tmp_path: Path) -> None:
    scene.write_project_file("enabled = false")
    (tmp_path / "link").symlink_to(scene.below)
    assert not switches.read(str(scene.home), SESSION, str(tmp_path / "link"), {}).enabled


def test_the_environment_overrides_all_files(scene: Scene) -> None:
    scene.write_user_file("capture.every = 7")
    scene.write_project_file("capture.every = 3")
    scene.environ = {"KEEPMUM_CAPTURE_EVERY": "2"}
    assert scene.read().every == 2


def test_the_plugins_own_setting_counts_as_environment(scene: Scene) -> None:
    scene.write_project_file("capture.every = 3")
    scene.environ = {"CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY": "9"}
    assert scene.read().every == 9


def test_our_variable_overrides_the_plugins_setting(scene: Scene) -> None:
    scene.environ = {"CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY": "9", "KEEPMUM_CAPTURE_EVERY": "2"}
    assert scene.read().every == 2


@pytest.mark.parametrize("text", ["0", "-1", "1001", "five", "2.5", "", " ", "9" * 5000, "²"])
def test_an_invalid_interval_is_ignored(scene: Scene, text: str) -> None:
    scene.environ = {"KEEPMUM_CAPTURE_EVERY": text}
    assert scene.read().every == 5


@pytest.mark.parametrize("text", ["0", "false", "FALSE", " no ", "off"])
def test_the_environment_switches_off(scene: Scene, text: str) -> None:
    scene.environ = {"KEEPMUM_ENABLED": text}
    assert not scene.read().enabled


@pytest.mark.parametrize("text", ["1", "true", "Yes", "on"])
def test_the_environment_switches_prompts_on_in_unattended_runs(scene: Scene, text: str) -> None:
    scene.environ = {"KEEPMUM_CAPTURE_UNATTENDED": text}
    assert scene.read().unattended


def test_the_session_is_off_while_its_marker_exists(scene: Scene) -> None:
    marker = Path(places.off_marker(str(scene.home), SESSION))
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert not scene.read().enabled


def test_another_sessions_marker_has_no_effect(scene: Scene) -> None:
    marker = Path(places.off_marker(str(scene.home), "another"))
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert scene.read().enabled


@pytest.mark.parametrize("name", ["enabled", "capture.enabled", "briefing.enabled"])
def test_a_project_can_switch_off(scene: Scene, name: str) -> None:
    scene.write_project_file(f"{name} = false")
    settings = scene.read()
    assert [settings.enabled, settings.capture, settings.briefing].count(False) == 1


@pytest.mark.parametrize("name", ["enabled", "capture.enabled", "briefing.enabled"])
def test_a_project_cannot_switch_on_what_the_user_switched_off(scene: Scene, name: str) -> None:
    scene.write_user_file(f"{name} = false")
    scene.write_project_file(f"{name} = true")
    settings = scene.read()
    assert [settings.enabled, settings.capture, settings.briefing].count(False) == 1


def test_a_project_cannot_enable_prompts_in_unattended_runs(scene: Scene) -> None:
    scene.write_project_file("capture.unattended = true")
    assert not scene.read().unattended


def test_a_project_file_in_a_shared_folder_is_ignored(scene: Scene) -> None:
    scene.write_project_file("enabled = false")
    scene.project.chmod(0o1777)
    assert scene.read().enabled


@pytest.mark.parametrize("value", ['"false"', "0", "[]"])
def test_a_setting_of_the_wrong_type_is_ignored(scene: Scene, value: str) -> None:
    scene.write_user_file(f"enabled = {value}")
    assert scene.read().enabled


def test_a_byte_order_mark_is_skipped(scene: Scene) -> None:
    (scene.home / "config.toml").write_bytes(b"\xef\xbb\xbfenabled = false\r\n")
    assert not scene.read().enabled


def test_a_file_that_is_not_utf8_can_switch_off(scene: Scene) -> None:
    (scene.home / "config.toml").write_bytes(b"enabled = false\nname = '\xff'\n")
    assert not scene.read().enabled


def test_a_file_that_is_not_toml_can_switch_off(scene: Scene) -> None:
    scene.write_user_file("enabled = false\nthis is not TOML\n")
    assert not scene.read().enabled


def test_the_full_parser_reads_what_the_line_reader_skips(scene: Scene) -> None:
    scene.write_user_file('notes = """\nenabled = true\n"""\n"enabled" = false\n')
    assert not scene.read().enabled


def test_a_plain_file_is_read_without_the_full_parser(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "_parsed", lambda _: pytest.fail("the full parser was used"))
    scene.write_user_file("# mine\nenabled = false\n\n[capture]\nevery = 5\n")
    assert not scene.read().enabled


def test_a_user_file_behind_a_symbolic_link_is_read(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("enabled = false", encoding="utf-8")
    (scene.home / "config.toml").symlink_to(tmp_path / "dotfiles.toml")
    assert not scene.read().enabled


def test_a_folder_instead_of_a_file_is_ignored(scene: Scene) -> None:
    (scene.home / "config.toml").mkdir()
    assert scene.read().enabled


def test_without_a_working_folder_there_is_no_project(scene: Scene) -> None:
    assert switches.read(str(scene.home), SESSION, "", {}).enabled


def test_without_a_full_parser_the_plain_lines_are_used(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9))
    scene.write_user_file("list = [1]\nenabled = false\n")
    assert not scene.read().enabled


def test_the_line_reader_is_used_first(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_lines, "read", lambda _: toml_lines.Lines({("enabled",): False}, is_plain=True))
    scene.write_user_file("")
    assert not scene.read().enabled


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        pytest.param('guard.paths = ["a/**", "b.md"]', ("a/**", "b.md"), id="a list"),
        pytest.param("[guard]\npaths = [\n  'a', # one\n]\n", ("a",), id="over several lines"),
        pytest.param('guard.paths = ["\\u0061"]', ("a",), id="with an escape"),
        pytest.param('guard.paths = ["**", "", "*", "a"]', ("a",), id="patterns that match everything or nothing"),
        pytest.param('guard.paths = "a"', (), id="not a list"),
        pytest.param("guard.paths = [1, 'a']", ("a",), id="with a number"),
        pytest.param(f"guard.paths = {['a'] * 300}", ("a",) * 200, id="too many"),
    ],
)
def test_guarded_files_are_read(scene: Scene, text: str, paths: tuple[str, ...]) -> None:
    scene.write_user_file(text)
    assert scene.read().guard_paths == paths


def test_a_project_adds_guarded_tools(scene: Scene) -> None:
    scene.write_user_file('guard.tools = ["mcp__a__*"]')
    scene.write_project_file('guard.tools = ["mcp__b__*"]')
    assert scene.read().guard_tools == ("mcp__b__*", "mcp__a__*")


def test_lists_and_long_values_do_not_need_the_full_parser(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "_parsed", lambda _: pytest.fail("the full parser was used"))
    scene.write_user_file(
        '[backend]\napproved = [\n  "https://a",\n]\nx = 1.5\n[capture]\nevery = 7\nnote = """\nz\n"""\n'
    )
    assert scene.read().every == 7
