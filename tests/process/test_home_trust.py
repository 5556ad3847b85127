"""KEEPMUM_HOME in a place that others control is ignored, and nothing there is executed that others could write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from interpreters import VERSIONS, wanted
from keepmum_hooks import home as state
from mcp_process import conversed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files have no owners and modes there")
AS_ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")

LIMIT = 120  # seconds
OTHER = 12345  # a user id
WARNING = "keepmum: KEEPMUM_HOME is ignored: "


class User:
    """A user with a home folder, whose client sets KEEPMUM_HOME."""

    def __init__(self, root: Path, folder: Path, python: str = sys.executable) -> None:
        self.root, self.folder, self.python = root, folder, python
        self.default = folder / "user" / ".keepmum"
        self.named = folder / "named"
        self.default.parent.mkdir()
        self.environ = {"HOME": str(self.default.parent), "PATH": os.environ["PATH"]}

    def run(self, *words: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, "-I", "-S", *words],
            input=stdin,
            env=self._environ(variables),
            cwd=self.folder / "user",
            capture_output=True,
            timeout=LIMIT,
            text=True,
            check=False,
        )

    def _environ(self, variables: Mapping[str, str]) -> dict[str, str]:
        return {**self.environ, "KEEPMUM_HOME": str(self.named), **variables}

    def hook(self, **variables: str) -> str:
        """The standard error of a hook."""
        event = {
            "session_id": "s",
            "cwd": str(self.folder),
            "hook_event_name": "Stop",
            "prompt_id": os.urandom(4).hex(),
        }
        done = self.run(
            str(self.root / "hooks" / "run.py"), "stop", "--client", "claude-code", stdin=json.dumps(event), **variables
        )
        assert done.returncode == 0
        return done.stderr

    def guard(self) -> str:
        """The standard error of a guard hook that scans a text."""
        call = {"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "mcp__memory__add"}
        event = json.dumps({**call, "tool_input": {"text": "We deploy on Fridays, see docs/deploy.md."}})
        done = self.run(str(self.root / "hooks" / "run.py"), "guard", "--client", "claude-code", stdin=event)
        assert done.returncode == 0
        return done.stderr

    def server(self, **variables: str) -> str:
        lines = [{"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}]
        lines += [
            {"id": 1, "method": "tools/call", "params": {"name": "remember", "arguments": {"text": "We deploy."}}}
        ]
        text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
        command = [self.python, "-I", "-S", str(self.root / "plugin" / "launch.py"), "mcp", "--client", "x"]
        done = conversed(command, text, env=self._environ(variables), cwd=self.folder / "user")
        assert done.returncode == 0
        return done.stderr

    def command(self, **variables: str) -> str:
        done = self.run(str(self.root / "plugin" / "launch.py"), "remember", "We deploy.", **variables)
        assert done.returncode == 0, done.stderr
        return done.stderr


STARTS: Mapping[str, Callable[[User], str]] = {"hook": User.hook, "server": User.server, "command": User.command}


@pytest.fixture
def user(root: Path, tmp_path: Path) -> User:
    return User(root, tmp_path)


def _in_a_work_tree(user: User) -> None:
    (user.folder / "clone" / ".git").mkdir(parents=True)
    user.named = user.folder / "clone" / "a" / ".k"


def _the_work_tree(user: User) -> None:
    user.named = user.folder / "clone"
    (user.named / ".git").mkdir(parents=True)


def _below_a_git_file(user: User) -> None:
    (user.folder / "clone" / ".k").mkdir(parents=True)
    (user.folder / "clone" / ".git").write_text("gitdir: /elsewhere\n")
    user.named = user.folder / "clone" / ".k"


def _below_a_project(user: User) -> None:
    (user.folder / "clone" / ".k").mkdir(parents=True)
    (user.folder / "clone" / ".keepmum.toml").write_text("")
    user.named = user.folder / "clone" / ".k"


def _by_a_link_into_a_work_tree(user: User) -> None:
    _in_a_work_tree(user)
    user.named.mkdir(parents=True)
    (user.folder / "link").symlink_to(user.named)
    user.named = user.folder / "link"


def _by_a_link_in_a_work_tree(user: User) -> None:
    (user.folder / "clone" / ".git").mkdir(parents=True)
    (user.folder / "files").mkdir(mode=0o700)
    (user.folder / "clone" / "link").symlink_to(user.folder / "files")
    user.named = user.folder / "clone" / "link"


def _through_dots(user: User) -> None:
    _in_a_work_tree(user)
    (user.folder / "b").mkdir()
    user.named = Path(f"{user.folder}/b/../clone/.k")


def _writable_by_others(user: User) -> None:
    user.named.mkdir()
    user.named.chmod(0o757)


def _writable_by_a_group(user: User) -> None:
    user.named.mkdir()
    user.named.chmod(0o770)


def _shared_like_tmp(user: User) -> None:
    user.named.mkdir()
    user.named.chmod(0o1777)


def _in_a_writable_folder(user: User) -> None:
    (user.folder / "open").mkdir()
    user.named = user.folder / "open" / "named"
    user.named.mkdir(0o700)
    (user.folder / "open").chmod(0o777)


def _of_another_user(user: User) -> None:
    user.named.mkdir(0o700)
    os.chown(user.named, OTHER, OTHER)


def _in_a_folder_of_another_user(user: User) -> None:
    user.named = user.folder / "theirs" / "named"
    user.named.mkdir(0o700, parents=True)
    os.chown(user.named.parent, OTHER, OTHER)


BAD = [
    _in_a_work_tree,
    _the_work_tree,
    _below_a_git_file,
    _below_a_project,
    _by_a_link_into_a_work_tree,
    _by_a_link_in_a_work_tree,
    _through_dots,
    _writable_by_others,
    _writable_by_a_group,
    _shared_like_tmp,
    _in_a_writable_folder,
    pytest.param(_of_another_user, marks=AS_ROOT),
    pytest.param(_in_a_folder_of_another_user, marks=AS_ROOT),
]


@pytest.mark.parametrize("bad", BAD)
def test_a_home_that_others_control_is_ignored_by_all_with_one_warning(
    user: User, bad: Callable[[User], None], share_bytecode: Callable[[Path], None]
) -> None:
    bad(user)
    share_bytecode(user.default)
    before = _outside(user)
    for name, start in STARTS.items():
        errors = start(user)
        assert errors.startswith(WARNING), name
        assert errors.count("keepmum:") == 1, name
        assert str(user.named) not in errors
    assert (user.default / "memory.db").exists()
    assert _outside(user) == before


def _outside(user: User) -> set[Path]:
    """All files that are not in the default home."""
    return {path for path in user.folder.rglob("*") if user.default not in path.parents}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_home_in_a_work_tree_is_ignored_on_every_version(version: str, root: Path, tmp_path: Path) -> None:
    user = User(root, tmp_path, wanted(version))
    _in_a_work_tree(user)
    for _ in range(3):
        assert user.hook().startswith(WARNING)
    assert not user.named.exists()


def _plain(user: User) -> None:
    user.named.mkdir(0o700)


def _new(user: User) -> None:
    user.named = user.folder / "a" / "b"


def _by_a_link(user: User) -> None:
    (user.folder / "real").mkdir(0o700)
    user.named.symlink_to("real")


def _in_a_sticky_folder(user: User) -> None:
    (user.folder / "open").mkdir()
    user.named = user.folder / "open" / "named"
    user.named.mkdir(0o700)
    (user.folder / "open").chmod(0o1777)


def _the_default_in_a_repository(user: User) -> None:
    (user.default.parent / ".git").mkdir()
    user.named = user.default


GOOD = [_plain, _new, _by_a_link, _in_a_sticky_folder, _the_default_in_a_repository]


@pytest.mark.parametrize("good", GOOD)
def test_a_home_of_ones_own_is_used_by_all(user: User, good: Callable[[User], None]) -> None:
    good(user)
    assert {name: start(user) for name, start in STARTS.items()} == dict.fromkeys(STARTS, "")
    assert (user.named / "memory.db").exists()
    assert (user.named / "state" / "sessions").exists()


def test_the_default_home_is_used_in_a_home_folder_that_is_a_repository(user: User) -> None:
    (user.default.parent / ".git").mkdir()
    (user.default.parent / ".keepmum.toml").write_text("")
    assert [start(user, KEEPMUM_HOME="") for start in (User.hook, User.server, User.command)] == [""] * 3
    assert (user.default / "memory.db").exists()


@pytest.mark.parametrize("choose", [*BAD, *GOOD])
def test_run_py_trusts_no_home_that_the_package_ignores(user: User, choose: Callable[[User], None]) -> None:
    """`run.py` repeats the rule for simple cases, to load the module that holds it from bytecode."""
    choose(user)
    source = (user.root / "hooks" / "run.py").read_text(encoding="utf-8").partition("CODE = ")[0]
    user.named.mkdir(0o700, parents=True, exist_ok=True)
    plugin = user.folder / "plugin" / "keepmum_hooks"
    cache = Path(f"{user.named}/cache/pycache{plugin}")
    cache.mkdir(0o700, parents=True)
    for name in ("__init__", "home"):
        (cache / f"{name}.{sys.implementation.cache_tag}.pyc").touch()
    run = user.folder / "run.py"
    run.write_text(f"__file__ = {str(plugin.parent / 'run.py')!r}\n{source}\nprint(trusted_home())\n")
    trusted = user.run(str(run)).stdout.strip()
    found = state.find({**user.environ, "KEEPMUM_HOME": str(user.named)})
    assert trusted in ("", found)
    if choose is _plain:
        assert trusted == str(user.named)


# -- what is executed ------------------------------------------------------------------------------------------------


@pytest.fixture
def warm(user: User, patient_plugin: Path) -> User:
    """A user whose hooks have all their bytecode in the home."""
    user.root, user.named = patient_plugin, user.default
    for _ in range(3):
        assert user.hook() == user.guard() == ""
    return user


def _plant(user: User, name: str) -> Path:
    """Replace the bytecode of a module by code that prints, for the same source."""
    (path,) = (user.default / "cache" / "pycache").rglob(f"{name}.{sys.implementation.cache_tag}.pyc")
    code = compile(
        "import sys, posix; posix.write(2, b'TRAP')\n"
        + (user.root / "hooks" / "keepmum_hooks" / f"{path.name.partition('.')[0]}.py")
        .read_text(encoding="utf-8")
        .replace("from __future__ import annotations", ""),
        "planted",
        "exec",
        dont_inherit=True,
        flags=0x1000000,  # annotations
    )
    import marshal

    path.write_bytes(path.read_bytes()[:16] + marshal.dumps(code))
    return path


MODULES = ["keepmum_hooks/home", "keepmum_hooks/__init__", "keepmum_hooks/stop", "keepmum_hooks/main"]


@pytest.mark.parametrize("name", MODULES)
def test_planted_bytecode_runs_so_the_next_tests_can_fail(warm: User, name: str) -> None:
    _plant(warm, name)
    assert "TRAP" in warm.hook()


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_bytecode_that_others_can_write_is_replaced(warm: User, name: str, mode: int) -> None:
    path = _plant(warm, name)
    path.chmod(mode)
    assert [warm.hook(), warm.hook()] == ["", ""]
    assert path.stat().st_mode & 0o777 == 0o600


@AS_ROOT
@pytest.mark.parametrize("name", MODULES)
def test_bytecode_of_another_user_is_replaced(warm: User, name: str) -> None:
    path = _plant(warm, name)
    os.chown(path, OTHER, OTHER)
    assert [warm.hook(), warm.hook()] == ["", ""]
    assert path.stat().st_uid == os.geteuid()


def _folders(path: Path, home: Path) -> list[Path]:
    """The folders from the file up to the home."""
    return [folder for folder in path.parents if folder == home or home in folder.parents]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o1777])
@pytest.mark.parametrize("name", ["keepmum_hooks/home", "keepmum_hooks/main"])
def test_no_bytecode_is_loaded_below_a_folder_that_others_can_write(warm: User, name: str, mode: int) -> None:
    for folder in _folders(_plant(warm, name), warm.default):
        folder.chmod(mode)
        assert warm.hook() == "", folder
        folder.chmod(0o700)
    assert "TRAP" in warm.hook()


@AS_ROOT
@pytest.mark.parametrize("name", ["keepmum_hooks/home", "keepmum_hooks/main"])
def test_no_bytecode_is_loaded_below_a_folder_of_another_user(warm: User, name: str) -> None:
    for folder in _folders(_plant(warm, name), warm.default):
        os.chown(folder, OTHER, OTHER)
        assert warm.hook() == "", folder
        os.chown(folder, os.geteuid(), os.getegid())


def test_no_module_cache_is_loaded_below_a_folder_that_others_can_write(warm: User) -> None:
    import marshal
    from _imp import source_hash

    (path,) = (warm.default / "cache" / "modules").iterdir()
    version, modules, expressions = marshal.loads(path.read_bytes()[8:])
    trap = compile("import posix; posix.write(2, b'TRAP')", "planted", "exec")
    planted = tuple((*module[:-1], trap if module[0] == "keepmum_scanner" else module[-1]) for module in modules)
    body = marshal.dumps((version, planted, expressions))
    path.write_bytes(source_hash(1, body) + body)
    assert "TRAP" in warm.guard()
    path.write_bytes(source_hash(1, body) + body)
    for folder in _folders(path, warm.default):
        folder.chmod(0o777)
        assert warm.guard() == "", folder
        folder.chmod(0o700)


def test_bytecode_is_private_whatever_the_umask_is(user: User) -> None:
    user.named = user.default
    script = f"umask 002; exec {sys.executable} -I -S {user.root}/hooks/run.py stop --client claude-code"
    event = json.dumps({"session_id": "s", "cwd": "/", "hook_event_name": "Stop"})
    for _ in range(3):
        subprocess.run(["sh", "-c", script], input=event, env=user.environ, timeout=LIMIT, text=True, check=True)
    written = [*(user.default / "cache").rglob("*")]
    assert any(path.name.startswith("main.") for path in written)
    assert {path.stat().st_mode & 0o077 for path in written} == {0}


def _runtime(user: User) -> Path:
    python = user.default / "runtime" / "bin" / "python"
    python.parent.mkdir(mode=0o700, parents=True)
    python.write_text("#!/bin/sh\necho TRAP >&2\n")
    python.chmod(0o700)
    (user.default / "runtime" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    return python


def test_the_runtime_is_started_so_the_next_tests_can_fail(user: User) -> None:
    _runtime(user)
    assert user.run(str(user.root / "plugin" / "launch.py"), "--version", KEEPMUM_HOME="").stderr == "TRAP\n"


@pytest.mark.parametrize("how", ["mode", pytest.param("owner", marks=AS_ROOT)])
@pytest.mark.parametrize("part", ["bin/python", "bin", "pyvenv.cfg", ".", ".."])
def test_a_runtime_that_others_can_write_is_not_started(user: User, part: str, how: str) -> None:
    _runtime(user)
    path = user.default / "runtime" / part
    if how == "mode":
        path.chmod(0o777)
    else:
        os.chown(path, OTHER, OTHER)
    done = user.run(str(user.root / "plugin" / "launch.py"), "--version", KEEPMUM_HOME="")
    assert done.stdout.startswith("keepmum ")
    assert "TRAP" not in done.stderr
    assert done.stderr.count("is not used, since another user could have changed it") == 1


@pytest.mark.parametrize("how", ["mode", pytest.param("owner", marks=AS_ROOT)])
def test_an_interpreter_that_others_can_write_is_not_started_through_a_link(user: User, how: str) -> None:
    python = _runtime(user)
    target = user.folder / "python"
    python.rename(target)
    python.symlink_to(target)
    if how == "mode":
        target.chmod(0o707)
    else:
        os.chown(target, OTHER, OTHER)
    done = user.run(str(user.root / "plugin" / "launch.py"), "--version", KEEPMUM_HOME="")
    assert "TRAP" not in done.stderr


def test_a_plugin_next_to_the_home_may_be_writable_by_a_group(user: User) -> None:
    user.named = user.default
    plugin = Path(f"{user.default}-source")
    shutil.copytree(user.root / "hooks", plugin / "hooks", ignore=shutil.ignore_patterns("__pycache__"))
    for path in plugin.rglob("*"):
        path.chmod(0o775)
    user.root = plugin
    assert [user.hook() for _ in range(3)] == [""] * 3
