"""The guard as a client starts it: real processes, on every interpreter of this machine, intact and broken."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import patient_guard
from hidden import assert_hidden
from interpreters import VERSIONS, wanted

LIMIT = 120  # seconds


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


class Answer(NamedTuple):
    """What the guard returned to its client."""

    code: int
    out: str
    err: str

    @property
    def reason(self) -> str:
        """Why the call is blocked."""
        decision = json.loads(self.out)["hookSpecificOutput"]
        assert decision["permissionDecision"] == "deny"
        return str(decision["permissionDecisionReason"])


SILENCE = Answer(0, "", "")


class Guard:
    """The guard of one copy of the plugin, with its own home."""

    def __init__(self, plugin: Path, folder: Path, python: str = sys.executable) -> None:
        self.script = plugin / "hooks" / "run.py"
        self.python = python
        self.folder = folder
        self.environ = {"HOME": str(folder), "USERPROFILE": str(folder), "KEEPMUM_HOME": str(folder / "keepmum")}

    def run(self, stdin: bytes) -> Answer:
        done = subprocess.run(
            [self.python, "-I", "-S", str(self.script), "guard", "--client", "claude-code"],
            input=stdin,
            env=self.environ,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def call(self, tool: str, **tool_input: object) -> Answer:
        return self.run(self.payload(tool, **tool_input))

    def payload(self, tool: str, **tool_input: object) -> bytes:
        common = {"session_id": "s", "cwd": str(self.folder), "hook_event_name": "PreToolUse"}
        return json.dumps({**common, "tool_name": tool, "tool_input": tool_input}).encode()


@pytest.fixture
def guard(patient_plugin: Path, tmp_path: Path) -> Guard:
    return Guard(patient_plugin, tmp_path)


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """A copy of the plugin that a test may break."""
    return patient_guard.copied(root, tmp_path / "plugin")


@pytest.fixture(params=VERSIONS)
def any_guard(request: pytest.FixtureRequest, patient_plugin: Path, tmp_path: Path) -> Guard:
    """The guard on one of the supported Python versions."""
    return Guard(patient_plugin, tmp_path, wanted(request.param))


def test_a_secret_is_refused_on_every_version(any_guard: Guard) -> None:
    answer = any_guard.call("mcp__memory__add", items=["fine", f"one\n{token()}"])
    assert (answer.code, answer.err) == (0, "")
    assert "github.token in items[1], line 2" in answer.reason


def test_a_text_without_a_secret_is_allowed_on_every_version(any_guard: Guard) -> None:
    assert any_guard.call("mcp__memory__add", text="Deploys go through the blue pool.") == SILENCE


def test_a_call_that_is_not_guarded_imports_no_scanner_on_every_version(any_guard: Guard) -> None:
    calls = [
        any_guard.payload("Write", file_path="/p/main.py", content=token()),
        any_guard.payload("Bash", command=f"echo {token()}"),
        any_guard.payload("mcp__github__create_issue", body=token()),
    ]
    code = (
        f"import sys; sys.path.insert(0, {str(any_guard.script.parent)!r});"
        "import keepmum_hooks.main; from keepmum_hooks.guard import answer;"
        f"assert not any(answer('claude-code', raw, {any_guard.environ!r}) for raw in {calls!r});"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [any_guard.python, "-I", "-S", "-B", "-c", code], capture_output=True, text=True, check=True, timeout=LIMIT
    )
    unwanted = {"json", "re", "typing", "pathlib", "os", "signal", "fnmatch", "keepmum_scanner", "hashlib", "enum"}
    assert not unwanted & set(done.stdout.split())


@pytest.mark.parametrize(
    "stdin",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x00" * 100, id="NUL"),
        pytest.param(b"\xff\xfe" * 100, id="not UTF-8"),
        pytest.param(b"{", id="a truncated object"),
        pytest.param(b'{"a":' * 200_000, id="deeply nested"),
        pytest.param(b'{"a": "' + b"x" * (11 << 20) + b'"}', id="eleven megabytes"),
    ],
)
def test_garbage_gets_no_answer(guard: Guard, stdin: bytes) -> None:
    assert guard.run(stdin) == SILENCE


def test_a_write_to_a_memory_over_the_limit_is_refused(guard: Guard) -> None:
    assert "too long" in guard.call("mcp__memory__add", text="x" * (11 << 20)).reason


def test_a_huge_write_to_a_memory_is_refused(guard: Guard) -> None:
    answer = guard.call("mcp__memory__add", text="words and " * 1_000_000, last=token())
    assert "holds a secret" in answer.reason


def test_a_huge_write_that_takes_too_long_is_refused(root: Path, tmp_path: Path) -> None:
    answer = Guard(root, tmp_path).call("mcp__memory__add", text="words and " * 1_000_000, last=token())
    assert "holds a secret" in answer.reason or "took too long" in answer.reason


def test_a_scanner_that_never_returns_is_stopped(root: Path, tmp_path: Path) -> None:
    for name in ("hooks", "scanner"):
        shutil.copytree(root / name, tmp_path / "plugin" / name, ignore=shutil.ignore_patterns("__pycache__"))
    scanner = tmp_path / "plugin" / "scanner" / "keepmum_scanner" / "__init__.py"
    scanner.write_text("while True: pass\n", encoding="utf-8")
    assert "took too long" in Guard(tmp_path / "plugin", tmp_path).call("mcp__memory__add", text="harmless").reason


BROKEN = [
    pytest.param("scanner/keepmum_scanner/__init__.py", id="scanner"),
    pytest.param("hooks/keepmum_hooks/guard_rules.py", id="rules"),
    pytest.param("hooks/keepmum_hooks/guard.py", id="guard"),
    pytest.param("hooks/keepmum_hooks/main.py", id="every hook"),
]


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("code", ["raise SystemExit(0)", "x = (", "from nowhere import x"])
def test_a_broken_guard_blocks_writing_to_memories(copy: Path, tmp_path: Path, broken: str, code: str) -> None:
    (copy / broken).write_text(f"{code}\n", encoding="utf-8")
    guard = Guard(copy, tmp_path)
    for answer in (
        guard.call("mcp__memory__add", text=token()),
        guard.call("Write", file_path="/p/CLAUDE.md", content=token()),
        guard.call("Bash", command=f"echo {token()} >> AGENTS.md"),
    ):
        message = answer.err if answer.code else answer.reason
        assert answer.code in {0, 2}
        assert "could not check this write to memory" in message
        assert "Traceback" not in message
        assert_hidden(token()[:8], message)


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_guard_blocks_nothing_else(copy: Path, tmp_path: Path, broken: str) -> None:
    (copy / broken).write_text("raise RuntimeError('planted')\n", encoding="utf-8")
    guard = Guard(copy, tmp_path)
    for answer in (
        guard.call("Write", file_path="/p/main.py", content="x = 1"),
        guard.call("Bash", command="pytest -q"),
        guard.call("mcp__github__create_issue", body="x"),
        guard.call("mcp__plugin_keepmum_memory__remember", text="x"),
    ):
        assert (answer.code, answer.out) == (0, "")


def test_a_missing_guard_blocks_memory_tools_and_files(copy: Path, tmp_path: Path) -> None:
    shutil.rmtree(copy / "hooks/keepmum_hooks")
    guard = Guard(copy, tmp_path)
    assert guard.call("mcp__other__mem_save", text="x").code == 2
    assert guard.call("Write", file_path="/p/.github/copilot-instructions.md", content="x").code == 2
    assert guard.call("Write", file_path="/p/main.py", content="x").code == 0


def test_a_payload_of_any_length_is_read_to_its_end(guard: Guard) -> None:
    process = subprocess.Popen(
        [guard.python, "-I", "-S", str(guard.script), "guard", "--client", "claude-code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=guard.environ,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, process.stdin, process.stdout:
        process.stdin.write(
            guard.payload("mcp__memory__add", text="x" * (12 << 20))
        )  # raises when the guard stops reading
        process.stdin.close()
        assert Answer(0, process.stdout.read().decode(), "").reason
        assert process.wait(LIMIT) == 0


def test_a_missing_guard_says_that_it_could_not_check(copy: Path, tmp_path: Path) -> None:
    shutil.rmtree(copy / "hooks/keepmum_hooks")
    answer = Guard(copy, tmp_path).call("mcp__memory__add", text=token())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == ("keepmum: could not check this write to memory, so it was blocked (ModuleNotFoundError)\n")


def test_a_refused_secret_is_not_on_disk(guard: Guard, tmp_path: Path) -> None:
    guard.call("mcp__memory__add", text=token())
    guard.call("Write", file_path="CLAUDE.md", content=token())
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not any(token()[4:20].encode() in path.read_bytes() for path in files)
