from __future__ import annotations

import os
from pathlib import Path

import pytest

from keepmum.core.errors import SettingsError
from keepmum.workspace import credentials
from keepmum.workspace.settings import SETTINGS, Settings, find_project_file, is_approved, load
from keepmum_hooks import switches


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "deep"
    folder.mkdir(parents=True)
    return folder


def settled(home: Path, place: Path, user: str = "", project: str = "", **variables: str) -> Settings:
    """The settings in `place` with these two files and variables."""
    (home / "config.toml").write_text(user, encoding="utf-8")
    (place.parent / ".keepmum.toml").write_text(project, encoding="utf-8")
    return load({"KEEPMUM_HOME": str(home), **variables}, str(place))


def refusal(home: Path, place: Path, user: str = "", project: str = "", **variables: str) -> str:
    with pytest.raises(SettingsError) as caught:
        settled(home, place, user, project, **variables)
    return str(caught.value)


def test_without_any_file_every_setting_has_its_default(home: Path, tmp_path: Path) -> None:
    settings = load({"KEEPMUM_HOME": str(home)}, str(tmp_path))
    assert {name: settings.source_of(name) for name in SETTINGS} == dict.fromkeys(SETTINGS, "default")


def test_defaults_are_those_of_the_declarations(home: Path, tmp_path: Path) -> None:
    settings = load({"KEEPMUM_HOME": str(home)}, str(tmp_path))
    expected = {name: declaration.default for name, declaration in SETTINGS.items()}
    expected["store.path"] = str(home / "memory.db")
    assert {name: settings.value_of(name) for name in SETTINGS} == expected


def test_environment_beats_project_beats_user_beats_default(home: Path, place: Path) -> None:
    user, project = "[capture]\nevery = 2\n", "capture.every = 3\n"
    found = [
        settled(home, place).capture.every,
        settled(home, place, user).capture.every,
        settled(home, place, user, project).capture.every,
        settled(home, place, user, project, KEEPMUM_CAPTURE_EVERY="4").capture.every,
    ]
    assert found == [5, 2, 3, 4]


def test_the_source_of_a_value_is_its_file_and_line(home: Path, place: Path) -> None:
    settings = settled(home, place, user="# mine\n\n[capture]\nevery = 2\n", project="\nscope = 'shared'\n")
    assert settings.source_of("capture.every") == f"{home / 'config.toml'}:4"
    assert settings.source_of("scope") == f"{place.parent / '.keepmum.toml'}:2"


def test_the_source_of_a_value_is_its_variable(home: Path, place: Path) -> None:
    assert settled(home, place, KEEPMUM_AGENT="codex").source_of("agent") == "KEEPMUM_AGENT"


def test_the_source_of_no_setting_is_a_key_error(home: Path, place: Path) -> None:
    with pytest.raises(KeyError):
        settled(home, place).source_of("capture.evry")


@pytest.mark.parametrize(
    ("variables", "name", "value"),
    [
        pytest.param({"KEEPMUM_ENABLED": "off"}, "enabled", False, id="off"),
        pytest.param({"KEEPMUM_ENABLED": "0"}, "enabled", False, id="zero"),
        pytest.param({"KEEPMUM_PROJECT": "acme"}, "project", "acme", id="project"),
        pytest.param({"DEFAULT_PROJECT": "acme"}, "project", "acme", id="seed project"),
        pytest.param({"KEEPMUM_PROJECT": "a", "DEFAULT_PROJECT": "b"}, "project", "a", id="ours before the seed's"),
        pytest.param({"KEEPMUM_SCOPE": "global"}, "scope", "global", id="scope"),
        pytest.param({"KEEPMUM_DIALECT": "keepmum"}, "dialect", "keepmum", id="dialect"),
        pytest.param({"DEFAULT_AGENT": "codex"}, "agent", "codex", id="seed agent"),
        pytest.param({"KEEPMUM_USER": "ada"}, "user", "ada", id="user"),
        pytest.param({"CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY": "9"}, "capture.every", 9, id="plugin option"),
        pytest.param({"KEEPMUM_CAPTURE_UNATTENDED": "1"}, "capture.unattended", True, id="unattended"),
        pytest.param({"MEMORY_API_URL": "HTTPS://Mem.Example/"}, "backend.origin", "https://mem.example", id="server"),
        pytest.param({"KEEPMUM_SCOPE": "  "}, "scope", "project", id="blank is unset"),
    ],
)
def test_variables_set_settings(home: Path, place: Path, variables: dict[str, str], name: str, value: object) -> None:
    assert settled(home, place, **variables).value_of(name) == value


