"""Codex: what is planned, carried out, found by the doctor and undone, with a client that is a fake."""

from __future__ import annotations

import dataclasses
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_claude import FakeClaude
from fake_codex import FakeCodex, machine_with_codex
from keepmum_installers import install as installing
from keepmum_installers import uninstall as removing
from keepmum_installers.clients import CLIENTS
from keepmum_installers.clients.client import Wish
from keepmum_installers.clients.codex import command_line, health, manifests, registration, staging
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.voice import Voice

CONFIG = b'# mine\r\nmodel = "gpt"  # the fast one\r\n\r\n[tui] # keep\r\ntheme = "x"\r\n'
JUDGED = '[hooks.state]\n\n[hooks.state."keepmum@keepmum:hooks/codex.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'


@pytest.fixture
def codex(home: Path) -> FakeCodex:
    folder = home / "codex-programs"
    folder.mkdir()
    for name in ("codex", "python3"):
        (folder / name).write_text("")
        (folder / name).chmod(0o755)
    return FakeCodex(str(folder / "codex"), str(home / ".codex"))


@pytest.fixture
def machine(codex: FakeCodex, home: Path, repository: Path) -> Machine:
    return machine_with_codex(codex, str(home), str(repository))


@pytest.fixture
def install(wish: Wish, machine: Machine, clone: Path) -> Callable[..., int]:
    """Installs as from a wheel, since a bundle would show the main job with a real server."""

    def run(**options: object) -> int:
        chosen = installing.Options(**{"source": str(clone), "clients": ("codex",), **options})  # type: ignore[arg-type]
        return installing.install(chosen, wish.product, None, machine, Voice(io.StringIO(), io.StringIO()))

    return run


@pytest.fixture
def uninstall(machine: Machine) -> Callable[..., int]:
    def run(**options: object) -> int:
        chosen = removing.Options(**options)  # type: ignore[arg-type]  # as the test says
        return removing.uninstall(chosen, machine, Voice(io.StringIO(), io.StringIO()))

    return run


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def write_config(codex: FakeCodex, content: bytes = CONFIG) -> Path:
    path = Path(codex.config)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


# --- what is handed over


def test_a_copy_holds_no_code_and_no_version(wish: Wish, clone: Path) -> None:
    texts = staging.texts(wish.product, str(clone))
    assert sorted(texts) == [
        ".agents/plugins/marketplace.json",
        ".codex-plugin/plugin.json",
        ".mcp.codex.json",
        "hooks/codex.json",
        "plugin/skills/memory/SKILL.md",
    ]
    assert "version" not in json.loads(texts[manifests.MANIFEST])


def test_a_new_version_of_the_product_changes_no_byte_that_the_client_judges(wish: Wish, clone: Path) -> None:
    newer = dataclasses.replace(wish.product, version="9.9.9")
    assert staging.texts(newer, str(clone)) == staging.texts(wish.product, str(clone))


def test_a_folder_with_blanks_and_quotes_is_one_word_of_the_command() -> None:
    command = manifests.Start(root="/it's here/k", python="/a b/python").hook("stop")
    assert command == "'/a b/python' -I -S '/it'\"'\"'s here/k/hooks/run.py' stop --client codex"


def test_a_server_of_the_users_own_bundle_starts_where_the_session_works() -> None:
    assert "cwd" not in manifests.Start(root="/k").server()
    assert manifests.Start().server()["cwd"] == "."


def test_no_matcher_needs_to_look_ahead() -> None:
    assert "(?" not in json.dumps(manifests.hooks(manifests.Start()))


# --- installing


def test_new_machine_gets_marketplace_and_plugin(install: Callable[..., int], codex: FakeCodex, home: Path) -> None:
    assert install() == 0
    place = home / ".keepmum" / "plugins" / "codex"
    assert codex.changes == [f"plugin marketplace add {place}", "plugin add keepmum@keepmum"]


def test_second_installation_calls_nothing(install: Callable[..., int], codex: FakeCodex) -> None:
    install()
    codex.called.clear()
    assert install() == 0
    assert codex.changes == []


def test_files_that_changed_are_handed_over_anew(install: Callable[..., int], codex: FakeCodex, clone: Path) -> None:
    install()
    codex.called.clear()
    (clone / "plugin" / "skills" / "memory" / "SKILL.md").write_text("another skill")
    assert install() == 0
    assert codex.changes == ["plugin add keepmum@keepmum"]
    copy = Path(codex.home) / "plugins" / "cache" / "keepmum" / "keepmum" / "local"
    assert (copy / "plugin" / "skills" / "memory" / "SKILL.md").read_text() == "another skill"


