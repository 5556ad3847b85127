"""The paths of state: hooks and server must agree on them, and no session id may escape its folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from keepmum_hooks import places

HOME = os.path.abspath(os.path.join(os.sep, "h"))
NAMED = os.path.abspath(os.path.join(os.sep, "data", "mum"))
USER = "USERPROFILE" if sys.platform == "win32" else "HOME"  # the variable that names the user's home


def test_home_is_the_named_folder() -> None:
    assert places.home({"KEEPMUM_HOME": NAMED, USER: "relative"}) == NAMED


def test_home_is_in_the_users_home_by_default() -> None:
    assert places.home({USER: NAMED}) == f"{NAMED}/.keepmum"


def test_a_tilde_in_the_named_folder_is_the_users_home() -> None:
    assert places.home({"KEEPMUM_HOME": "~/mum", USER: NAMED}) == f"{NAMED}/mum"


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({}, id="nothing set"),
        pytest.param({USER: ""}, id="empty"),
        pytest.param({USER: "relative"}, id="relative"),
        pytest.param({"KEEPMUM_HOME": "~/mum"}, id="tilde without a home"),
        pytest.param({"KEEPMUM_HOME": "mum", USER: NAMED}, id="a relative folder"),
    ],
)
def test_without_a_home_there_is_no_state(environ: dict[str, str]) -> None:
    assert places.home(environ) is None


def test_home_is_read_from_the_process_when_no_environment_is_given(home: Path) -> None:
    assert places.home() == str(home / ".keepmum")


def test_a_briefing_is_found_through_a_symbolic_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    assert places.briefing_file(HOME, str(link)) == places.briefing_file(HOME, str(real))


def test_a_trailing_slash_does_not_change_the_briefing(tmp_path: Path) -> None:
    assert places.briefing_file(HOME, f"{tmp_path}/") == places.briefing_file(HOME, str(tmp_path))


def test_a_briefing_is_named_by_32_digits(tmp_path: Path) -> None:
    folder, name = os.path.split(places.briefing_file(HOME, str(tmp_path)))
    assert folder == places.briefings_folder(HOME)
    assert len(name) == len("0" * 32 + ".md")


def test_a_uuid_stays_readable() -> None:
    session = "c7f0fbca-a509-4a37-bece-ba09cc355bad"
    assert places.turns_file(HOME, session) == f"{places.sessions_folder(HOME)}/{session}.turns"


@pytest.mark.parametrize(
    "session",
    [
        pytest.param("", id="empty"),
        pytest.param("..", id="parent"),
        pytest.param("a/b", id="slash"),
        pytest.param("a\\b", id="backslash"),
        pytest.param("a\0b", id="NUL"),
        pytest.param("a" * 81, id="too long"),
        pytest.param("a\n", id="trailing newline"),
        pytest.param("ABC", id="upper case, the same as abc where case is ignored"),
        pytest.param("con", id="a Windows device"),
        pytest.param("lpt1", id="a Windows port"),
        pytest.param("é", id="not ASCII"),
        pytest.param("\ud800", id="lone surrogate"),
    ],
)
def test_an_odd_session_id_is_hashed(session: str) -> None:
    folder, name = os.path.split(places.turns_file(HOME, session))
    assert folder == places.sessions_folder(HOME)
    assert name.startswith("id.")
    assert len(name) == len("id." + "0" * 32 + ".turns")


def test_no_session_id_gets_the_name_of_a_hashed_one() -> None:
    hashed = os.path.basename(places.turns_file(HOME, "ABC")).removesuffix(".turns")
    assert places.turns_file(HOME, hashed) != places.turns_file(HOME, "ABC")


def test_the_files_of_a_session_are_distinct() -> None:
    files = {place(HOME, "s") for place in (places.turns_file, places.session_note, places.off_marker)}
    assert len(files) == 3


def test_a_heartbeat_is_named_by_client_and_event() -> None:
    assert places.heartbeat_file(HOME, "claude-code", "stop") == f"{HOME}/state/heartbeat/claude-code.stop"


def test_every_public_name_is_listed() -> None:
    functions = {
        name
        for name, value in vars(places).items()
        if getattr(value, "__module__", "") == places.__name__ and not name.startswith("_")
    }
    assert set(places.__all__) == functions
