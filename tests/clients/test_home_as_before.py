"""Installing in every real client, and what uninstalling leaves in the home: bytes and modes of files and folders."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.clients

LIMIT = 120  # seconds
# Keepmum's own folder stays, with memories; nothing else may. No client's file is excepted: the installer starts
# only `claude` and `codex`, and only for commands that list and register plugins.
OUR_HOME = ".keepmum"

# What users have, in layouts that no program writes: a file that is written again would differ.
THEIRS = {
    ".claude.json": '{"numStartups": 3,\n\t"projects": {}}',
    ".claude/settings.json": '{\r\n    "theme": "dark",\r\n    "permissions": {"allow": []}\r\n}',
    ".claude/CLAUDE.md": "# mine",
    ".claude/backups/.claude.json.backup.1": "{}",
    ".claude/plugins/known_marketplaces.json": "{ }",
    ".claude/plugins/installed_plugins.json": '{"plugins": {},  "version": 2}',
    ".codex/config.toml": "# mine\nmodel = 'x' # the best\n\n[features]\nhooks = true\n",
    ".codex/AGENTS.md": "# mine",
    ".copilot/settings.json": '{"a": 1}',
    ".copilot/mcp-config.json": '{"mcpServers": {}}',
    ".gemini/settings.json": '{\n  "general": {"enableAutoUpdate": false},\n "x":1}',
    ".gemini/trustedFolders.json": '{"/elsewhere":"TRUST_FOLDER"}',
    ".config/opencode/opencode.json": '{"theme":"x"}',
    ".config/Code/User/settings.json": '{\n  "editor.fontSize": 14\n}\n',
    ".config/Claude/claude_desktop_config.json": '{"mcpServers": {"a":{"command":"x"}}}',
    ".cursor/mcp.json": '{"mcpServers":{}}',
}

Done = subprocess.CompletedProcess[str]
Tree = dict[str, tuple[int, bytes | str | None]]


@pytest.fixture
def run(  # noqa: PLR0917 - one argument for each client
    claude_program: Path,
    codex_program: Path,
    copilot_program: Path,
    gemini_program: Path,
    opencode_program: Path,
    tmp_path: Path,
    home: Path,
) -> Callable[..., Done]:
    """Runs a command in a folder of the user, with every client on PATH; requests go nowhere."""
    programs, folder = tmp_path / "programs", tmp_path / "folder"
    programs.mkdir()
    folder.mkdir()
    for program in (claude_program, codex_program, copilot_program, gemini_program, opencode_program):
        (programs / program.name).symlink_to(program)
    (programs / "python3").symlink_to(os.path.realpath(sys.executable))
    environ = {
        "HOME": str(home),
        "PWD": str(folder),
        "PATH": os.pathsep.join([str(programs), "/usr/bin", "/bin"]),
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    }

    def run(*command: str | Path) -> Done:
        done = subprocess.run(
            command, env=environ, cwd=folder, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert list(folder.iterdir()) == [], "a file in the folder that the user happened to be in"
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def files_of_the_user(home: Path) -> None:
    for name, text in THEIRS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
        (home / name).chmod(0o640)


def tree(home: Path) -> Tree:
    """Mode and content of everything in the home but Keepmum's own folder."""
    found: Tree = {}
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if name.split("/")[0] != OUR_HOME:
            content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[name] = stat.S_IMODE(path.lstat().st_mode), content
    return found


def differences(before: Tree, after: Tree) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


@pytest.mark.usefixtures("files_of_the_user")
def test_the_home_is_as_before(run: Callable[..., Done], product: Path, home: Path) -> None:
    before, installer = tree(home), product / "installers" / "install.sh"
    run("/bin/sh", installer, "--no-runtime")
    installed = tree(home)
    assert installed[".gemini/trustedFolders.json"] == before[".gemini/trustedFolders.json"]
    assert installed[".claude.json"] == before[".claude.json"]

    keepmum = home / OUR_HOME / "bin" / "keepmum"
    report = json.loads(run(keepmum, "doctor", "--json").stdout)
    assert [each for each in report["findings"] if each["level"] == "problem"] == []
    assert any("not trusted yet" in each["says"] for each in report["findings"] if each["about"] == "codex hooks")
    run(keepmum, "status")
    assert differences(installed, tree(home)) == []

    run("/bin/sh", installer, "--uninstall")
    assert differences(before, tree(home)) == []


def test_a_home_that_no_client_has_used_is_as_before(run: Callable[..., Done], product: Path, home: Path) -> None:
    before, installer = tree(home), product / "installers" / "install.sh"
    names = ("claude-code", "codex", "cursor", "copilot-cli", "gemini-cli", "vscode", "opencode", "claude-desktop")
    run("/bin/sh", installer, "--no-runtime", *(f"--client={name}" for name in names))
    run("/bin/sh", installer, "--uninstall", "--purge", "--yes")
    assert differences(before, tree(home)) == []
    assert not (home / OUR_HOME).exists()


def test_no_other_client_is_started(run: Callable[..., Done], product: Path, home: Path) -> None:
    before = tree(home)
    for client in ("gemini-cli", "opencode"):
        run("/bin/sh", product / "installers" / "install.sh", "--no-runtime", "--client", client)
        run("/bin/sh", product / "installers" / "install.sh", "--uninstall", "--purge", "--yes")
    assert differences(before, tree(home)) == []


def test_gemini_has_the_extension_and_trusts_no_folder(run: Callable[..., Done], product: Path, home: Path) -> None:
    run("/bin/sh", product / "installers" / "install.sh", "--no-runtime", "--client", "gemini-cli")
    assert not (home / ".gemini" / "trustedFolders.json").exists()
    listed = run("/bin/sh", "-c", "gemini extensions list 2>&1").stdout
    assert "Enabled (User): true" in listed
    assert str(home / OUR_HOME / "app") in listed
