"""The guard's module cache: it saves imports, and damage to it changes no answer."""

from __future__ import annotations

import json
import marshal
import os
import subprocess
import sys
from _imp import source_hash
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import patient_guard
from interpreters import VERSIONS, wanted
from keepmum_hooks import module_cache, places

LIMIT = 120  # seconds
NOTE = "Deploys go through the blue pool first; see docs/deploy_guide.md, and ask for the token in the vault.\n" * 20


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


class Guard:
    """The guard hook of a copy of the plugin that a test may change, with its own home."""

    def __init__(self, root: Path, folder: Path, python: str = sys.executable) -> None:
        self.plugin = patient_guard.copied(root, folder / "plugin")
        self.home = folder / "keepmum"
        self.python = python
        self.environ = {"HOME": str(folder), "USERPROFILE": str(folder), "KEEPMUM_HOME": str(self.home)}

    def run(self, text: str, *options: str, tool: str = "mcp__memory__add") -> subprocess.CompletedProcess[bytes]:
        """One run before a tool call with this text."""
        payload = {
            "session_id": "s",
            "cwd": str(self.home),
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": {"text": text},
        }
        command = [self.python, "-I", "-S", *options, str(self.plugin / "hooks" / "run.py")]
        return subprocess.run(
            [*command, "guard", "--client", "claude-code"],
            input=json.dumps(payload).encode(),
            env=self.environ,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )

    def answers_correctly(self) -> bool:
        """Whether a secret is refused and a plain note is not, with the right exit codes."""
        bad, good = self.run(f"{NOTE}\n{token()}"), self.run(NOTE)
        assert (bad.returncode, bad.stderr) == (good.returncode, good.stderr) == (0, b"")
        return b"github.token in text, line 22" in bad.stdout and good.stdout == b""

    def imported(self, text: str) -> set[str]:
        """The modules that a run imports, as the interpreter reports them."""
        lines = self.run(text, "-X", "importtime").stderr.decode().splitlines()
        return {line.rpartition("|")[2].strip() for line in lines}

    @property
    def caches(self) -> list[Path]:
        folder = Path(places.module_cache_folder(str(self.home)))
        return sorted(folder.iterdir()) if folder.exists() else []

    def caches_module(self, name: str) -> bool:
        """Whether the cache contains a module, whichever interpreter wrote it."""
        return f"{name.replace('.', os.sep)}.py".encode() in self.cache.read_bytes()

    @property
    def cache(self) -> Path:
        (path,) = self.caches
        return path


@pytest.fixture
def guard(root: Path, tmp_path: Path) -> Guard:
    return Guard(root, tmp_path)


@pytest.fixture
def warm(guard: Guard) -> Guard:
    """A guard whose cache is complete."""
    for _ in range(3):
        assert guard.answers_correctly()
    return guard


@pytest.mark.parametrize("version", VERSIONS)
def test_a_warm_run_imports_no_scanner_module_and_compiles_nothing(version: str, root: Path, tmp_path: Path) -> None:
    guard = Guard(root, tmp_path, wanted(version))
    assert all(guard.answers_correctly() for _ in range(3))
    for text in (NOTE, f"{NOTE}\n{token()}"):
        imported = guard.imported(text)
        assert "keepmum_hooks.guard" in imported
        scanner = {name for name in imported if name.startswith("keepmum_scanner")}
        assert scanner <= module_cache._ON_DEMAND
        assert all(map(guard.caches_module, scanner))
        assert not {"re", "enum"} & imported


def test_the_cache_is_private(warm: Guard) -> None:
    assert warm.cache.stat().st_mode & 0o777 == 0o600


def test_a_call_that_is_not_guarded_makes_no_cache(guard: Guard) -> None:
    for _ in range(2):
        assert guard.run(token(), tool="Write").returncode == 0
    assert guard.caches == []


def test_a_warm_run_does_not_write_the_cache(warm: Guard) -> None:
    before = warm.cache.stat().st_mtime_ns
    assert warm.answers_correctly()
    assert warm.cache.stat().st_mtime_ns == before


def damaged(data: bytes, how: str) -> bytes:
    middle = len(data) // 2
    return {
        "empty": b"",
        "truncated": data[:middle],
        "one bit changed": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "checksum changed": bytes([data[0] ^ 1]) + data[1:],
        "zeros": bytes(len(data)),
        "other text": b"not a module cache",
        "checksum of nothing": source_hash(1, b""),
        "checksum of a number": source_hash(1, marshal.dumps(7)) + marshal.dumps(7),
        "checksum of a list": source_hash(1, marshal.dumps([])) + marshal.dumps([]),
    }[how]


@pytest.mark.parametrize(
    "how",
    [
        "empty",
        "truncated",
        "one bit changed",
        "checksum changed",
        "zeros",
        "other text",
        "checksum of nothing",
        "checksum of a number",
        "checksum of a list",
    ],
)
def test_a_damaged_cache_changes_no_answer_and_is_rewritten(warm: Guard, how: str) -> None:
    whole = warm.cache.read_bytes()
    warm.cache.write_bytes(damaged(whole, how))
    assert warm.answers_correctly()
    assert warm.answers_correctly()
    assert source_hash(1, warm.cache.read_bytes()[8:]) == warm.cache.read_bytes()[:8]
    assert not warm.imported(NOTE) & {"keepmum_scanner", "re"}


