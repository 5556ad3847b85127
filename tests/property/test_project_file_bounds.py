"""A cloned repository's settings file cannot exceed its permissions."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepmum.core.errors import SettingsError
from keepmum.workspace.settings import SETTINGS, Settings, load
from keepmum.workspace.toml_edit import changed
from keepmum_hooks import switches

APPROVED = "https://good.example"
ORIGINS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["https://", "http://", "HTTPS://", "//", "", "https:/", "file://"]),
    st.sampled_from(["", "good.example@", "me:word@", "%67ood.example", "good.example.", "good.example/"]),
    st.sampled_from(["good.example", "evil.example", "GOOD.example", "127.0.0.1", "[::1]", "169.254.169.254"]),
    st.sampled_from(["", "/", ":443", ":8443", "/path", "?x", "#x", "\\n", "\\u0000", "@evil.example"]),
)
LITERALS = st.one_of(
    ORIGINS.map('"{}"'.format),
    st.sampled_from(["true", "false", "0", "1", "7", "-1", "1000", "2.5", "[]", "{}", '"shared"', "1979-05-27"]),
)
NAMES = st.sampled_from(
    [*SETTINGS, "backend", "api_key", "backend.token", "capture", "evry", '"capture.every"', "x.y.z"]
)
LINES = st.one_of(
    st.builds("{} = {}".format, NAMES, LITERALS),
    st.sampled_from(["[capture]", "[backend]", "[store]", "[scanner]", "# note", "", "[[backend]]"]),
    st.builds("{} = {}".format, st.sampled_from(["every", "enabled", "origin", "path"]), LITERALS),
)
TEXTS = st.lists(LINES, max_size=5).map("\n".join)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    home, place = tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("clone")
    (home / "config.toml").write_text(f"backend.approved = ['{APPROVED}']\ncapture.enabled = false", encoding="utf-8")
    return home, place


def loaded(folders: tuple[Path, Path], text: str) -> Settings | None:
    """The settings in a clone with this project file; None when the file is refused."""
    home, place = folders
    (place / ".keepmum.toml").write_text(text, encoding="utf-8")
    try:
        return load({"KEEPMUM_HOME": str(home)}, str(place))
    except SettingsError:
        return None


@given(text=TEXTS)
def test_a_project_file_cannot_change_protected_settings(folders: tuple[Path, Path], text: str) -> None:
    settings = loaded(folders, text)
    if settings is not None:
        assert settings.backend.origin in {None, APPROVED}
        assert settings.store.path == str(folders[0] / "memory.db")
        assert not settings.capture.enabled


@given(text=TEXTS)
def test_hooks_and_core_read_the_same_settings(folders: tuple[Path, Path], text: str) -> None:
    settings = loaded(folders, text)
    if settings is not None:
        home, place = folders
        read = switches.read(str(home), "session", str(place), {})
        assert (read.enabled, read.capture, read.every, read.unattended, read.briefing) == (
            settings.enabled,
            settings.capture.enabled,
            settings.capture.every,
            settings.capture.unattended,
            settings.briefing.enabled,
        )


@given(text=TEXTS, name=st.sampled_from(["enabled", "capture.enabled"]), value=st.booleans())
def test_changing_a_value_keeps_comments(text: str, name: str, *, value: bool) -> None:
    try:
        after = changed("config.toml", text, name, value)
    except SettingsError:
        return
    table: dict[str, object] = tomllib.loads(after)
    for part in name.split(".")[:-1]:
        inner = table[part]
        assert isinstance(inner, dict)
        table = inner
    assert table[name.rpartition(".")[2]] is value
    assert [line for line in text.split("\n") if line.startswith("#")] == [
        line for line in after.split("\n") if line.startswith("#")
    ]
