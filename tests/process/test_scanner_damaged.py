"""A damaged scanner refuses every text."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import patient_guard
from hidden import assert_hidden
from mcp_process import conversed

ROOT = Path(__file__).parents[2]
GITHUB = "gh" + "p_" + "a1B2" * 9
TABLES = ("prefix_table", "score_table", "surprise_table")
LIMIT = 60  # seconds


# Loaded when a text has a candidate that must be judged.
CANDIDATE = "the staging password is " + "Wint" + "er2001!"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the plugin's sources."""
    bundle = patient_guard.copied(ROOT, tmp_path_factory.mktemp("bundle"))
    for folder in ("plugin", "installers"):
        shutil.copytree(ROOT / folder, bundle / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return bundle


@pytest.fixture
def copy(bundle: Path, share_bytecode: Callable[[Path], None]) -> Iterator[Path]:
    """Links to the plugin's sources, where a test may replace files; always at one path, so that bytecode is valid."""
    copy = bundle.parent / "copy"
    shutil.copytree(bundle, copy, copy_function=os.link)
    share_bytecode(copy / "home")
    yield copy
    shutil.rmtree(copy)


def damage(copy: Path, table: str, how: str) -> None:
    file = copy / "scanner" / "keepmum_scanner" / f"{table}.py"
    content = file.read_bytes()
    file.unlink()
    if how == "cut short":
        file.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        file.write_text('"""Nothing."""\n')


def environment(copy: Path) -> dict[str, str]:
    return {"HOME": str(copy), "KEEPMUM_HOME": str(copy / "home"), "PYTHONDONTWRITEBYTECODE": "1"}


def run(copy: Path, *command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        cwd=copy,
        env=environment(copy),
    )


@pytest.mark.parametrize("how", ["missing", "cut short", "empty"])
@pytest.mark.parametrize("table", TABLES)
def test_command_of_a_damaged_scanner_fails(copy: Path, table: str, how: str) -> None:
    damage(copy, table, how)
    done = run(copy, "-I", "-S", "scanner", stdin=GITHUB)
    assert done.returncode not in {0, 1}
    assert_hidden(GITHUB[:12], done.stdout + done.stderr)


@pytest.mark.parametrize("how", ["missing", "cut short", "empty"])
def test_command_without_a_second_stage_fails_where_it_must_judge(copy: Path, how: str) -> None:
    damage(copy, "tree_table", how)
    done = run(copy, "-I", "-S", "scanner", stdin=CANDIDATE)
    assert done.returncode not in {0, 1}
    assert len(done.stderr.splitlines()) == 1
    assert_hidden(CANDIDATE[-8:], done.stdout + done.stderr)


WRITE = """
import sys
sys.path[:0] = ["plugin", "scanner", "hooks"]
import os
from keepmum.service.opening import open_session
memory = open_session(os.environ, "test", ())
memory.remember("a plain note")
print("stored")
"""


@pytest.mark.parametrize("table", TABLES)
def test_write_through_a_damaged_scanner_is_refused(copy: Path, table: str) -> None:
    damage(copy, table, "missing")
    done = run(copy, "-c", WRITE)
    assert done.returncode != 0
    assert "stored" not in done.stdout


def call(request_id: int, method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}) + "\n"


NOTE = "a plain note"
KEPT = {"id": "mem_" + "0" * 26, "text": NOTE, "title": NOTE, "created_at": 1, "updated_at": 1}
WRITING = call(1, "tools/call", name="remember", arguments={"text": NOTE})
HELLO = call(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"})
HOOK = {
    "session_id": "s",
    "hook_event_name": "PreToolUse",
    "tool_name": "mcp__memory__add",
    "tool_input": {"text": NOTE},
}
# Arguments of a command, its standard input, and a part of its refusal.
WRITERS = {
    "keepmum remember": (["plugin/launch.py", "remember", NOTE], "", "scanner"),
    "keepmum import": (["plugin/launch.py", "import", "--yes", "in.jsonl"], "", "scanner"),
    "keepmum audit": (["plugin/launch.py", "audit", "in.jsonl"], "", "scanner"),
    "keepmum scan": (["plugin/launch.py", "scan", "in.jsonl"], "", "scanner"),
    "a word that is not a command": (["plugin/launch.py", "REMEMBER", NOTE], "", "scanner"),
    "the tool": (["plugin/launch.py", "mcp"], HELLO + WRITING, "scanner"),
    "the guard of a client": (["hooks/run.py", "guard", "--client", "claude-code"], json.dumps(HOOK), '"deny"'),
    "the guard of a server": (["plugin/launch.py", "guard", "--", "/bin/cat"], WRITING, "could not"),
}


@pytest.mark.heavy
@pytest.mark.parametrize("how", ["missing", "cut short", "empty"])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("writer", WRITERS)
def test_nothing_is_stored_while_the_scanner_is_damaged(copy: Path, writer: str, table: str, how: str) -> None:
    words, stdin, refusal = WRITERS[writer]
    damage(copy, table, how)
    (copy / ".git").mkdir()
    (copy / "in.jsonl").write_text(json.dumps(KEPT) + "\n", encoding="utf-8")
    if stdin.endswith(WRITING):  # a server, which has five seconds from the end of its input
        command = [sys.executable, "-I", "-S", *words]
        done = conversed(command, stdin, cwd=copy, env=environment(copy))
    else:
        done = run(copy, "-I", "-S", *words, stdin=stdin)
    output = done.stdout + done.stderr
    assert refusal in output
    assert "Traceback" not in output
    assert WRITING not in done.stdout
    stored = [path for path in (copy / "home").rglob("*") if path.is_file() and NOTE.encode() in path.read_bytes()]
    assert stored == []


COMMAND = """
import sys
sys.path[:0] = ["plugin", "scanner", "hooks", "installers"]
from keepmum.cli.main import main
raise SystemExit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("words", [["recall", "--since", GITHUB, "time"], ["audit", GITHUB], [GITHUB]])
def test_an_error_repeats_no_argument_while_the_scanner_is_damaged(copy: Path, words: list[str]) -> None:
    damage(copy, "score_table", "cut short")
    done = run(copy, "-c", COMMAND, *words)
    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr
    assert "run `keepmum doctor`" in done.stderr
    assert_hidden(GITHUB[:12], done.stdout + done.stderr)
