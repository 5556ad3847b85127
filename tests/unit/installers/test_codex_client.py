"""Codex: planning, installing, checking and uninstalling with a fake client."""

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
from keepmum_installers.clients.checks import dotted
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.codex import command_line, health, manifests, registration
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.product import read

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
def install(spec: InstallSpec, machine: Machine, clone: Path) -> Callable[..., int]:
    """Installs as from a wheel, since a bundle would run the demonstration with a real server."""

    def run(**options: object) -> int:
        chosen = installing.Options(**{"source": str(clone), "clients": ("codex",), **options})  # type: ignore[arg-type]
        return installing.install(chosen, spec.product, None, machine, Console(io.StringIO(), io.StringIO()))

    return run


@pytest.fixture
def uninstall(machine: Machine) -> Callable[..., int]:
    def run(**options: object) -> int:
        chosen = removing.Options(**options)  # type: ignore[arg-type]  # as the test says
        return removing.uninstall(chosen, machine, Console(io.StringIO(), io.StringIO()))

    return run


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def write_config(codex: FakeCodex, content: bytes = CONFIG) -> Path:
    path = Path(codex.config)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


# --- the generated plugin


def test_the_generated_plugin_has_no_code_and_no_version(spec: InstallSpec, clone: Path) -> None:
    texts = manifests.plugin_files(spec.product, str(clone))
    assert sorted(texts) == [
        ".agents/plugins/marketplace.json",
        ".codex-plugin/plugin.json",
        ".mcp.codex.json",
        "hooks/codex.json",
        "plugin/skills/memory/SKILL.md",
    ]
    assert "version" not in json.loads(texts[".codex-plugin/plugin.json"])


def test_a_new_version_changes_no_byte_of_the_generated_plugin(spec: InstallSpec, clone: Path) -> None:
    newer = dataclasses.replace(spec.product, version="9.9.9")
    assert manifests.plugin_files(newer, str(clone)) == manifests.plugin_files(spec.product, str(clone))


def test_a_folder_with_blanks_and_quotes_is_one_shell_word() -> None:
    command = manifests.Start(root="/it's here/k", python="/a b/python").hook("stop")
    assert command == "'/a b/python' -I -S '/it'\"'\"'s here/k/hooks/run.py' stop --client codex"


def test_the_server_of_a_local_bundle_starts_in_the_sessions_folder() -> None:
    assert "cwd" not in manifests.Start(root="/k").server()
    assert manifests.Start().server()["cwd"] == "."


def test_no_matcher_has_look_ahead(root: Path) -> None:
    assert "(?" not in json.dumps(manifests.render(read(str(root)))["hooks/codex.json"])


# --- installing


def test_new_machine_gets_marketplace_and_plugin(install: Callable[..., int], codex: FakeCodex, home: Path) -> None:
    assert install() == 0
    place = home / ".keepmum" / "plugins" / "codex"
    assert codex.changes == [f"plugin marketplace add {place}", "plugin add keepmum@keepmum"]


def test_second_installation_runs_no_command(install: Callable[..., int], codex: FakeCodex) -> None:
    install()
    codex.called.clear()
    assert install() == 0
    assert codex.changes == []


def test_changed_files_are_installed_again(install: Callable[..., int], codex: FakeCodex, clone: Path) -> None:
    install()
    codex.called.clear()
    (clone / "plugin" / "skills" / "memory" / "SKILL.md").write_text("another skill")
    assert install() == 0
    assert codex.changes == ["plugin add keepmum@keepmum"]
    copy = Path(codex.home) / "plugins" / "cache" / "keepmum" / "keepmum" / "local"
    assert (copy / "plugin" / "skills" / "memory" / "SKILL.md").read_text() == "another skill"


def test_a_repository_is_fetched_by_the_client(install: Callable[..., int], codex: FakeCodex) -> None:
    assert install(source="team/keepmum") == 0
    assert codex.changes == ["plugin marketplace add team/keepmum", "plugin add keepmum@keepmum"]