def test_a_repository_is_left_to_the_client(install: Callable[..., int], codex: FakeCodex) -> None:
    assert install(source="team/keepmum") == 0
    assert codex.changes == ["plugin marketplace add team/keepmum", "plugin add keepmum@keepmum"]


def test_copy_that_the_client_keeps_is_no_source(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    copy = Path(codex.home) / "plugins" / "cache" / "keepmum" / "keepmum" / "0.1.0"
    planned = [str(step) for step in registration.plan(dataclasses.replace(wish, root=str(copy)), machine).steps]
    assert "keepmum/keepmum" in planned[0]


def test_older_copy_of_a_repository_is_updated(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    wish = dataclasses.replace(wish, source="team/keepmum")
    codex.marketplaces = [
        {"name": "keepmum", "marketplaceSource": {"sourceType": "git", "source": "https://github.com/team/keepmum.git"}}
    ]
    codex.plugins = [{"pluginId": "keepmum@keepmum", "version": "0.0.1", "enabled": True}]
    planned = [str(step) for step in registration.plan(wish, machine).steps]
    assert planned[0].startswith("run `codex plugin marketplace upgrade keepmum`")
    assert planned[1].startswith("run `codex plugin add keepmum@keepmum`")


def test_what_the_user_has_to_do_about_hooks_is_said(wish: Wish, machine: Machine) -> None:
    assert "/hooks" in " ".join(registration.plan(wish, machine).notes)


# --- what is in the way


def refusal(wish: Wish, machine: Machine) -> InstallError:
    with pytest.raises(InstallError) as caught:
        registration.plan(wish, machine)
    assert caught.value.next_step
    return caught.value


def test_missing_client_is_told(wish: Wish, machine: Machine, home: Path) -> None:
    machine = dataclasses.replace(machine, environ={"PATH": str(home)})
    assert "not found" in str(refusal(wish, machine))


def test_old_client_is_told_what_it_has_to_be(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    codex.version = "codex-cli 0.140.0"
    assert "0.140.0 is too old" in str(refusal(wish, machine))
    assert command_line.dotted(command_line.OLDEST) in refusal(wish, machine).next_step


def test_damaged_settings_are_left_alone_with_line_and_column(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    path = write_config(codex, b"a = 1\nb = \n")
    assert "line 2, column 5" in str(refusal(wish, machine))
    assert path.read_bytes() == b"a = 1\nb = \n"


def test_settings_that_are_no_text_are_left_alone(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    write_config(codex, b"\xff")
    assert "UTF-8" in str(refusal(wish, machine))


def test_read_only_settings_are_left_alone(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    write_config(codex).chmod(0o444)
    assert "read-only" in str(refusal(wish, machine))


def test_another_marketplace_of_the_name_is_named(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    codex.marketplaces = [{"name": "keepmum", "marketplaceSource": {"sourceType": "local", "source": "/other"}}]
    assert "/other" in str(refusal(wish, machine))


def test_a_server_of_the_users_own_that_would_hide_ours_is_named(
    wish: Wish, machine: Machine, codex: FakeCodex
) -> None:
    write_config(codex, b'[mcp_servers.keepmum]\ncommand = "x"\n')
    assert "would hide" in str(refusal(wish, machine))


def test_a_server_of_another_plugin_that_would_hide_ours_is_named(
    wish: Wish, machine: Machine, codex: FakeCodex
) -> None:
    codex.servers = ["keepmum"]
    assert "another plugin" in str(refusal(wish, machine))


def test_client_that_fails_is_told_in_its_own_words(install: Callable[..., int], codex: FakeCodex) -> None:
    codex.broken["plugin add"] = Outcome(1, err="WARNING: something else\nError: disk is full")
    assert codex.broken["plugin add"].sentence == "Error: disk is full"
    assert install() == 1


def test_client_that_gives_no_list_is_an_error(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    codex.broken["plugin list"] = Outcome(1, err="Error: not today")
    assert "not today" in str(refusal(wish, machine))


# --- removing


@pytest.mark.parametrize("config", [CONFIG, None])
def test_uninstalling_leaves_the_clients_folder_as_it_was(
    install: Callable[..., int], uninstall: Callable[..., int], codex: FakeCodex, config: bytes | None
) -> None:
    Path(codex.home).mkdir()
    if config is not None:
        write_config(codex, config).chmod(0o640)
    before = tree(Path(codex.home))
    install()
    with open(codex.config, "a", encoding="utf-8") as file:  # the user reviewed the hooks
        file.write("\n" + JUDGED)
    assert uninstall() == 0
    after = tree(Path(codex.home))
    if config is None:  # the client made the file, and it stays, without a word of ours
        assert after.pop(codex.config, b"") == b""
    else:
        assert os.stat(codex.config).st_mode & 0o777 == 0o640
    assert after == before


def test_what_the_user_changed_since_stays(
    install: Callable[..., int], uninstall: Callable[..., int], codex: FakeCodex
) -> None:
    write_config(codex)
    install()
    with open(codex.config, "a", encoding="utf-8", newline="") as file:
        file.write(f"\n{JUDGED}\n[mine]\nx = 1\n")
    uninstall()
    text = Path(codex.config).read_bytes()
    assert text.startswith(CONFIG)
    assert text.endswith(b"[mine]\nx = 1\n")
    assert b"keepmum" not in text


def test_settings_behind_a_link_stay_behind_it(
    install: Callable[..., int], uninstall: Callable[..., int], codex: FakeCodex, tmp_path: Path
) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_bytes(CONFIG)
    Path(codex.home).mkdir()
    Path(codex.config).symlink_to(real)
    install()
    uninstall()
    assert Path(codex.config).is_symlink()
    assert real.read_bytes() == CONFIG


def test_plugin_that_the_user_removed_already_is_no_error(
    install: Callable[..., int], uninstall: Callable[..., int], codex: FakeCodex
) -> None:
    install()
    codex.run((codex.program, "plugin", "remove", "keepmum@keepmum"), 1)
    codex.run((codex.program, "plugin", "marketplace", "remove", "keepmum"), 1)
    assert uninstall() == 0


def test_plugin_that_was_installed_by_hand_is_named_after_removal(machine: Machine, codex: FakeCodex) -> None:
    codex.plugins = [{"pluginId": "keepmum@keepmum", "version": "0.1.0", "enabled": True}]
    assert any("codex plugin remove" in line for line in CLIENTS["codex"].remains(machine))


def test_what_one_client_cannot_undo_keeps_no_other_from_its_settings(
    install: Callable[..., int], codex: FakeCodex, claude: FakeClaude, wish: Wish, machine: Machine
) -> None:
    write_config(codex)
    install()
    Path(claude.settings).parent.mkdir()
    Path(claude.settings).write_bytes(b'{"theme": "dark"}')
    path = os.pathsep.join([os.path.dirname(codex.program), os.path.dirname(claude.program)])
    both = dataclasses.replace(
        machine,
        environ={"PATH": path},
        run=lambda argv, seconds: (claude if argv[0] == claude.program else codex).run(argv, seconds),
    )
    quiet = Voice(io.StringIO(), io.StringIO())
    options = installing.Options(source=wish.root, clients=("claude-code",))
    assert installing.install(options, wish.product, None, both, quiet) == 0
    claude.broken["plugin uninstall"] = Outcome(1, err="busy")
    assert removing.uninstall(removing.Options(), both, quiet) == 1
    assert Path(codex.config).read_bytes() == CONFIG
    assert Path(claude.settings).read_bytes() != b'{"theme": "dark"}'


# --- a repository


@pytest.mark.parametrize("before", [None, b'# ours\r\nmodel = "x"', b"[plugins.other]\nenabled = true\n"])
def test_a_repository_gets_its_bytes_back(
    install: Callable[..., int], uninstall: Callable[..., int], repository: Path, before: bytes | None
) -> None:
    path = repository / ".codex" / "config.toml"
    if before is not None:
        path.parent.mkdir()
        path.write_bytes(before)
    start = tree(repository)
    assert install(scope="project", source="team/keepmum") == 0
    assert b'[plugins."keepmum@keepmum"]' in path.read_bytes()
    assert uninstall(scope="project") == 0
    assert tree(repository) == start


def test_a_repository_that_says_so_already_is_not_edited(wish: Wish, machine: Machine, repository: Path) -> None:
    (repository / ".codex").mkdir()
    (repository / ".codex" / "config.toml").write_text('plugins = { "keepmum@keepmum" = { enabled = true } }\n')
    assert CLIENTS["codex"].plan(dataclasses.replace(wish, scope="project", source="t/k"), machine).steps == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('[plugins."keepmum@keepmum"]\nenabled = false\n', "switches the plugin off", id="off"),
        pytest.param("[plugins\n", "line 1", id="damaged"),
    ],
)
def test_a_repository_that_says_the_contrary_is_left_alone(
    wish: Wish, machine: Machine, repository: Path, text: str, words: str
) -> None:
    (repository / ".codex").mkdir()
    (repository / ".codex" / "config.toml").write_text(text)
    with pytest.raises(InstallError, match=words):
        CLIENTS["codex"].plan(dataclasses.replace(wish, scope="project", source="t/k"), machine)


def test_home_is_no_project(wish: Wish, machine: Machine, home: Path) -> None:
    with pytest.raises(InstallError, match="is your home"):
        CLIENTS["codex"].plan(dataclasses.replace(wish, scope="project"), dataclasses.replace(machine, cwd=str(home)))


def test_a_scope_that_the_client_does_not_have_is_refused(install: Callable[..., int]) -> None:
    with pytest.raises(InstallError, match="--scope local"):
        install(scope="local")


# --- the doctor


def found(machine: Machine, wish: Wish, about: str) -> list[Finding]:
    return [each for each in health.checks(machine, wish.product) if each.about == f"codex {about}".strip()]


def test_machine_without_the_client_is_no_problem(wish: Wish, machine: Machine, home: Path) -> None:
    machine = dataclasses.replace(machine, environ={"PATH": str(home)})
    assert [each.level for each in health.checks(machine, wish.product)] == ["absent"]


@pytest.mark.parametrize(
    ("trust", "expected"),
    [
        ("trusted", ("ok", "trusted: stop")),
        ("managed", ("ok", "managed: stop")),
        ("untrusted", ("note", "not trusted yet, so they do not run: stop")),
        ("modified", ("problem", "changed since you trusted them, so they do not run: stop")),
    ],
)
def test_the_users_judgement_of_the_hooks_is_told(
    install: Callable[..., int],
    wish: Wish,
    machine: Machine,
    codex: FakeCodex,
    *,
    trust: str,
    expected: tuple[str, str],
) -> None:
    install()
    codex.judge_hooks(stop=trust)
    (finding,) = found(machine, wish, "hooks")
    assert (finding.level, finding.says) == expected


def test_a_client_that_sees_no_hooks_is_a_problem(
    install: Callable[..., int], wish: Wish, machine: Machine, codex: FakeCodex
) -> None:
    install()
    codex.judge_hooks()
    assert [each.level for each in found(machine, wish, "hooks")] == ["problem"]


def test_a_client_that_does_not_answer_is_told(install: Callable[..., int], wish: Wish, machine: Machine) -> None:
    install()
    (finding,) = found(machine, wish, "hooks")
    assert "app-server" in finding.says


def test_code_that_is_gone_is_told(
    install: Callable[..., int], wish: Wish, machine: Machine, codex: FakeCodex, clone: Path
) -> None:
    install()
    codex.judge_hooks()
    (clone / "plugin" / "launch.py").unlink()
    (finding,) = found(machine, wish, "plugin")
    assert finding.level == "problem"
    assert str(clone) in finding.says


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (b"[features]\nhooks = false\n", "all hooks off"),
        (b"[features]\nplugins = false\n", "all plugins off"),
        (b'[mcp_servers.keepmum]\ncommand = "x"\n', "hides the plugin's"),
    ],
)
def test_what_settings_switch_off_or_hide_is_told(
    wish: Wish, machine: Machine, codex: FakeCodex, config: bytes, words: str
) -> None:
    write_config(codex, config)
    (finding,) = found(machine, wish, "settings")
    assert words in finding.says


def test_damaged_settings_are_told_with_line_and_column(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    write_config(codex, b"a = 1\nb = \n")
    (finding,) = found(machine, wish, "plugin")
    assert "line 2, column 5" in finding.says


@pytest.mark.parametrize(("level", "count"), [("trusted", 0), ("untrusted", 1), (None, 1)])
def test_a_repository_that_is_not_trusted_is_told(  # noqa: PLR0917 - a table's columns and the machine
    wish: Wish, machine: Machine, codex: FakeCodex, repository: Path, level: str | None, count: int
) -> None:
    (repository / ".codex").mkdir()
    (repository / ".codex" / "config.toml").write_text('[plugins."keepmum@keepmum"]\nenabled = true\n')
    write_config(codex, f'[projects."{repository}"]\ntrust_level = "{level}"\n'.encode() if level else b"")
    assert len(found(machine, wish, "repository")) == count


def test_plugin_that_is_switched_off_is_told(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    codex.plugins = [{"pluginId": "keepmum@keepmum", "version": "0.1.0", "enabled": False}]
    (finding,) = found(machine, wish, "plugin")
    assert "switched off" in finding.says


def test_another_version_from_a_repository_is_told(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    codex.plugins = [{"pluginId": "keepmum@keepmum", "version": "0.0.1", "enabled": True}]
    assert "0.0.1" in found(machine, wish, "plugin")[0].says


def test_old_client_is_a_problem(wish: Wish, machine: Machine, codex: FakeCodex) -> None:
    codex.version = "codex-cli 0.140.0"
    (finding,) = found(machine, wish, "")
    assert finding.level == "problem"
