"""The cost of hooks relative to a bare interpreter, measured in one interleaved run; prints a table.

    python tests/bench/hooks_bench.py [--python PATH] [--rounds N]

Wall and CPU time are medians, also as ratios to `python3 -I -S -c pass` in the same run, because machines are rarely
idle.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HOOKS = Path(__file__).resolve().parents[2] / "hooks"
sys.path.insert(0, str(HOOKS))

from keepmum_hooks import places, turns  # noqa: E402 - the path must come first
from keepmum_hooks.event import STOP, Event  # noqa: E402 - the path must come first

FLOOR = "python3 -I -S -c pass"
TRANSCRIPT_BYTES = 50 << 20
MEMORIES = 100_000
WARMING = 3  # rounds that fill the caches and are not counted
LONG = (1_000, 5_000)  # turns of a session


@dataclass
class Case:
    """One command and the payload it reads."""

    name: str
    arguments: list[str]
    payload: Callable[[int], dict[str, object] | None]
    cold: bool = False  # whether each run is the first one, with empty caches
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self, python: str, environ: dict[str, str], turn: int) -> None:
        """Run once and record wall and CPU seconds."""
        content = self.payload(turn)
        if self.cold:
            environ = {**environ, "KEEPMUM_HOME": f"{environ['KEEPMUM_HOME']}-cold"}
            shutil.rmtree(environ["KEEPMUM_HOME"], ignore_errors=True)
        with tempfile.TemporaryFile() as stdin:
            stdin.write(b"" if content is None else json.dumps(content).encode())
            stdin.seek(0)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.perf_counter()
            subprocess.run(
                [python, "-I", "-S", *self.arguments], stdin=stdin, stdout=subprocess.DEVNULL, env=environ, check=True
            )
            self.wall.append(time.perf_counter() - start)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


@contextmanager
def scene() -> Iterator[Path]:
    """A folder with a project, a large transcript, a large store and a long briefing."""
    root = Path(tempfile.mkdtemp(prefix="keepmum-bench-"))
    try:
        (root / "project" / ".git").mkdir(parents=True)
        line = json.dumps({"type": "assistant", "message": {"content": "x" * 1000}}) + "\n"
        (root / "transcript.jsonl").write_text(line * (TRANSCRIPT_BYTES // len(line)), encoding="utf-8")
        home = root / "home"
        briefing = Path(places.briefing_file(str(home), str(root / "project")))
        briefing.parent.mkdir(parents=True)
        briefing.write_text("".join(f"- memory {n}: the pool drains first\n" for n in range(120)), encoding="utf-8")
        fill_store(home / "memory.db")
        yield root
    finally:
        shutil.rmtree(root)


def fill_store(path: Path) -> None:
    """A database of the size of this many memories; hooks must not open it, so its tables do not matter."""
    import sqlite3

    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE memory (id INTEGER PRIMARY KEY, text TEXT)")
        db.executemany(
            "INSERT INTO memory (text) VALUES (?)", (("the pool drains first " * 20,) for _ in range(MEMORIES))
        )
    db.close()


def cases(root: Path) -> list[Case]:
    """The floor, and each hook with and without the large files that must not matter."""
    stop = [str(HOOKS / "run.py"), "stop", "--client", "claude-code"]
    start = [str(HOOKS / "run.py"), "session-start", "--client", "claude-code"]

    def stopped(session: str, transcript: Path) -> Callable[[int], dict[str, object]]:
        return lambda turn: {
            "session_id": session,
            "transcript_path": str(transcript),
            "cwd": str(root / "project"),
            "prompt_id": f"00000000-0000-4000-8000-{turn:012}",
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": False,
            "last_assistant_message": "done " * 200,
            "background_tasks": [],
            "session_crons": [],
        }

    def started(folder: Path) -> Callable[[int], dict[str, object]]:
        return lambda turn: {
            "session_id": f"start-{turn}",
            "cwd": str(folder),
            "hook_event_name": "SessionStart",
            "source": "startup",
        }

    def of_codex(turn: int) -> dict[str, object]:
        return {**stopped("codex", root / "transcript.jsonl")(turn), "turn_id": f"turn-{turn}"}

    return [
        Case(FLOOR, ["-c", "pass"], lambda _: None),
        Case("Stop", stop, stopped("light", root / "none.jsonl")),
        Case("Stop, 50 MB transcript, 100,000 memories", stop, stopped("heavy", root / "transcript.jsonl")),
        Case("Stop of Codex, 50 MB transcript", [*stop[:-1], "codex"], of_codex),
        Case("SessionStart with a briefing, 100,000 memories", start, started(root / "project")),
        Case("SessionStart without a briefing", start, started(root)),
        *(
            Case(f"Stop, turn {count:,}", stop, stopped(long_session(root, count), root / "none.jsonl"))
            for count in LONG
        ),
        *guard_cases(),
    ]


def long_session(root: Path, count: int) -> str:
    """The id of a session with this many earlier turns."""
    session, log = f"long-{count}", b""
    for turn in range(count):
        event = Event(kind=STOP, session=session, cwd="", prompt=f"00000000-0000-4000-9000-{turn:012}")
        log += turns.record(event, silent=False)
        log += turns.replay(log, 5)[1]
    file = Path(places.turns_file(str(root / "home"), session))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(log)
    return session


PROSE = "Deploys go through the blue pool first; the gateway drains for 30 seconds before a cut.\n"
DETAILS = """\
We decided in #2763 to keep `retry_with_backoff` in src/gateway/http_client.py: the old handler gave None on HTTP 503.
- tests/unit/test_gateway.py::test_drain_waits_for_open_requests takes 3.2 s; mark it slow.
- commit 4f2a9c1e7b3d8a6f5e4c3b2a1f0e9d8c7b6a5f4e brought CONNECTION_POOL_SIZE=32, before it was 8.
- the token for deploys is in the vault under ci/deploy; see https://git.example/checkout/pull/118
"""
SECRET = "the deploy token is " + "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8\n"  # made up, and assembled here


def guard_cases() -> list[Case]:
    """The guard before calls that are not guarded, and before writes of 2 KiB to a memory."""
    guard = [str(HOOKS / "run.py"), "guard", "--client", "claude-code"]
    prose, details = ((text * 24)[:2048] for text in (PROSE, DETAILS))
    refused = details[: -len(SECRET)] + SECRET

    def before(tool: str, **tool_input: str) -> Callable[[int], dict[str, object]]:
        common = {"session_id": "guarded", "cwd": "/", "hook_event_name": "PreToolUse"}
        return lambda _: {**common, "tool_name": tool, "tool_input": tool_input}

    return [
        Case("Guard, 2 KiB of source", guard, before("Write", file_path="/src/main.py", content=prose)),
        Case("Guard, a command", guard, before("Bash", command="pytest -q tests")),
        Case("Guard, 2 KiB of prose for another memory", guard, before("mcp__memory__add", text=prose)),
        Case("Guard, 2 KiB of names, paths and ids for one", guard, before("mcp__memory__add", text=details)),
        Case("Guard, 2 KiB of them in CLAUDE.md", guard, before("Write", file_path="CLAUDE.md", content=details)),
        Case("Guard, 2 KiB with a secret, refused", guard, before("mcp__memory__add", text=refused)),
        Case("Guard, the very first run", guard, before("mcp__memory__add", text=details), cold=True),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the hooks")
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    with scene() as root:
        environ = {
            "PATH": os.defpath,
            "HOME": str(root),
            "KEEPMUM_HOME": str(root / "home"),
            "AI_AGENT": "claude-code_2-1-329_harness",
            "CLAUDE_CODE_SESSION_ATTENDED": "1",
        }
        measured = cases(root)
        for turn in range(options.rounds + WARMING):
            for case in measured:
                case.run(options.python, environ, turn)
    report(measured)
    return 0


def report(measured: list[Case]) -> None:
    """Print the table without the first rounds."""
    floor = measured[0]
    print(f"{'command':48} {'wall ms':>8} {'CPU ms':>8} {'wall ×':>7} {'CPU ×':>7}")  # noqa: T201, RUF001 - the report
    for case in measured:
        wall, cpu = statistics.median(case.wall[WARMING:]), statistics.median(case.cpu[WARMING:])
        wall_ratio = wall / statistics.median(floor.wall[WARMING:])
        cpu_ratio = cpu / statistics.median(floor.cpu[WARMING:])
        print(f"{case.name:48} {wall * 1e3:8.2f} {cpu * 1e3:8.2f} {wall_ratio:7.2f} {cpu_ratio:7.2f}")  # noqa: T201 - the report


if __name__ == "__main__":
    raise SystemExit(main())
