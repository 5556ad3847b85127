"""Installing and uninstalling with a fake client and real files."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fake_claude import FakeClaude
from keepmum_installers import install as installing
from keepmum_installers import team
from keepmum_installers import uninstall as removing
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine, Outcome

SETTINGS = b'{\r\n    "theme": "dark",\r\n    "permissions": {"allow": []},\r\n    "model": "x"\r\n}'


class RecordedConsole(Console):
    """A console that records its output."""

    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        super().__init__(self.out, self.err)


@pytest.fixture
def recorded() -> RecordedConsole:
    return RecordedConsole()


@pytest.fixture
def install(spec: InstallSpec, machine: Machine, recorded: RecordedConsole, clone: Path) -> Callable[..., int]:
    """Installs as from a wheel, since a bundle would run the demonstration with a real server."""

    def run(**options: object) -> int:
        chosen = installing.Options(**{"source": str(clone), **options})  # type: ignore[arg-type]  # as the test says
        return installing.install(chosen, spec.product, None, machine, recorded)

    return run


@pytest.fixture
def uninstall(machine: Machine, recorded: RecordedConsole) -> Callable[..., int]:
    def run(**options: object) -> int:
        chosen = removing.Options(**options)  # type: ignore[arg-type]  # as the test says
        return removing.uninstall(chosen, machine, recorded)

    return run


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_plan_is_shown_before_it_is_executed(install: Callable[..., int], recorded: RecordedConsole) -> None:
    assert install(verbose=True) == 0
    assert "run `claude plugin install keepmum@keepmum --scope user`" in recorded.out.getvalue()


def test_second_installation_runs_no_command(
    install: Callable[..., int], recorded: RecordedConsole, claude: FakeClaude
) -> None:
    install()
    before = claude.changes
    assert install() == 0
    assert claude.changes == before
    assert "Nothing to do" in recorded.out.getvalue()


def test_a_list_of_projects_that_koi_reads_stays_and_is_reported(
    install: Callable[..., int], uninstall: Callable[..., int], recorded: RecordedConsole, home: Path
) -> None:
    install()
    (home / ".koi").mkdir()
    (home / ".koi" / "registry.json").write_text("{}", encoding="utf-8")
    assert uninstall() == 0
    assert (home / ".koi" / "registry.json").exists()
    assert f"{home}/.koi/registry.json stays" in recorded.out.getvalue()


def test_dry_run_changes_nothing(install: Callable[..., int], claude: FakeClaude, home: Path) -> None:
    before = _tree(home)
    assert install(dry_run=True) == 0
    assert (claude.changes, _tree(home)) == ([], before)


@pytest.mark.parametrize("settings", [SETTINGS, b"{}", b'{"enabledPlugins":{}}\n', None])
def test_uninstalling_restores_user_settings(
    install: Callable[..., int], uninstall: Callable[..., int], claude: FakeClaude, settings: bytes | None
) -> None:
    path = Path(claude.settings)
    path.parent.mkdir()
    if settings is not None:
        path.write_bytes(settings)
    assert (install(), uninstall()) == (0, 0)
    assert (path.read_bytes() if path.exists() else None) == settings


def test_later_changes_of_user_settings_stay(
    install: Callable[..., int], uninstall: Callable[..., int], claude: FakeClaude
) -> None:
    path = Path(claude.settings)
    path.parent.mkdir()
    path.write_bytes(SETTINGS)
    install()
    path.write_text(json.dumps({**json.loads(path.read_text()), "theme": "light"}))
    assert uninstall() == 0
    assert json.loads(path.read_text()) == {**json.loads(SETTINGS), "theme": "light"}


def test_uninstalling_undoes_every_command(
    install: Callable[..., int], uninstall: Callable[..., int], claude: FakeClaude
) -> None:
    install()
    uninstall()
    assert claude.changes[-2:] == [
        "plugin uninstall keepmum@keepmum --scope user",
        "plugin marketplace remove keepmum",
    ]


def test_former_marketplace_is_restored(
    install: Callable[..., int], uninstall: Callable[..., int], claude: FakeClaude
) -> None:
    claude.run([claude.program, "plugin", "marketplace", "add", "team/keepmum"], 1)
    install()
    uninstall()
    assert claude.marketplaces[0]["repo"] == "team/keepmum"


def test_already_removed_plugin_is_not_an_error(
    install: Callable[..., int], uninstall: Callable[..., int], claude: FakeClaude
) -> None:
    install()
    claude.plugins, claude.marketplaces = [], []
    assert uninstall() == 0


def test_failing_client_is_reported_with_its_message(
    install: Callable[..., int], recorded: RecordedConsole, claude: FakeClaude, machine: Machine
) -> None:
    claude.broken["plugin install"] = Outcome(1, err="✘ Failed to install: no space left")
    assert install() == 1
    assert "Failed to install: no space left" in recorded.err.getvalue()
    journal = json.loads(Path(machine.state("installed.json")).read_text())
    assert [record.get("what") for record in journal["records"] if record["did"] == "called"] == ["marketplace"]


def test_failed_installation_continues_where_it_stopped(install: Callable[..., int], claude: FakeClaude) -> None:
    claude.broken["plugin install"] = Outcome(124, err="no answer within 150 seconds")
    install()
    claude.broken.clear()
    assert install() == 0
    assert claude.changes.count(next(each for each in claude.changes if "marketplace add" in each)) == 1


@pytest.mark.parametrize("settings", [SETTINGS, None])
def test_uninstalling_restores_the_repositorys_bytes(
    install: Callable[..., int], uninstall: Callable[..., int], repository: Path, settings: bytes | None
) -> None:
    if settings is not None:
        (repository / ".claude").mkdir()
        (repository / ".claude" / "settings.json").write_bytes(settings)
    before = sorted(repository.rglob("*")), _tree(repository)
    assert install(scope="project", source="team/keepmum") == 0
    assert uninstall() == 0
    assert (sorted(repository.rglob("*")), _tree(repository)) == before


def test_paragraph_for_all_agents_is_written_once(
    install: Callable[..., int], uninstall: Callable[..., int], repository: Path
) -> None:
    (repository / "AGENTS.md").write_bytes(b"# Rules\r\n\r\nBe brief.")
    install(scope="project", source="team/keepmum")
    install(scope="project", source="team/keepmum")
    assert (repository / "AGENTS.md").read_text().count("## Memory") == 1
    uninstall(scope="project")
    assert (repository / "AGENTS.md").read_bytes() == b"# Rules\r\n\r\nBe brief."


def test_folder_of_a_client_is_created_with_its_missing_parents(
    install: Callable[..., int], uninstall: Callable[..., int], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = repository / ".other" / "rules" / "keepmum.md"
    monkeypatch.setattr(team, "_agents", lambda _: str(deep))
    install(scope="project", source="team/keepmum")
    assert deep.exists()
    uninstall(scope="project")
    assert not (repository / ".other").exists()


def test_unnamed_client_that_is_missing_is_skipped(
    spec: InstallSpec, without_client: Machine, recorded: RecordedConsole
) -> None:
    assert installing.install(installing.Options(), spec.product, None, without_client, recorded) == 0
    assert "No client was found" in recorded.out.getvalue()


def test_named_client_that_is_missing_is_an_error(
    spec: InstallSpec, without_client: Machine, recorded: RecordedConsole
) -> None:
    options = installing.Options(clients=("claude-code",))
    assert installing.install(options, spec.product, None, without_client, recorded) == 1
    assert "Claude Code was not found" in recorded.err.getvalue()


def test_team_gets_every_client_when_none_is_found(
    spec: InstallSpec, without_client: Machine, recorded: RecordedConsole, repository: Path
) -> None:
    options = installing.Options(scope="project", source="team/keepmum")
    assert installing.install(options, spec.product, None, without_client, recorded) == 0
    assert (repository / ".claude" / "settings.json").exists()


def test_repository_keeps_later_additions_of_the_team(
    install: Callable[..., int], uninstall: Callable[..., int], repository: Path
) -> None:
    install(scope="project", source="team/keepmum")
    path = repository / ".claude" / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": "x"}))
    uninstall()
    assert json.loads(path.read_text()) == {"model": "x"}


def test_an_invalid_source_is_refused_without_any_client(
    spec: InstallSpec, without_client: Machine, recorded: RecordedConsole
) -> None:
    options = installing.Options(source="/no/such/folder")
    with pytest.raises(InstallError, match="--source is neither a folder"):
        installing.install(options, spec.product, None, without_client, recorded)
    assert not Path(without_client.home).exists()


def test_another_source_replaces_the_first_and_both_are_undone(
    install: Callable[..., int], uninstall: Callable[..., int], repository: Path
) -> None:
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_bytes(SETTINGS)
    install(scope="project", source="team/keepmum")
    install(scope="project", source="https://host/keepmum.git")
    uninstall()
    assert (repository / ".claude" / "settings.json").read_bytes() == SETTINGS


def test_one_scope_can_be_removed_alone(
    install: Callable[..., int], uninstall: Callable[..., int], repository: Path, claude: FakeClaude
) -> None:
    install()
    install(scope="project", source="team/keepmum")
    assert uninstall(scope="project") == 0
    assert (sorted(repository.rglob(".claude")), len(claude.plugins)) == ([], 1)


def test_later_comments_stay(install: Callable[..., int], uninstall: Callable[..., int], repository: Path) -> None:
    install(scope="project", source="team/keepmum")
    path = repository / ".claude" / "settings.json"
    path.write_text("// ours now\n" + path.read_text())
    assert uninstall() == 0
    assert path.read_text() == "// ours now\n{}\n"


def test_later_damage_is_left_unchanged_and_reported(
    install: Callable[..., int], uninstall: Callable[..., int], repository: Path, recorded: RecordedConsole
) -> None:
    install(scope="project", source="team/keepmum")
    path = repository / ".claude" / "settings.json"
    path.write_text("{" + path.read_text())
    before = path.read_bytes()
    assert uninstall() == 1
    assert (path.read_bytes(), str(path) in recorded.err.getvalue()) == (before, True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude/settings.json", "{ // mine\n}"),
        (".cursor/mcp.json", "{{"),
        (".cursor/hooks.json", '{"hooks": []}'),
        (".cursor/rules", "no folder"),
        (".codex/config.toml", "[["),
        (".codex/config.toml", '[plugins."keepmum@keepmum"]\nenabled = false\n'),
        (".vscode/mcp.json", '{"servers": 1}'),
        ("AGENTS.md", "\udcff"),
        (".keepmum.toml", 'project = "old"\n'),
    ],
)
def test_one_file_of_a_repository_does_not_stop_the_others(  # noqa: PLR0917 - fixtures and columns
    install: Callable[..., int],
    uninstall: Callable[..., int],
    repository: Path,
    recorded: RecordedConsole,
    name: str,
    text: str,
) -> None:
    path = repository / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = _tree(repository)
    clients = ("claude-code", "codex", "cursor", "vscode")
    assert install(scope="project", source="team/keepmum", clients=clients, settings=("project=new",)) == 1
    after = _tree(repository)
    assert after[name] == before[name]
    assert str(path) in recorded.err.getvalue()
    expected = {".claude/settings.json", ".cursor/mcp.json", ".cursor/hooks.json", ".cursor/rules/keepmum.mdc"}
    expected |= {".codex/config.toml", ".vscode/mcp.json", "AGENTS.md", ".keepmum.toml"}
    blocked = ".cursor/rules/keepmum.mdc" if name == ".cursor/rules" else name
    assert {each for each in expected if after.get(each) != before.get(each)} == expected - {blocked}
    assert uninstall(scope="project") == 0
    assert _tree(repository) == before


@pytest.mark.parametrize("name", ["AGENTS.md", ".cursor/mcp.json", ".cursor/rules", ".vscode", ".codex/config.toml"])
def test_a_link_of_a_repository_leads_to_no_other_file(  # noqa: PLR0917 - fixtures and columns
    install: Callable[..., int], repository: Path, recorded: RecordedConsole, home: Path, tmp_path: Path, name: str
) -> None:
    target = home / "theirs" if Path(name).suffix else tmp_path / "theirs"
    if Path(name).suffix:
        target.write_text("", encoding="utf-8")
    else:
        target.mkdir()
    (repository / name).parent.mkdir(exist_ok=True)
    (repository / name).symlink_to(target)
    clients = ("claude-code", "codex", "cursor", "vscode")
    assert install(scope="project", source="team/keepmum", clients=clients) == 1
    assert (target.read_text(encoding="utf-8") == "") if target.is_file() else (list(target.iterdir()) == [])
    assert f"it leads to {target}" in recorded.err.getvalue()
    assert (repository / ".claude" / "settings.json").exists()


def test_a_link_within_a_repository_is_followed(install: Callable[..., int], repository: Path) -> None:
    (repository / "CLAUDE.md").write_text("# Ours\n", encoding="utf-8")
    (repository / "AGENTS.md").symlink_to("CLAUDE.md")
    assert install(scope="project", source="team/keepmum", clients=("claude-code",)) == 0
    assert "Memory" in (repository / "CLAUDE.md").read_text(encoding="utf-8")
    assert (repository / "AGENTS.md").is_symlink()


def test_invalid_source_stops_everything(install: Callable[..., int], home: Path) -> None:
    before = _tree(home)
    with pytest.raises(InstallError, match="--source is neither a folder"):
        install(source="./nowhere")
    assert _tree(home) == before


def test_home_is_for_its_owner_only(install: Callable[..., int], machine: Machine) -> None:
    install()
    assert stat.S_IMODE(os.stat(machine.home).st_mode) == 0o700


def _remember(machine: Machine) -> Path:
    store = Path(machine.home) / "memory.db"
    store.parent.mkdir(exist_ok=True)
    store.write_bytes(b"memories")
    return store


def test_memories_stay(
    install: Callable[..., int],
    uninstall: Callable[..., int],
    machine: Machine,
    recorded: RecordedConsole,
) -> None:
    store = _remember(machine)
    install()
    uninstall()
    assert "To remove them too, delete that folder." in recorded.out.getvalue()
    assert _tree(Path(machine.home)) == {"memory.db": store.read_bytes()}


def test_purge_leaves_nothing(install: Callable[..., int], uninstall: Callable[..., int], machine: Machine) -> None:
    _remember(machine)
    install()
    assert uninstall(purge=True, yes=True) == 0
    assert not os.path.exists(machine.home)


_WRITTEN_LATER = (
    "allow.toml",
    "fingerprint.key",
    "outbox.db",
    "outbox-aed17f668cdd206e.turn",
    "servers/memory.example.db",
    "servers/memory.example.db-wal",
    "cache/markdown/a17dcfb2bc7ae369/memory.db",
    "cache/vectors-2497ee7d08ebc781/rows-1",
    "cache/packed-03d8301a992517fc/packed.bin",
    "state/swept",
    "state/lexical-only",
    "state/live.json",
)


def _use(machine: Machine) -> None:
    """Create the files that days of use leave next to the store."""
    for name in _WRITTEN_LATER:
        path = Path(machine.home) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"of a memory")


def test_purge_leaves_no_copy_of_a_memory(
    install: Callable[..., int], uninstall: Callable[..., int], machine: Machine
) -> None:
    install()
    _use(machine)
    assert uninstall(purge=True, yes=True) == 0
    assert not os.path.exists(machine.home)


def test_generated_files_are_removed_and_pending_writes_stay(
    install: Callable[..., int], uninstall: Callable[..., int], machine: Machine
) -> None:
    install()
    _use(machine)
    uninstall()
    generated = ("cache/vectors-", "cache/packed-", "state/")
    assert sorted(_tree(Path(machine.home))) == sorted(
        name for name in _WRITTEN_LATER if not name.startswith(generated)
    )


def test_purge_keeps_other_files(install: Callable[..., int], uninstall: Callable[..., int], machine: Machine) -> None:
    _remember(machine)
    (Path(machine.home) / "thesis.tex").write_text("mine")
    install()
    uninstall(purge=True, yes=True)
    assert _tree(Path(machine.home)) == {"thesis.tex": b"mine"}


def test_unconfirmed_purge_removes_nothing(uninstall: Callable[..., int], machine: Machine) -> None:
    store = _remember(machine)
    with pytest.raises(InstallError, match="nothing was removed"):
        uninstall(purge=True)
    assert store.exists()


def test_dry_removal_lists_files_and_keeps_them(
    install: Callable[..., int], uninstall: Callable[..., int], machine: Machine, recorded: RecordedConsole
) -> None:
    store = _remember(machine)
    install()
    before = _tree(Path(machine.home))
    assert uninstall(purge=True, dry_run=True) == 0
    assert f"remove {store}" in recorded.out.getvalue()
    assert _tree(Path(machine.home)) == before


def test_removing_without_an_installation_is_reported(uninstall: Callable[..., int], recorded: RecordedConsole) -> None:
    assert uninstall() == 0
    assert "Nothing to remove" in recorded.out.getvalue()


def test_damaged_journal_is_an_error_with_a_next_step(uninstall: Callable[..., int], machine: Machine) -> None:
    path = Path(machine.state("installed.json"))
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.raises(InstallError, match="damaged"):
        uninstall()
    assert path.read_text() == "{"


def test_missing_client_is_reported_and_the_rest_is_removed(
    install: Callable[..., int], machine: Machine, without_client: Machine, recorded: RecordedConsole, repository: Path
) -> None:
    install()
    install(scope="project", source="team/keepmum")
    assert removing.uninstall(removing.Options(), without_client, recorded) == 1
    assert (list(repository.rglob("settings.json")), "the client is missing" in recorded.err.getvalue()) == ([], True)
    assert dataclasses.asdict(machine)["home"] == without_client.home


def test_interrupted_command_is_undone(
    install: Callable[..., int], uninstall: Callable[..., int], machine: Machine, claude: FakeClaude
) -> None:
    run = claude.run

    def interrupted(argv: Sequence[str], seconds: float, *_: object) -> Outcome:
        done = run(argv, seconds)
        if "install" in argv:
            raise KeyboardInterrupt
        return done

    object.__setattr__(machine, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        install()
    object.__setattr__(machine, "run", run)
    assert len(claude.plugins) == 1
    assert uninstall() == 0
    assert (claude.plugins, claude.marketplaces) == ([], [])


def test_failed_client_is_not_reported_as_installed(
    install: Callable[..., int], recorded: RecordedConsole, claude: FakeClaude
) -> None:
    claude.broken["plugin install"] = Outcome(1, err="no space left")
    install()
    assert "Claude Code has Keepmum" not in recorded.out.getvalue()


def test_store_outside_the_home_is_reported_to_stay(
    install: Callable[..., int],
    uninstall: Callable[..., int],
    recorded: RecordedConsole,
    machine: Machine,
    tmp_path: Path,
) -> None:
    install()
    elsewhere = tmp_path / "elsewhere.db"
    elsewhere.touch()
    Path(machine.home, "config.toml").write_text(f"store.path = '{elsewhere}'\n")
    uninstall(purge=True, yes=True)
    assert elsewhere.exists()
    assert f"The memories in {elsewhere} stay" in recorded.out.getvalue()


def test_remaining_backup_is_reported(
    install: Callable[..., int],
    uninstall: Callable[..., int],
    recorded: RecordedConsole,
    claude: FakeClaude,
    machine: Machine,
) -> None:
    path = Path(claude.settings)
    path.parent.mkdir()
    path.write_bytes(SETTINGS)
    install()
    path.write_text(json.dumps({**json.loads(path.read_text()), "theme": "light"}))
    uninstall()
    (copy,) = Path(machine.state("backups")).iterdir()
    assert str(copy) in recorded.out.getvalue()


def test_settings_are_restored_after_the_clients_commands(
    install: Callable[..., int], uninstall: Callable[..., int], claude: FakeClaude, recorded: RecordedConsole
) -> None:
    path = Path(claude.settings)
    path.parent.mkdir()
    path.write_bytes(SETTINGS)
    install()
    claude.broken["plugin uninstall"] = Outcome(1, err="busy")
    assert uninstall() == 1
    assert "took Keepmum out" not in recorded.out.getvalue()
    claude.broken.clear()
    assert uninstall() == 0
    assert path.read_bytes() == SETTINGS


def test_deleted_working_folder_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert Machine.this().cwd == os.path.abspath(os.sep)