def test_the_clients_own_copy_is_not_a_source(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    copy = Path(codex.home) / "plugins" / "cache" / "keepmum" / "keepmum" / "0.1.0"
    planned = [str(step) for step in registration.plan(dataclasses.replace(spec, root=str(copy)), machine).steps]
    assert "keepmum/keepmum" in planned[0]


def test_older_copy_of_a_repository_is_updated(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    spec = dataclasses.replace(spec, source="team/keepmum")
    codex.marketplaces = [
        {"name": "keepmum", "marketplaceSource": {"sourceType": "git", "source": "https://github.com/team/keepmum.git"}}
    ]
    codex.plugins = [{"pluginId": "keepmum@keepmum", "version": "0.0.1", "enabled": True}]
    planned = [str(step) for step in registration.plan(spec, machine).steps]
    assert planned[0].startswith("run `codex plugin marketplace upgrade keepmum`")
    assert planned[1].startswith("run `codex plugin add keepmum@keepmum`")


def test_the_notes_ask_for_trust_in_the_hooks(spec: InstallSpec, machine: Machine) -> None:
    assert "/hooks" in " ".join(registration.plan(spec, machine).closing)


# --- refusals


def refusal(spec: InstallSpec, machine: Machine) -> InstallError:
    with pytest.raises(InstallError) as caught:
        registration.plan(spec, machine)
    assert caught.value.next_step
    return caught.value


def test_missing_client_is_reported(spec: InstallSpec, machine: Machine, home: Path) -> None:
    machine = dataclasses.replace(machine, environ={"PATH": str(home)})
    assert "not found" in str(refusal(spec, machine))


def test_old_client_is_refused_with_the_needed_version(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    codex.version = "codex-cli 0.140.0"
    assert "0.140.0 is too old" in str(refusal(spec, machine))
    assert dotted(command_line.OLDEST) in refusal(spec, machine).next_step


def test_damaged_settings_are_refused_with_line_and_column(
    spec: InstallSpec, machine: Machine, codex: FakeCodex
) -> None:
    path = write_config(codex, b"a = 1\nb = \n")
    assert "line 2, column 5" in str(refusal(spec, machine))
    assert path.read_bytes() == b"a = 1\nb = \n"


def test_settings_that_are_not_text_are_refused(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    write_config(codex, b"\xff")
    assert "UTF-8" in str(refusal(spec, machine))


def test_read_only_settings_are_refused(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    write_config(codex).chmod(0o444)
    assert "read-only" in str(refusal(spec, machine))


def test_another_marketplace_with_our_name_is_refused(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    codex.marketplaces = [{"name": "keepmum", "marketplaceSource": {"sourceType": "local", "source": "/other"}}]
    assert "/other" in str(refusal(spec, machine))


def test_a_server_of_the_user_with_our_name_is_refused(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    write_config(codex, b'[mcp_servers.keepmum]\ncommand = "x"\n')
    assert "would hide" in str(refusal(spec, machine))


def test_a_server_of_another_plugin_with_our_name_is_refused(
    spec: InstallSpec, machine: Machine, codex: FakeCodex
) -> None:
    codex.servers = ["keepmum"]
    assert "another plugin" in str(refusal(spec, machine))


def test_failing_client_is_reported_with_its_message(install: Callable[..., int], codex: FakeCodex) -> None:
    codex.broken["plugin add"] = Outcome(1, err="WARNING: something else\nError: disk is full")
    assert codex.broken["plugin add"].sentence == "Error: disk is full"
    assert install() == 1


def test_client_without_a_list_is_an_error(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    codex.broken["plugin list"] = Outcome(1, err="Error: not today")
    assert "not today" in str(refusal(spec, machine))


# --- removing


@pytest.mark.parametrize("config", [CONFIG, None])
def test_uninstalling_restores_the_clients_folder(
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
    if config is None:  # the client created the file, which stays without our lines
        assert after.pop(codex.config, b"") == b""
    else:
        assert os.stat(codex.config).st_mode & 0o777 == 0o640
    assert after == before


def test_later_changes_of_the_user_stay(
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


def test_settings_behind_a_symbolic_link_stay_there(
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


def test_already_removed_plugin_is_not_an_error(
    install: Callable[..., int], uninstall: Callable[..., int], codex: FakeCodex
) -> None:
    install()
    codex.run((codex.program, "plugin", "remove", "keepmum@keepmum"), 1)
    codex.run((codex.program, "plugin", "marketplace", "remove", "keepmum"), 1)
    assert uninstall() == 0


def test_plugin_installed_by_hand_is_reported_after_removal(machine: Machine, codex: FakeCodex) -> None:
    codex.plugins = [{"pluginId": "keepmum@keepmum", "version": "0.1.0", "enabled": True}]
    assert list(CLIENTS["codex"].remains(machine)) == []  # nothing in the settings: the client is not started
    assert codex.called == []
    Path(codex.config).parent.mkdir(exist_ok=True)
    Path(codex.config).write_text('[plugins."keepmum@keepmum"]\nenabled = true\n', encoding="utf-8")
    assert any("codex plugin remove" in line for line in CLIENTS["codex"].remains(machine))


def test_a_failure_in_one_client_does_not_stop_the_others(
    install: Callable[..., int], codex: FakeCodex, claude: FakeClaude, spec: InstallSpec, machine: Machine
) -> None:
    write_config(codex)
    install()
    Path(claude.settings).parent.mkdir()
    Path(claude.settings).write_bytes(b'{"theme": "dark"}')
    path = os.pathsep.join([os.path.dirname(codex.program), os.path.dirname(claude.program)])
    both = dataclasses.replace(
        machine,
        environ={"PATH": path},
        run=lambda argv, seconds, *_: (claude if argv[0] == claude.program else codex).run(argv, seconds),
    )
    quiet = Console(io.StringIO(), io.StringIO())
    options = installing.Options(source=spec.root, clients=("claude-code",))
    assert installing.install(options, spec.product, None, both, quiet) == 0
    claude.broken["plugin uninstall"] = Outcome(1, err="busy")
    assert removing.uninstall(removing.Options(), both, quiet) == 1
    assert Path(codex.config).read_bytes() == CONFIG
    assert Path(claude.settings).read_bytes() != b'{"theme": "dark"}'


# --- a repository


@pytest.mark.parametrize("before", [None, b'# ours\r\nmodel = "x"', b"[plugins.other]\nenabled = true\n"])
def test_uninstalling_restores_the_repositorys_bytes(
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


def test_a_repository_with_the_plugin_enabled_is_not_edited(
    spec: InstallSpec, machine: Machine, repository: Path
) -> None:
    (repository / ".codex").mkdir()
    (repository / ".codex" / "config.toml").write_text('plugins = { "keepmum@keepmum" = { enabled = true } }\n')
    assert CLIENTS["codex"].plan(dataclasses.replace(spec, scope="project", source="t/k"), machine).steps == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('[plugins."keepmum@keepmum"]\nenabled = false\n', "switches the plugin off", id="off"),
        pytest.param("[plugins\n", "line 1", id="damaged"),
    ],
)
def test_a_repository_with_the_plugin_disabled_is_refused(
    spec: InstallSpec, machine: Machine, repository: Path, text: str, words: str
) -> None:
    (repository / ".codex").mkdir()
    (repository / ".codex" / "config.toml").write_text(text)
    with pytest.raises(InstallError, match=words):
        CLIENTS["codex"].plan(dataclasses.replace(spec, scope="project", source="t/k"), machine)


def test_home_is_not_a_project(spec: InstallSpec, machine: Machine, home: Path) -> None:
    with pytest.raises(InstallError, match="is your home"):
        CLIENTS["codex"].plan(dataclasses.replace(spec, scope="project"), dataclasses.replace(machine, cwd=str(home)))


def test_an_unsupported_scope_is_refused(install: Callable[..., int]) -> None:
    with pytest.raises(InstallError, match="--scope local"):
        install(scope="local")


# --- the doctor


def found(machine: Machine, spec: InstallSpec, about: str) -> list[Finding]:
    return [each for each in health.checks(machine, spec.product) if each.about == f"codex {about}".strip()]


def test_missing_client_is_not_a_problem(spec: InstallSpec, machine: Machine, home: Path) -> None:
    machine = dataclasses.replace(machine, environ={"PATH": str(home)})
    assert [each.level for each in health.checks(machine, spec.product)] == ["absent"]


@pytest.mark.parametrize(
    ("trust", "expected"),
    [
        ("trusted", ("ok", "trusted: stop")),
        ("managed", ("ok", "managed: stop")),
        ("untrusted", ("note", "not trusted yet, so they do not run: stop")),
        ("modified", ("problem", "changed since you trusted them, so they do not run: stop")),
    ],
)
def test_the_users_trust_in_the_hooks_is_reported(
    install: Callable[..., int],
    spec: InstallSpec,
    machine: Machine,
    codex: FakeCodex,
    *,
    trust: str,
    expected: tuple[str, str],
) -> None:
    install()
    codex.judge_hooks(stop=trust)
    (finding,) = found(machine, spec, "hooks")
    assert (finding.level, finding.says) == expected


def test_a_client_that_sees_no_hooks_is_a_problem(
    install: Callable[..., int], spec: InstallSpec, machine: Machine, codex: FakeCodex
) -> None:
    install()
    codex.judge_hooks()
    assert [each.level for each in found(machine, spec, "hooks")] == ["problem"]


def test_a_client_that_does_not_answer_is_reported(
    install: Callable[..., int], spec: InstallSpec, machine: Machine
) -> None:
    install()
    (finding,) = found(machine, spec, "hooks")
    assert "app-server" in finding.says


def test_missing_code_is_reported(
    install: Callable[..., int], spec: InstallSpec, machine: Machine, codex: FakeCodex, clone: Path
) -> None:
    install()
    codex.judge_hooks()
    (clone / "plugin" / "launch.py").unlink()
    (finding,) = found(machine, spec, "plugin")
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
def test_what_settings_switch_off_or_hide_is_reported(
    spec: InstallSpec, machine: Machine, codex: FakeCodex, config: bytes, words: str
) -> None:
    write_config(codex, config)
    (finding,) = found(machine, spec, "settings")
    assert words in finding.says


def test_damaged_settings_are_reported_with_line_and_column(
    spec: InstallSpec, machine: Machine, codex: FakeCodex
) -> None:
    write_config(codex, b"a = 1\nb = \n")
    (finding,) = found(machine, spec, "plugin")
    assert "line 2, column 5" in finding.says


@pytest.mark.parametrize(("level", "count"), [("trusted", 0), ("untrusted", 1), (None, 1)])
def test_an_untrusted_repository_is_reported(  # noqa: PLR0917 - a table's columns and the machine
    spec: InstallSpec, machine: Machine, codex: FakeCodex, repository: Path, level: str | None, count: int
) -> None:
    (repository / ".codex").mkdir()
    (repository / ".codex" / "config.toml").write_text('[plugins."keepmum@keepmum"]\nenabled = true\n')
    write_config(codex, f'[projects."{repository}"]\ntrust_level = "{level}"\n'.encode() if level else b"")
    assert len(found(machine, spec, "repository")) == count


def test_disabled_plugin_is_reported(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    codex.plugins = [{"pluginId": "keepmum@keepmum", "version": "0.1.0", "enabled": False}]
    (finding,) = found(machine, spec, "plugin")
    assert "switched off" in finding.says


def test_another_version_from_a_repository_is_reported(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    codex.plugins = [{"pluginId": "keepmum@keepmum", "version": "0.0.1", "enabled": True}]
    assert "0.0.1" in found(machine, spec, "plugin")[0].says


def test_old_client_is_a_problem(spec: InstallSpec, machine: Machine, codex: FakeCodex) -> None:
    codex.version = "codex-cli 0.140.0"
    (finding,) = found(machine, spec, "")
    assert finding.level == "problem"