@pytest.mark.parametrize(
    ("variable", "text", "allowed"),
    [
        ("KEEPMUM_CAPTURE_EVERY", "0", "a whole number from 1 to 1000"),
        ("KEEPMUM_CAPTURE_EVERY", "five", "a whole number from 1 to 1000"),
        ("KEEPMUM_CAPTURE_EVERY", "9" * 5000, "a whole number from 1 to 1000"),
        ("CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY", "1001", "a whole number from 1 to 1000"),
        ("KEEPMUM_ENABLED", "maybe", "true or false"),
        ("KEEPMUM_SCOPE", "Project", '"project", "global", "session" or "shared"'),
        ("KEEPMUM_PROJECT", "github.com/a/b", "a name of 1 to 100 characters"),
        ("DEFAULT_PROJECT", "*", "a name of 1 to 100 characters"),
        ("MEMORY_API_URL", "ftp://mem.example", "https://host"),
    ],
)
def test_a_bad_variable_is_named_with_what_it_may_be(
    home: Path, place: Path, variable: str, text: str, allowed: str
) -> None:
    message = refusal(home, place, **{variable: text})
    assert variable in message
    assert allowed in message


def test_a_bad_value_is_never_repeated(home: Path, place: Path) -> None:
    canary = "gh" + "p_" + "a1B2" * 9
    messages = [
        refusal(home, place, KEEPMUM_SCOPE=canary),
        refusal(home, place, user=f'scope = "{canary}"'),
        refusal(home, place, user=f'{canary} = "x"'),
        refusal(home, place, project=f'api_key = "{canary}"'),
        refusal(home, place, project=canary),
        refusal(home, place, MEMORY_API_URL=f"https://me:{canary}@mem.example"),
    ]
    assert [message for message in messages if canary[4:12] in message] == []


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("\nevery = 3", 2, "did you mean `capture.every`?", id="outside its table"),
        pytest.param("[capture]\nevry = 3", 2, "did you mean `capture.every`?", id="misspelt"),
        pytest.param("[captur]\nevery = 3", 2, "did you mean `capture.every`?", id="misspelt table"),
        pytest.param("[wholly]\ndifferent = 3", 2, "the settings are: enabled, ", id="nothing near"),
        pytest.param("capture = 3", 1, "there is no setting `capture`", id="a table that is a number"),
        pytest.param('"capture.every" = 3', 1, "did you mean `capture.every`?", id="two keys quoted as one"),
        pytest.param("enabled = 1", 1, "enabled must be true or false", id="a number for a switch"),
        pytest.param("[capture]\nevery = true", 2, "a whole number from 1 to 1000", id="a switch for a number"),
        pytest.param("[capture]\nevery = 2.5", 2, "a whole number from 1 to 1000", id="half a turn"),
        pytest.param("[capture]\nevery = '3'", 2, "a whole number from 1 to 1000", id="text for a number"),
        pytest.param("scope = 'team'", 1, '"project", "global", "session" or "shared"', id="no such choice"),
        pytest.param("scope = ['project']", 1, '"project", "global", "session" or "shared"', id="a list for a text"),
        pytest.param("briefing.tokens = 1001", 1, "a whole number from 0 to 1000", id="too many tokens"),
        pytest.param("briefing.token = 500", 1, "did you mean `briefing.tokens`?", id="misspelt, as a key is named"),
        pytest.param("a = 1\na = 2", 2, "is not TOML", id="a key twice"),
        pytest.param("\n\nscope = project", 3, "is not TOML", id="no quotes"),
        pytest.param("store.path = 'memory.db'", 1, "an absolute path", id="relative path"),
        pytest.param("[backend]\napproved = 'https://a.example'", 2, "a list of texts", id="text for a list"),
    ],
)
def test_a_bad_line_is_named_with_what_may_stand_there(
    home: Path, place: Path, text: str, line: int, words: str
) -> None:
    message = refusal(home, place, user=text)
    assert message.startswith(f"{home / 'config.toml'}:{line}")
    assert words in message


@pytest.mark.parametrize(
    "text",
    [
        "api_key = 'x'",
        "[backend]\ntoken = 'x'",
        "[backend.headers]\nx = 'y'",
        "[x.y]\nclientSecret = 'x'",
        "headers = ['X: y']",
        "backend = { origin = 'https://a.example', password = 'x' }",
        "scope = 'bogus'\nmemory-api-key = 'x'",
    ],
)
def test_a_project_file_with_a_key_is_refused_in_clear_words(home: Path, place: Path, text: str) -> None:
    assert "a project file must not contain a key" in refusal(home, place, project=text)


