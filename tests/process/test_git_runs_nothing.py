"""No program that a repository names is run, on any path that starts git."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import patient_launch
from hostile_repository import PLACES, HostileRepository, harmful_settings
from keepmum.workspace.git.history import open_history
from keepmum.workspace.git.repository import changed_files, find_repository, git_context, remote_of
from keepmum_scanner.git_process import find_program
from mcp_process import conversed

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the traps are shell scripts"),
    pytest.mark.usefixtures("shared_bytecode"),
]

LIMIT = 120  # seconds
CONTENT = "We deploy on Fridays."


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("settings")
    trap = folder / "trap"
    trap.write_text("#!/bin/sh\nexit 1\n")
    trap.chmod(0o755)
    return {
        name: value.replace(str(folder), "FOLDER") for name, value in harmful_settings(trap, folder / "scratch").items()
    }


@pytest.fixture
def hostile(tmp_path: Path) -> HostileRepository:
    return HostileRepository(tmp_path / "shop", tmp_path / "traps")


@pytest.fixture(params=PLACES)
def repository(
    request: pytest.FixtureRequest, hostile: HostileRepository, settings: Mapping[str, str]
) -> HostileRepository:
    folder = str(hostile.trap.parent)
    hostile.set_traps({name: value.replace("FOLDER", folder) for name, value in settings.items()}, request.param)
    assert hostile.sprung() == ""
    return hostile


@pytest.fixture
def keepmum(root: Path) -> Callable[..., str]:
    """Runs the command in a folder; with `calls` a server that answers these tool calls."""

    def run(cwd: Path, *words: str, calls: tuple[tuple[str, dict[str, str]], ...] = (), ok: bool = True) -> str:
        lines = [{"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}]
        lines += [
            {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls, 1)
        ]
        text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines) if calls else ""
        command = patient_launch.command(root / "plugin" / "launch.py", *words)
        done = conversed(command, text, cwd=cwd)
        assert done.returncode == 0 or not ok, done.stderr + done.stdout
        return done.stdout

    return run


def test_plain_git_runs_the_traps_so_the_next_tests_can_fail(repository: HostileRepository) -> None:
    subprocess.run(["git", "status"], cwd=repository.root, capture_output=True, timeout=LIMIT, check=False)
    assert "trap" in repository.sprung()


def test_the_settings_are_many(settings: Mapping[str, str]) -> None:
    assert len(settings) > 400
    assert {"filter.evil.clean", "filter.evil.process", "core.fsmonitor", "core.pager", "core.sshCommand"} <= set(
        settings
    )


def test_the_changed_files_are_right_and_nothing_runs(repository: HostileRepository) -> None:
    changed = changed_files(str(repository.root))
    assert changed == ["nested/", "new.md", "note.md", "staged.md"]
    assert repository.sprung() == ""


def test_project_identity_runs_nothing(repository: HostileRepository) -> None:
    found = find_repository(str(repository.root / "sub"))
    assert found is not None
    remote_of(found, os.environ)
    git_context(str(repository.root))
    assert repository.sprung() == ""


def test_the_history_is_read_and_nothing_runs(repository: HostileRepository) -> None:
    (repository.root / "code.py").write_text("def rare():\n    pass\n")
    found = find_repository(str(repository.root))
    assert found is not None
    with open_history(found, os.environ) as history:
        assert history is not None
        commit = history.commit("HEAD") or history.commit(git_context(str(repository.root)).commit or "")
        assert commit is not None
        assert history.base(commit) == commit
        tree = history.tree(commit)
        assert history.contents([tree["note.md"]]) == {tree["note.md"]: b"one\n"}
        assert history.defining(["rare"]) == {"rare": ["code.py"]}
        assert history.defining(["rare"], commit) == {"rare": []}
        assert history.renamed(commit) == {}
    assert repository.sprung() == ""


@pytest.mark.parametrize("repository", ["config", "includeIf"], indirect=True)
@pytest.mark.parametrize("words", [("--staged",), (".",), ("sub",), ("nested",)], ids=" ".join)
def test_the_scanner_runs_nothing(repository: HostileRepository, root: Path, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-I", "-S", str(root / "scanner"), *words]
    done = subprocess.run(command, cwd=repository.root, capture_output=True, timeout=LIMIT, check=False)
    assert (done.returncode, done.stderr, repository.sprung()) == (0, b"", "")


@pytest.mark.parametrize("repository", ["config", "includeIf"], indirect=True)
def test_a_server_runs_nothing(repository: HostileRepository, keepmum: Callable[..., str]) -> None:
    koi = ("mcp", "--client", "claude-code", "--dialect", "koi")
    answer = keepmum(repository.root, *koi, calls=(("remember", {"content": CONTENT}), ("recall", {"query": "deploy"})))
    assert CONTENT in answer
    assert "note.md" in answer
    assert repository.sprung() == ""


@pytest.mark.parametrize("repository", ["config", "includeIf"], indirect=True)
def test_the_commands_run_nothing(repository: HostileRepository, keepmum: Callable[..., str]) -> None:
    config = Path(os.environ["KEEPMUM_HOME"]) / "config.toml"
    config.write_text('backend.kind = "markdown"\n')
    assert "keepmum: version" in keepmum(repository.root, "doctor", ok=False)
    for words in (
        ("remember", CONTENT),
        ("recall", "deploy"),
        ("status",),
        ("resume",),
        ("scan", "--staged"),
        ("scan", "."),
    ):
        keepmum(repository.root, *words)
        assert repository.sprung() == "", words


@pytest.mark.parametrize("remote", ["ext", "uploadpack", "vcs", "ssh"])
def test_a_missing_object_is_not_fetched(hostile: HostileRepository, root: Path, remote: str) -> None:
    """A partial clone fetches what it lacks, by a command that its configuration names."""
    tree = hostile.git("rev-parse", "HEAD^{tree}").strip()
    (hostile.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    url = {"ext": f"ext::{hostile.trap}", "ssh": "ssh://example.invalid/x"}.get(remote, str(hostile.root / "nested"))
    traps = {
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "protocol.allow": "always",
        "protocol.ext.allow": "always", "core.sshCommand": str(hostile.trap), "remote.origin.url": url,
        "remote.origin.promisor": "true", "remote.origin.uploadpack": str(hostile.trap),
    }  # fmt: skip
    if remote == "vcs":
        traps["remote.origin.vcs"] = "ext"
    hostile.set_traps(traps, "config")
    subprocess.run(["git", "status"], cwd=hostile.root, capture_output=True, timeout=LIMIT, check=False)
    assert hostile.sprung(), "a control: git fetches"
    changed_files(str(hostile.root))
    command = [sys.executable, "-I", "-S", str(root / "scanner"), "--staged"]
    subprocess.run(command, cwd=hostile.root, capture_output=True, timeout=LIMIT, check=False)
    assert hostile.sprung() == ""


def test_a_filter_that_refers_to_the_repository_is_not_run_by_the_users_configuration(
    hostile: HostileRepository, home: Path
) -> None:
    """Git LFS, which users configure for all repositories, runs further commands that a repository names."""
    (home / ".gitconfig").write_text(f'[filter "evil"]\n\tclean = {hostile.trap}\n\trequired = true\n')
    hostile.set_traps({}, "config")
    assert changed_files(str(hostile.root)) == ["nested/", "new.md", "note.md", "staged.md"]
    assert hostile.sprung() == ""


@pytest.mark.parametrize("entry", ["", ".", "ROOT", "ROOT/bin", "ROOT/link", "ROOT/.."])
def test_a_git_in_the_repository_is_not_started(
    hostile: HostileRepository, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    (tmp_path / "tools").mkdir()
    (hostile.root / "bin").mkdir()
    (hostile.root / "link").symlink_to(tmp_path / "tools")
    for folder in (hostile.root, hostile.root / "bin", tmp_path / "tools"):
        (folder / "git").write_bytes(hostile.trap.read_bytes())
        (folder / "git").chmod(0o755)
    if entry == "ROOT/..":
        entry = "ROOT/../shop"
    monkeypatch.setenv("PATH", os.pathsep.join([entry.replace("ROOT", str(hostile.root)), os.environ["PATH"]]))
    monkeypatch.chdir(hostile.root)
    for words in (["--staged"], ["."]):
        command = [sys.executable, "-I", "-S", str(root / "scanner"), *words]
        done = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
    changed = changed_files(str(hostile.root))
    assert changed is not None
    assert "note.md" in changed
    assert hostile.sprung() == ""


def test_the_variables_of_the_caller_start_nothing(hostile: HostileRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = str(hostile.trap)
    for name in ("EXTERNAL_DIFF", "PAGER", "EDITOR", "ASKPASS", "SSH", "SSH_COMMAND", "PROXY_COMMAND", "EXEC_PATH"):
        monkeypatch.setenv(f"GIT_{name}", str(hostile.trap.parent) if name == "EXEC_PATH" else trap)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
    for number, key in enumerate(("core.fsmonitor", "filter.evil.clean")):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", trap)
    hostile.set_traps({}, "config")
    assert changed_files(str(hostile.root)) == ["nested/", "new.md", "note.md", "staged.md"]
    assert hostile.sprung() == ""


@pytest.fixture
def odd_places(hostile: HostileRepository) -> Iterator[None]:
    yield
    assert hostile.sprung() == ""


@pytest.mark.usefixtures("odd_places")
def test_core_worktree_does_not_redirect_the_changed_files(hostile: HostileRepository, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "diary.md").write_text("x")
    hostile.git("config", "core.worktree", str(private))
    assert changed_files(str(hostile.root)) == ["nested/", "new.md", "note.md", "staged.md"]


@pytest.mark.usefixtures("odd_places")
def test_a_git_file_that_points_to_another_repository_runs_nothing(
    hostile: HostileRepository, settings: Mapping[str, str], tmp_path: Path
) -> None:
    hostile.set_traps(
        {name: value.replace("FOLDER", str(hostile.trap.parent)) for name, value in settings.items()}, "config"
    )
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {hostile.root}/.git\n")
    assert changed_files(str(other)) is not None


@pytest.mark.parametrize("entry", ["", ".", "ROOT", "ROOT/bin"])
def test_no_other_program_is_taken_from_the_repository(
    hostile: HostileRepository, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    (hostile.root / "bin").mkdir()
    for folder in (hostile.root, hostile.root / "bin"):
        (folder / "uv").write_bytes(hostile.trap.read_bytes())
        (folder / "uv").chmod(0o755)
    monkeypatch.chdir(hostile.root)
    environ = {"PATH": entry.replace("ROOT", str(hostile.root))}
    assert find_program("uv", os.getcwd(), environ) is None
    assert find_program("trap", os.getcwd(), {"PATH": str(hostile.trap.parent)}) == str(hostile.trap)
