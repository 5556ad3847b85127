"""Switching off and on: what is written, and what stays unchanged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keepmum.cli.switches import SWITCHES, overruled_by
from keepmum.core.errors import SettingsError
from keepmum.workspace.settings import load


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, which is the working directory."""
    folder = tmp_path / "work"
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "refs").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(folder)
    return folder


def switch(where: str, *, on: bool) -> str:
    return SWITCHES[where](os.environ, on)


def is_on(folder: Path) -> bool:
    return load(os.environ, str(folder)).enabled


def test_off_everywhere_holds_in_every_project(work: Path) -> None:
    switch("everywhere", on=False)
    assert not is_on(work)


def test_on_everywhere_undoes_off_everywhere(work: Path) -> None:
    switch("everywhere", on=False)
    switch("everywhere", on=True)
    assert is_on(work)


def test_off_for_a_project_holds_in_its_subfolders(work: Path) -> None:
    (work / "lib").mkdir()
    assert switch("project", on=False) == str(work / ".keepmum.toml")
    assert not is_on(work / "lib")


def test_off_for_a_project_holds_for_no_other(work: Path) -> None:
    switch("project", on=False)
    assert is_on(work.parent)


def test_off_and_on_leave_no_file_behind(work: Path) -> None:
    switch("project", on=False)
    switch("project", on=True)
    assert os.listdir(work) == [".git"]


def test_on_makes_no_file(work: Path) -> None:
    switch("project", on=True)
    assert os.listdir(work) == [".git"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param('scope = "shared"\n', id="another setting"),
        pytest.param("# ours\u2028since May\nproject = 'api'\n", id="a line separator that TOML counts as none"),
        pytest.param("# a\x85b\n[capture]\nevery = 3\n", id="a next-line character"),
        pytest.param("\ufeffscope = 'shared'\r\n", id="a byte-order mark and Windows line ends"),
        pytest.param("# only a comment\n", id="a comment"),
    ],
)
def test_off_and_on_keep_every_other_byte(work: Path, content: str) -> None:
    path = work / ".keepmum.toml"
    path.write_bytes(content.encode())
    switch("project", on=False)
    assert not is_on(work)
    switch("project", on=True)
    assert path.read_bytes().decode() == content


def test_on_takes_out_a_line_that_somebody_wrote_without_a_line_end(work: Path) -> None:
    path = work / ".keepmum.toml"
    path.write_text("scope = 'shared'\nenabled = false")
    switch("project", on=True)
    assert path.read_text() == "scope = 'shared'\n"


def test_on_leaves_a_file_that_it_cannot_edit(work: Path) -> None:
    path = work / ".keepmum.toml"
    path.write_text("enabled = true # not allowed, and not ours to judge\n[")
    with pytest.raises(SettingsError):
        switch("project", on=True)
    assert path.read_text().endswith("[")


def test_the_file_that_holds_in_a_subfolder_is_the_one_switched(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "lib").mkdir()
    (work / "lib" / ".keepmum.toml").write_text("scope = 'shared'\n")
    monkeypatch.chdir(work / "lib")
    switch("project", on=False)
    assert not is_on(work / "lib")


def test_a_file_above_the_project_is_left_alone(work: Path) -> None:
    above = work.parent / ".keepmum.toml"
    above.write_text("scope = 'shared'\n")
    switch("project", on=False)
    assert above.read_text() == "scope = 'shared'\n"


def test_the_home_folder_is_not_a_project_to_switch(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with pytest.raises(SettingsError, match="not a project folder"):
        switch("project", on=False)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no folder of this kind")
def test_a_folder_of_everyone_is_not_a_project_to_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o1777)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match="not a project folder"):
        switch("project", on=False)


@pytest.mark.usefixtures("work")
def test_a_session_is_switched_by_its_own_client_only() -> None:
    with pytest.raises(SettingsError, match="no session"):
        switch("session", on=False)


def test_on_that_a_project_file_overrules_is_said(work: Path) -> None:
    switch("project", on=False)
    switch("everywhere", on=True)
    assert overruled_by(os.environ, enabled=True) == f"{work / '.keepmum.toml'}:1"


@pytest.mark.usefixtures("work")
def test_on_that_a_session_overrules_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "5f0a")
    switch("session", on=False)
    switch("everywhere", on=True)
    assert overruled_by(os.environ, enabled=True) == "this session"


@pytest.mark.usefixtures("work")
def test_off_that_a_variable_overrules_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPMUM_ENABLED", "1")
    switch("everywhere", on=False)
    assert overruled_by(os.environ, enabled=False) == "KEEPMUM_ENABLED"


@pytest.mark.usefixtures("work")
def test_a_switch_that_has_an_effect_is_overruled_by_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for where in ("everywhere", "project", "session"):
        if where != "everywhere":  # which a session may not switch off
            monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "5f0a")
        for on in (False, True):
            switch(where, on=on)
            assert overruled_by(os.environ, enabled=on) is None