def test_a_misspelt_setting_of_a_project_is_taken_for_no_key(home: Path, place: Path) -> None:
    assert "did you mean `briefing.tokens`?" in refusal(home, place, project="briefing.token = 500")


def test_the_user_file_says_where_keys_lie(home: Path, place: Path) -> None:
    message = refusal(home, place, user="api_key = 'x'")
    assert "there is no setting `api_key`" in message
    assert "`keepmum login URL` stores one, in credentials.toml" in message


@pytest.mark.parametrize(
    "text",
    [
        "store.path = '/tmp/x.db'",
        "backend.kind = 'sqlite'",
        "backend.approved = ['https://evil.example']",
        "capture.unattended = true",
        "agent = 'x'",
        "user = 'x'",
        "retention.policy = 'none'",
    ],
)
def test_a_project_file_cannot_set_what_is_the_users(home: Path, place: Path, text: str) -> None:
    assert "is not allowed in this file, only in your own config.toml" in refusal(home, place, project=text)


def test_a_user_file_cannot_name_the_project(home: Path, place: Path) -> None:
    assert "is not allowed in this file, only in a project's .keepmum.toml" in refusal(
        home, place, user="project = 'acme'"
    )


def test_a_project_file_can_switch_keepmum_off(home: Path, place: Path) -> None:
    assert not settled(home, place, project="enabled = false").enabled


def test_a_project_file_cannot_switch_keepmum_on(home: Path, place: Path) -> None:
    assert "never on" in refusal(home, place, user="enabled = false", project="enabled = true")


@pytest.mark.parametrize("name", ["capture.enabled", "briefing.enabled"])
def test_a_project_file_turns_nothing_on_that_the_user_turned_off(home: Path, place: Path, name: str) -> None:
    settings = settled(home, place, user=f"{name} = false", project=f"{name} = true")
    assert settings.value_of(name) is False
    assert settings.source_of(name) == f"{home / 'config.toml'}:1"


def test_a_project_file_may_name_a_server_that_the_user_approved(home: Path, place: Path) -> None:
    user = "[backend]\napproved = [\n  'https://Mem.Example/',\n]\n"
    settings = settled(home, place, user, "backend.origin = 'https://mem.example'")
    assert settings.backend.origin == "https://mem.example"


@pytest.mark.parametrize(
    "origin",
    ["https://mem.example", "https://mem.example:8443", "http://localhost", "https://good.example.evil.example"],
)
def test_a_project_file_may_name_no_other_server(home: Path, place: Path, origin: str) -> None:
    user = "backend.approved = ['https://good.example']"
    assert "is not approved" in refusal(home, place, user, f"backend.origin = '{origin}'")


@pytest.mark.parametrize(
    "origin",
    [
        "https://me:pw@good.example",
        "https://good.example/path",
        "https://good.example?x",
        "//good.example",
        "http://good.example",
        "http://localhost.good.example",
        "http://10.0.0.1",
    ],
)
def test_an_origin_is_a_scheme_a_host_and_a_port(home: Path, place: Path, origin: str) -> None:
    assert "without user, password or path" in refusal(home, place, user=f"backend.origin = '{origin}'")


def test_an_empty_table_is_valid(home: Path, place: Path) -> None:
    assert settled(home, place, user="[capture]\n[briefing]\n").capture.every == 5


def test_a_byte_order_mark_and_windows_line_ends_are_valid(home: Path, place: Path) -> None:
    (home / "config.toml").write_bytes(b"\xef\xbb\xbf# mine\r\nscope = 'shared'\r\n")
    assert load({"KEEPMUM_HOME": str(home)}, str(place)).source_of("scope") == f"{home / 'config.toml'}:2"


def test_a_file_that_is_not_utf8_is_named_with_its_line(home: Path, place: Path) -> None:
    (home / "config.toml").write_bytes(b"# mine\nuser = '\xff'\n")
    with pytest.raises(SettingsError, match=r"config\.toml:2 is not UTF-8"):
        load({"KEEPMUM_HOME": str(home)}, str(place))


def test_an_enormous_file_is_refused(home: Path, place: Path) -> None:
    assert "larger than 64 KiB" in refusal(home, place, user="#" * 65537)


@pytest.mark.parametrize("text", ["a." * 20_000 + "a = 1", "[" + "a." * 20_000 + "a]", "a = " + "[" * 20_000])
def test_a_line_that_would_keep_the_parser_busy_is_refused(home: Path, place: Path, text: str) -> None:
    assert "config.toml:2 is longer than 1000 characters" in refusal(home, place, user=f"# mine\n{text}")