def test_a_cache_that_is_not_a_regular_file_changes_no_answer(warm: Guard) -> None:
    path = warm.cache
    path.unlink()
    os.mkfifo(path)
    assert warm.answers_correctly()


def changed(cache: Path, name: str, source: str, codes: dict[str, Any] | None = None) -> bytes:
    """The cache with the code of one module replaced, and everything else valid."""
    version, modules, expressions = marshal.loads(cache.read_bytes()[8:])
    modules = tuple(
        (*module[:-1], compile(source, name, "exec") if module[0] == name else module[-1]) for module in modules
    )
    content: Any = (version, modules, expressions if codes is None else codes)
    body = marshal.dumps(content)
    return source_hash(1, body) + body


def hostile(cache: Path) -> bytes:
    """A valid cache whose scanner finds nothing."""
    return changed(cache, "keepmum_scanner", "def scan(text, key=None):\n    return []\n")


def test_only_its_mode_keeps_a_hostile_cache_out_so_the_next_tests_can_fail(warm: Guard) -> None:
    warm.cache.write_bytes(hostile(warm.cache))
    assert warm.run(token()).stdout == b""


@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_cache_that_others_can_write_is_not_used(warm: Guard, mode: int) -> None:
    warm.cache.write_bytes(hostile(warm.cache))
    warm.cache.chmod(mode)
    assert b"github.token" in warm.run(token()).stdout


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_cache_of_another_user_is_not_used(warm: Guard) -> None:
    warm.cache.write_bytes(hostile(warm.cache))
    os.chown(warm.cache, 12345, 12345)
    assert b"github.token" in warm.run(token()).stdout


def test_a_cache_behind_a_symbolic_link_is_not_used(warm: Guard, tmp_path: Path) -> None:
    path, target = warm.cache, tmp_path / "target"
    target.write_bytes(hostile(path))
    path.unlink()
    path.symlink_to(target)
    assert b"github.token" in warm.run(token()).stdout


@pytest.mark.parametrize("name", ["hooks/keepmum_hooks/guard.py", "scanner/keepmum_scanner/scan.py"])
def test_a_changed_source_takes_effect_at_once(warm: Guard, name: str) -> None:
    with (warm.plugin / name).open("a", encoding="utf-8") as file:
        file.write("\nraise RuntimeError('planted')\n")
    answer = warm.run(NOTE)
    assert answer.returncode == 2 or b"could not check this write" in answer.stdout


@pytest.mark.parametrize("name", ["hooks/keepmum_hooks/guard.py", "scanner/keepmum_scanner/scan.py"])
def test_a_missing_source_is_noticed_at_once(warm: Guard, name: str) -> None:
    (warm.plugin / name).unlink()
    answer = warm.run(NOTE)
    assert answer.returncode == 2 or b"could not check this write" in answer.stdout


def test_a_run_that_fails_after_it_loaded_the_cache_removes_it(warm: Guard) -> None:
    main = warm.plugin / "hooks/keepmum_hooks/main.py"
    source = main.read_text(encoding="utf-8")
    main.write_text(
        source.replace("    while output:\n", "    raise RuntimeError\n    while output:\n"), encoding="utf-8"
    )
    assert warm.run(NOTE).returncode == 2
    assert warm.caches == []


def test_a_cached_module_that_cannot_be_executed_is_imported_and_replaced(warm: Guard) -> None:
    warm.cache.write_bytes(changed(warm.cache, "keepmum_scanner.tokens", "raise RuntimeError\n"))
    assert warm.answers_correctly()
    assert warm.answers_correctly()
    assert not warm.imported(NOTE) & {"keepmum_scanner", "re"}


def test_a_cached_expression_that_the_interpreter_rejects_is_compiled(warm: Guard) -> None:
    codes = marshal.loads(warm.cache.read_bytes()[8:])[2]
    assert codes
    broken = {expression: (code[0], b"\xff" * len(code[1]), *code[2:]) for expression, code in codes.items()}
    warm.cache.write_bytes(changed(warm.cache, "", "", broken))
    assert warm.answers_correctly()


def test_two_copies_of_the_plugin_have_separate_caches(root: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = Guard(root, tmp_path / "one"), Guard(root, tmp_path / "two")
    two.environ, two.home = one.environ, one.home
    assert one.answers_correctly()
    assert two.answers_correctly()
    assert len(one.caches) == 2


def test_a_cache_that_cannot_be_written_changes_no_answer(guard: Guard) -> None:
    guard.home.mkdir()
    (guard.home / "cache").write_text("in the way", encoding="utf-8")
    assert guard.answers_correctly()
    assert guard.answers_correctly()


def test_concurrent_runs_agree(guard: Guard) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(guard.run, [token()] * 24))
    assert {answer.returncode for answer in answers} == {0}
    assert all(b"github.token" in answer.stdout for answer in answers)
    assert len(guard.caches) == 1


def test_the_cache_contains_nothing_of_the_scanned_text(warm: Guard) -> None:
    assert token()[4:16].encode() not in warm.cache.read_bytes()
