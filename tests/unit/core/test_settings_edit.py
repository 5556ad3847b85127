from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from keepmum.core.errors import SettingsError
from keepmum.workspace.settings import load, write_user_setting
from keepmum.workspace.toml_edit import Scalar


def rewritten(tmp_path: Path, before: str, name: str, value: Scalar) -> str:
    """The user's file after one setting has been written."""
    path = tmp_path / "config.toml"
    path.write_bytes(before.encode())
    write_user_setting(str(tmp_path), name, value)
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "name", "value", "after"),
    [
        pytest.param("", "enabled", False, "enabled = false\n", id="empty file"),
        pytest.param("", "capture.every", 7, "[capture]\nevery = 7\n", id="empty file, table"),
        pytest.param("# mine\n", "enabled", False, "enabled = false\n# mine\n", id="comment only"),
        pytest.param("enabled = true # yes\n", "enabled", False, "enabled = false # yes\n", id="comment on the line"),
        pytest.param("enabled=true", "enabled", False, "enabled=false", id="no blanks, no final line end"),
        pytest.param("scope = 'a # b'", "enabled", True, "scope = 'a # b'\nenabled = true\n", id="no final line end"),
        pytest.param(
            "scope = 'shared'\n\n# how often\n[capture]\nenabled = true\n",
            "enabled",
            False,
            "scope = 'shared'\nenabled = false\n\n# how often\n[capture]\nenabled = true\n",
            id="same key in a table",
        ),
        pytest.param(
            "[capture]\n# often\n\n[briefing]\ntokens = 9\n",
            "capture.every",
            3,
            "[capture]\nevery = 3\n# often\n\n[briefing]\ntokens = 9\n",
            id="into its table",
        ),
        pytest.param(
            "[briefing]\r\ntokens = 9\r\n",
            "capture.every",
            3,
            "[briefing]\r\ntokens = 9\r\n\r\n[capture]\r\nevery = 3\r\n",
            id="Windows line ends",
        ),
        pytest.param(
            "enabled = true\r\n# x\r\n",
            "enabled",
            False,
            "enabled = false\r\n# x\r\n",
            id="Windows line ends, in place",
        ),
        pytest.param(
            "capture.enabled = true\n",
            "capture.every",
            3,
            "capture.enabled = true\ncapture.every = 3\n",
            id="next to a dotted key",
        ),
        pytest.param("\ufeffenabled = true\n", "enabled", False, "\ufeffenabled = false\n", id="byte-order mark"),
        pytest.param("agent = 'é'\n", "agent", 'a"b', 'agent = "a\\"b"\n', id="a text with quotes"),
    ],
)
def test_one_value_changes_and_all_else_stays(
    tmp_path: Path, before: str, name: str, value: Scalar, after: str
) -> None:
    assert rewritten(tmp_path, before, name, value) == after


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    once = rewritten(tmp_path, "# mine\n[briefing]\n", "capture.every", 3)
    assert rewritten(tmp_path, once, "capture.every", 3) == once


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_user_setting(str(tmp_path), "enabled", value=False)
    assert not load({"KEEPMUM_HOME": str(tmp_path)}, None).enabled


def test_a_new_file_is_the_users_alone(tmp_path: Path) -> None:
    path = write_user_setting(str(tmp_path / "new"), "enabled", value=False)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_file_that_was_there_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "config.toml").touch()
    (tmp_path / "config.toml").chmod(0o640)
    assert stat.S_IMODE(os.stat(write_user_setting(str(tmp_path), "enabled", value=False)).st_mode) == 0o640


def test_a_new_home_is_the_users_alone(tmp_path: Path) -> None:
    write_user_setting(str(tmp_path / "new"), "enabled", value=False)
    assert stat.S_IMODE(os.stat(tmp_path / "new").st_mode) == 0o700


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "keepmum.toml").write_text("# mine\n", encoding="utf-8")
    (tmp_path / "config.toml").symlink_to(tmp_path / "dotfiles" / "keepmum.toml")
    write_user_setting(str(tmp_path), "enabled", value=False)
    assert (tmp_path / "config.toml").is_symlink()
    assert (tmp_path / "dotfiles" / "keepmum.toml").read_text(encoding="utf-8") == "enabled = false\n# mine\n"


def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    write_user_setting(str(tmp_path), "enabled", value=False)
    assert os.listdir(tmp_path) == ["config.toml"]


@pytest.mark.parametrize(
    ("before", "name"),
    [
        pytest.param("capture = { enabled = true }\n", "capture.every", id="an inline table"),
        pytest.param("capture = { every = 4 }\n", "capture.every", id="a value in an inline table"),
        pytest.param("capture.every = \\\n 4\n", "capture.every", id="not TOML"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_unchanged(tmp_path: Path, before: str, name: str) -> None:
    with pytest.raises(SettingsError):
        rewritten(tmp_path, before, name, 3)
    assert (tmp_path / "config.toml").read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("capture.every", 0, "a whole number from 1 to 1000"),
        ("enabled", "no", "true or false"),
        ("enabeld", False, "did you mean `enabled`?"),
        ("project", "acme", "only in a project's"),
    ],
)
def test_a_bad_setting_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, value: Scalar, words: str
) -> None:
    with pytest.raises(SettingsError, match=words.replace("?", r"\?")):
        write_user_setting(str(tmp_path), name, value)
    assert os.listdir(tmp_path) == []


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match="cannot be written"):
        write_user_setting(str(tmp_path / "file"), "enabled", value=False)