def test_a_deeply_nested_file_is_refused(home: Path, place: Path) -> None:
    assert "is not TOML" in refusal(home, place, user="a = " + "[\n" * 20_000)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_named(home: Path, place: Path) -> None:
    settled(home, place)
    (home / "config.toml").chmod(0)
    with pytest.raises(SettingsError, match="cannot be read"):
        load({"KEEPMUM_HOME": str(home)}, str(place))


def test_a_pipe_is_not_read(home: Path, place: Path) -> None:
    os.mkfifo(home / "config.toml")
    os.mkfifo(place / ".keepmum.toml")
    assert load({"KEEPMUM_HOME": str(home)}, str(place)).capture.every == 5


def test_without_a_home_there_is_no_user_file_and_no_store(place: Path) -> None:
    settings = load({}, str(place))
    assert (settings.home, settings.store.path) == (None, None)


def test_without_a_start_there_is_no_project_file(home: Path) -> None:
    assert load({"KEEPMUM_HOME": str(home)}, None).project_file is None


def test_the_nearest_project_file_holds(home: Path, place: Path) -> None:
    (place / ".keepmum.toml").write_text("project = 'inner'", encoding="utf-8")
    settings = settled(home, place, project="project = 'outer'")
    assert (settings.project, settings.project_file) == ("inner", str(place / ".keepmum.toml"))


def test_a_project_file_is_found_through_a_symbolic_link(tmp_path: Path, place: Path) -> None:
    (place / ".keepmum.toml").write_text("", encoding="utf-8")
    (tmp_path / "link").symlink_to(place)
    assert find_project_file(str(tmp_path / "link")) == str(place / ".keepmum.toml")


def test_a_project_file_is_found_from_a_folder_that_is_gone(place: Path) -> None:
    (place / ".keepmum.toml").write_text("", encoding="utf-8")
    assert find_project_file(str(place / "gone" / "too")) == str(place / ".keepmum.toml")


def test_a_project_file_in_a_world_writable_folder_is_ignored(place: Path) -> None:
    (place.parent / ".keepmum.toml").write_text("", encoding="utf-8")
    place.parent.chmod(0o1777)
    assert find_project_file(str(place)) != str(place.parent / ".keepmum.toml")


def test_hooks_and_core_call_their_common_settings_the_same() -> None:
    assert [".".join(path) for path in switches._ALL if ".".join(path) not in SETTINGS] == []


def test_hooks_and_core_read_the_same_variables() -> None:
    # The server reads the dialect's variable itself, and refuses an unknown name.
    common = {".".join(path) for path in switches._ALL} - {"dialect"}
    ours = {(variable, name) for name in common for variable in SETTINGS[name].variables}
    assert {(variable, ".".join(path)) for variable, path in switches._VARIABLES} == ours


def test_every_setting_says_what_it_is_for() -> None:
    assert [name for name, declaration in SETTINGS.items() if not declaration.help.endswith(".")] == []


def test_every_setting_can_be_set_somewhere() -> None:
    assert [name for name, declaration in SETTINGS.items() if not declaration.files] == []


def test_no_two_settings_read_one_variable() -> None:
    variables = [variable for declaration in SETTINGS.values() for variable in declaration.variables]
    assert len(variables) == len(set(variables))


def test_a_server_with_a_stored_key_may_be_named_by_a_project(home: Path, place: Path) -> None:
    credentials.store(str(home), "https://mem.example", "a-key")
    assert (
        settled(home, place, project="backend.origin = 'https://mem.example'").backend.origin == "https://mem.example"
    )


def test_the_users_own_server_may_be_named_by_a_project(home: Path, place: Path) -> None:
    line = "backend.origin = 'https://mem.example'"
    assert settled(home, place, line, line).backend.origin == "https://mem.example"


@pytest.mark.parametrize(
    ("user", "project", "variables", "approved"),
    [
        ("backend.origin = 'https://mem.example'", "", {}, True),
        ("", "", {"MEMORY_API_URL": "https://mem.example"}, False),
        ("backend.approved = ['https://mem.example']", "", {"MEMORY_API_URL": "https://mem.example"}, True),
        ("backend.approved = ['https://mem.example']", "backend.origin = 'https://mem.example'", {}, False),
        ("backend.approved = ['https://other.example']", "", {"MEMORY_API_URL": "https://mem.example"}, False),
    ],
    ids=["the user's", "a variable's", "a variable's, approved", "a project's, approved", "another"],
)
def test_a_key_in_a_variable_is_for_what_the_user_names(
    home: Path, place: Path, user: str, project: str, variables: dict[str, str], *, approved: bool
) -> None:
    chosen = settled(home, place, user, project, **variables)
    assert is_approved(chosen, "https://mem.example") is approved
