"""A key that a team shares: in one place, for one server, and in no word or record of ours."""

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
from keepmum_installers.clients.client import Wish
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.voice import Voice

ORIGIN = "https://memory.example"
KEY = "word-of-the-team"
SERVER = (f"backend.origin={ORIGIN}",)
BEFORE = b'{\r\n\t"env": {"A": "1"},\r\n\t"theme": "dark"\r\n}'


class Heard(Voice):
    """A voice whose words can be read."""

    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        super().__init__(self.out, self.err)

    @property
    def all(self) -> str:
        return self.out.getvalue() + self.err.getvalue()


@pytest.fixture
def heard() -> Heard:
    return Heard()


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


def share(wish: Wish, machine: Machine, voice: Voice, **options: object) -> int:
    chosen = {"scope": "project", "clients": ("claude-code",), "settings": SERVER, "share_key": True, **options}
    return installing.install(
        installing.Options(**chosen),  # type: ignore[arg-type]  # as the test says
        wish.product,
        None,
        machine,
        voice,
    )


def variable(file: Path) -> object:
    return json.loads(file.read_text(encoding="utf-8"))["env"].get(credentials.SHARED)


def test_the_key_stands_behind_the_server_it_is_for(wish: Wish, machine: Machine, heard: Heard, file: Path) -> None:
    assert share(wish, machine, heard) == 0
    assert variable(file) == f"{ORIGIN} {KEY}"


def test_a_warning_comes_first_and_no_word_holds_the_key(
    wish: Wish, machine: Machine, heard: Heard, file: Path
) -> None:
    share(wish, machine, heard)
    assert "warning: the key will stand in .claude/settings.json" in heard.err.getvalue()
    assert_hidden(KEY, heard.all)
    assert file.exists()


def test_no_record_of_ours_holds_the_key(wish: Wish, machine: Machine, heard: Heard, file: Path) -> None:
    share(wish, machine, heard)
    assert file.exists()
    kept = [path for path in Path(machine.home).rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []


def test_a_variable_can_hold_the_key(wish: Wish, machine: Machine, heard: Heard, file: Path) -> None:
    rich = dataclasses.replace(machine, environ={**machine.environ, "MEMORY_API_KEY": "from-a-variable"})
    share(wish, rich, heard)
    assert variable(file) == f"{ORIGIN} from-a-variable"


def test_uninstalling_gives_the_file_its_bytes_back(wish: Wish, machine: Machine, heard: Heard, file: Path) -> None:
    share(wish, machine, heard)
    assert removing.uninstall(removing.Options("project"), machine, heard) == 0
    assert file.read_bytes() == BEFORE
    assert_hidden(KEY, heard.all)


def test_a_new_key_takes_the_place_of_the_old_and_both_go(
    wish: Wish, machine: Machine, heard: Heard, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(wish, machine, heard)
    monkeypatch.setattr("sys.stdin", io.StringIO("another-word\n"))
    share(wish, machine, heard)
    assert variable(file) == f"{ORIGIN} another-word"
    removing.uninstall(removing.Options("project"), machine, heard)
    assert file.read_bytes() == BEFORE


def test_without_the_option_no_key_is_written(
    wish: Wish, machine: Machine, heard: Heard, repository: Path, file: Path
) -> None:
    rich = dataclasses.replace(machine, environ={**machine.environ, "MEMORY_API_KEY": KEY})
    share(wish, rich, heard, share_key=False)
    assert file.exists()
    assert [path for path in repository.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []


def test_a_dry_run_asks_for_no_key_and_changes_nothing(wish: Wish, machine: Machine, heard: Heard, file: Path) -> None:
    assert share(wish, machine, heard, dry_run=True) == 0
    assert file.read_bytes() == BEFORE


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"settings": ()}, "it names none", id="no server"),
        pytest.param({"settings": ("backend.origin=ftp://x",)}, "backend.origin", id="an address that is none"),
        pytest.param({"scope": "user", "settings": ()}, "is for a repository", id="not a repository"),
        pytest.param({"clients": ("codex",)}, "needs Claude Code", id="a client that has no place for it"),
    ],
)
def test_what_cannot_be_shared_is_refused_and_nothing_changes(  # noqa: PLR0917 - fixtures and columns
    wish: Wish, machine: Machine, heard: Heard, file: Path, options: dict[str, object], words: str
) -> None:
    with pytest.raises(InstallError, match=words):
        share(wish, machine, heard, **options)
    assert file.read_bytes() == BEFORE


@pytest.mark.parametrize("text", ["", "two words", "k\u00e9y"])
def test_what_can_be_no_key_is_refused_unshown(
    wish: Wish, machine: Machine, heard: Heard, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{text}\n"))
    with pytest.raises(InstallError, match="that is no key") as refused:
        share(wish, machine, heard)
    assert not text or text not in f"{refused.value}{refused.value.next_step}{heard.all}"


def test_a_file_that_cannot_be_edited_shows_no_key_either(
    wish: Wish, machine: Machine, heard: Heard, file: Path
) -> None:
    file.write_text("// ours\n{}", encoding="utf-8")
    assert share(wish, machine, heard) == 1
    assert "add by hand" in heard.all
    assert_hidden(KEY, heard.all)


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


def test_a_key_of_their_own_comes_first(teammate: dict[str, str], repository: Path) -> None:
    approve(teammate, ORIGIN)
    credentials.store(teammate["KEEPMUM_HOME"], ORIGIN, "my-own")
    assert server_of(settings.load(teammate, str(repository)), teammate).key == "my-own"


def test_a_shared_key_is_for_no_other_server(teammate: dict[str, str], repository: Path) -> None:
    approve(teammate, ORIGIN)
    elsewhere = {**teammate, credentials.SHARED: f"https://elsewhere.example {KEY}"}
    assert server_of(settings.load(elsewhere, str(repository)), elsewhere).key is None


def test_a_server_that_nobody_named_gets_none(teammate: dict[str, str], repository: Path) -> None:
    (repository / ".keepmum.toml").unlink()
    named = {**teammate, "MEMORY_API_URL": ORIGIN}
    assert server_of(settings.load(named, str(repository)), named).key is None
