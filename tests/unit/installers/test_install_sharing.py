"""A key that a team shares: in one file, for one server, and in no output or record."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum.workspace import credentials, settings
from keepmum.workspace.resolve import server_of
from keepmum_installers import install as installing
from keepmum_installers import uninstall as removing
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine

ORIGIN = "https://memory.example"
KEY = "word-of-the-team"
SERVER = (f"backend.origin={ORIGIN}",)
BEFORE = b'{\r\n\t"env": {"A": "1"},\r\n\t"theme": "dark"\r\n}'


class RecordedConsole(Console):
    """A console that records its output."""

    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        super().__init__(self.out, self.err)

    @property
    def all(self) -> str:
        return self.out.getvalue() + self.err.getvalue()


@pytest.fixture
def recorded() -> RecordedConsole:
    return RecordedConsole()


@pytest.fixture
def file(repository: Path) -> Path:
    """The team's settings of Claude Code."""
    path = repository / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(BEFORE)
    return path


@pytest.fixture(autouse=True)
def _typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))


def share(spec: InstallSpec, machine: Machine, console: Console, **options: object) -> int:
    chosen = {"scope": "project", "clients": ("claude-code",), "settings": SERVER, "share_key": True, **options}
    return installing.install(
        installing.Options(**chosen),  # type: ignore[arg-type]  # as the test says
        spec.product,
        None,
        machine,
        console,
    )


def variable(file: Path) -> object:
    return json.loads(file.read_text(encoding="utf-8"))["env"].get(credentials.SHARED)


def test_the_value_is_the_server_and_its_key(
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, file: Path
) -> None:
    assert share(spec, machine, recorded) == 0
    assert variable(file) == f"{ORIGIN} {KEY}"


def test_a_warning_comes_first_and_no_output_has_the_key(
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, file: Path
) -> None:
    share(spec, machine, recorded)
    assert "warning: the key will be in .claude/settings.json" in recorded.err.getvalue()
    assert_hidden(KEY, recorded.all)
    assert file.exists()


def test_no_record_has_the_key(spec: InstallSpec, machine: Machine, recorded: RecordedConsole, file: Path) -> None:
    share(spec, machine, recorded)
    assert file.exists()
    kept = [path for path in Path(machine.home).rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []


def test_the_key_may_come_from_a_variable(
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, file: Path
) -> None:
    rich = dataclasses.replace(machine, environ={**machine.environ, "MEMORY_API_KEY": "from-a-variable"})
    share(spec, rich, recorded)
    assert variable(file) == f"{ORIGIN} from-a-variable"


def test_uninstalling_restores_the_bytes(
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, file: Path
) -> None:
    share(spec, machine, recorded)
    assert removing.uninstall(removing.Options("project"), machine, recorded) == 0
    assert file.read_bytes() == BEFORE
    assert_hidden(KEY, recorded.all)


def test_a_new_key_replaces_the_old_one_and_both_are_removed(
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(spec, machine, recorded)
    monkeypatch.setattr("sys.stdin", io.StringIO("another-word\n"))
    share(spec, machine, recorded)
    assert variable(file) == f"{ORIGIN} another-word"
    removing.uninstall(removing.Options("project"), machine, recorded)
    assert file.read_bytes() == BEFORE


def test_without_the_option_no_key_is_written(
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, repository: Path, file: Path
) -> None:
    rich = dataclasses.replace(machine, environ={**machine.environ, "MEMORY_API_KEY": KEY})
    share(spec, rich, recorded, share_key=False)
    assert file.exists()
    assert [path for path in repository.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []


def test_a_dry_run_asks_for_no_key_and_changes_nothing(
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, file: Path
) -> None:
    assert share(spec, machine, recorded, dry_run=True) == 0
    assert file.read_bytes() == BEFORE


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"settings": ()}, "it names none", id="no server"),
        pytest.param({"settings": ("backend.origin=ftp://x",)}, "backend.origin", id="an invalid address"),
        pytest.param({"scope": "user", "settings": ()}, "is for a repository", id="not a repository"),
        pytest.param({"clients": ("codex",)}, "needs Claude Code", id="a client without such a setting"),
    ],
)
def test_an_unusable_request_is_refused_and_nothing_changes(  # noqa: PLR0917 - fixtures and columns
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, file: Path, options: dict[str, object], words: str
) -> None:
    with pytest.raises(InstallError, match=words):
        share(spec, machine, recorded, **options)
    assert file.read_bytes() == BEFORE


@pytest.mark.parametrize("text", ["", "two words", "k\u00e9y"])
def test_an_invalid_key_is_refused_and_not_shown(
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{text}\n"))
    with pytest.raises(InstallError, match="that is not a key") as refused:
        share(spec, machine, recorded)
    assert not text or text not in f"{refused.value}{refused.value.next_step}{recorded.all}"


def test_the_error_for_an_uneditable_file_has_no_key(
    spec: InstallSpec, machine: Machine, recorded: RecordedConsole, file: Path
) -> None:
    file.write_text("// ours\n{}", encoding="utf-8")
    assert share(spec, machine, recorded) == 1
    assert "add by hand" in recorded.all
    assert_hidden(KEY, recorded.all)


@pytest.fixture
def teammate(tmp_path: Path, repository: Path) -> dict[str, str]:
    """The variables of a teammate's server, in a clone that shares a key and names its server."""
    (repository / ".keepmum.toml").write_text(f'backend.origin = "{ORIGIN}"\n', encoding="utf-8")
    (tmp_path / "theirs").mkdir()
    return {"KEEPMUM_HOME": str(tmp_path / "theirs"), credentials.SHARED: f"{ORIGIN} {KEY}"}


def approve(environ: dict[str, str], *origins: str) -> None:
    text = f"backend.approved = {json.dumps(origins)}\n"
    (Path(environ["KEEPMUM_HOME"]) / "config.toml").write_text(text, encoding="utf-8")


def test_a_teammate_who_names_the_server_has_the_key(teammate: dict[str, str], repository: Path) -> None:
    approve(teammate, ORIGIN)
    assert server_of(settings.load(teammate, str(repository)), teammate).key == KEY


def test_a_stored_key_comes_first(teammate: dict[str, str], repository: Path) -> None:
    approve(teammate, ORIGIN)
    credentials.store(teammate["KEEPMUM_HOME"], ORIGIN, "my-own")
    assert server_of(settings.load(teammate, str(repository)), teammate).key == "my-own"


def test_a_shared_key_is_used_for_no_other_server(teammate: dict[str, str], repository: Path) -> None:
    approve(teammate, ORIGIN)
    elsewhere = {**teammate, credentials.SHARED: f"https://elsewhere.example {KEY}"}
    assert server_of(settings.load(elsewhere, str(repository)), elsewhere).key is None


def test_an_unapproved_server_gets_no_key(teammate: dict[str, str], repository: Path) -> None:
    (repository / ".keepmum.toml").unlink()
    named = {**teammate, "MEMORY_API_URL": ORIGIN}
    assert server_of(settings.load(named, str(repository)), named).key is None
