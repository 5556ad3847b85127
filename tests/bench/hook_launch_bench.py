"""The cost of a Stop hook as each client starts it, relative to the same launcher with a bare interpreter.

    python tests/bench/hook_launch_bench.py [--rounds N] [--peer 'COMMAND']

The commands are those of the rendered hook files, with the client's shell. Another product's command (such as
`node memory-turn-hook.js`) is started through `sh -c`, gets the same payload, and may write to a temporary folder.
Measured is the CPU time of the whole process tree, because machines are rarely idle. A ratio is the median over rounds,
each of which runs both commands one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WARMING = 3
EMPTY = "python3 -I -S -c pass"

Json = Mapping[str, object]


@dataclass
class Launch:
    """One client's command line for a hook, the same with a bare interpreter, and its payload."""

    client: str
    hook: Sequence[str]
    floor: Sequence[str]
    payload: Json
    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)


def launches() -> Iterator[Launch]:
    """The command line of each client, from its rendered files."""
    claude = _file("hooks/hooks.json")["hooks"]["Stop"][0]["hooks"][0]
    words = [claude["command"], *(argument.replace("${CLAUDE_PLUGIN_ROOT}", str(ROOT)) for argument in claude["args"])]
    yield Launch("Claude Code", words, EMPTY.split(), {"prompt_id": "", "background_tasks": []})

    codex = _file("hooks/codex.json")["hooks"]["Stop"][0]["hooks"][0]["command"]
    yield _shell("Codex", ["bash", "-c"], codex.replace("${PLUGIN_ROOT}", str(ROOT)), EMPTY, {"turn_id": ""})

    cursor = _file("hooks/cursor.json")["hooks"]["stop"][0]["command"].replace("${CURSOR_PLUGIN_ROOT}", str(ROOT))
    payload = {"generation_id": "", "conversation_id": "c", "loop_count": 0, "status": "completed"}
    yield _shell("Cursor, a login shell", ["bash", "-lc"], cursor, EMPTY, {**payload, "cursor_version": "1"})

    copilot = _file(".plugin/plugin.json")["hooks"]["Stop"][0]["hooks"][0]["bash"].replace("${PLUGIN_ROOT}", str(ROOT))
    guarded, _, _ = copilot.partition("exec ")
    yield _shell("Copilot CLI, VS Code", ["bash", "-c"], copilot, f"{guarded}exec {EMPTY}", {"prompt_id": ""})

    gemini = _file("plugin/gemini/hooks/hooks.json")["hooks"]["AfterAgent"][0]["hooks"][0]["command"]
    gemini = gemini.replace("${extensionPath}", str(ROOT / "plugin" / "gemini"))
    yield _shell("Gemini CLI", ["bash", "-c"], gemini, EMPTY, {"hook_event_name": "AfterAgent"})

    words = ["python3", "-I", "-S", str(ROOT / "hooks" / "run.py"), "stop", "--client", "opencode"]
    yield Launch("OpenCode", words, EMPTY.split(), {"hook_event_name": "session.idle", "prompt_id": ""})


def _file(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def _shell(client: str, shell: Sequence[str], hook: str, floor: str, payload: Json) -> Launch:
    return Launch(client, [*shell, hook], [*shell, floor], payload)


def cost(words: Sequence[str], environ: Mapping[str, str], folder: str, payload: Json | None) -> float:
    """The CPU seconds of one run, including its child processes."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(b"" if payload is None else json.dumps(payload).encode())
        stdin.seek(0)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, stdin=stdin, stdout=subprocess.DEVNULL, env=environ, cwd=folder, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def stop_payload(launch: Launch, turn: int, folder: str) -> dict[str, object]:
    """The payload of one turn's end, with a new id where the client sends one."""
    common = {
        "session_id": f"launch-{launch.client}",
        "transcript_path": f"{folder}/none.jsonl",
        "cwd": folder,
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "last_assistant_message": "done " * 200,
    }
    ids = {name: f"{turn:012}" for name, value in launch.payload.items() if value == ""}
    return {**common, **launch.payload, **ids}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--peer", help="the command of another hook, measured through `sh -c`")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keepmum-launch-") as folder:
        tools = Path(folder, "bin")
        tools.mkdir()
        # The interpreter itself: a version manager's shim would cost more than everything measured here.
        (tools / "python3").symlink_to(os.path.realpath(sys.executable))
        environ = {
            "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin",
            "HOME": folder,
            "KEEPMUM_HOME": f"{folder}/keepmum",
            "PLUGIN_DATA": f"{folder}/peer",
            "CLAUDE_CODE_SESSION_ATTENDED": "1",
        }
        measured = list(launches())
        if options.peer:
            measured.append(Launch("the peer", ["sh", "-c", options.peer], ["sh", "-c", EMPTY], {"prompt_id": ""}))
        for turn in range(options.rounds + WARMING):
            for launch in measured:
                bare = cost(launch.floor, environ, folder, None)
                ours = cost(launch.hook, environ, folder, stop_payload(launch, turn, folder))
                if turn >= WARMING:
                    launch.bare.append(bare)
                    launch.ours.append(ours)
    report(measured)
    return 0


def report(measured: Sequence[Launch]) -> None:
    """Print a row for each launch."""
    print(f"{'client':28} {'bare ms':>8} {'hook ms':>8} {'ratio':>6}")  # noqa: T201 - the report
    for launch in measured:
        ratio = statistics.median(one / other for one, other in zip(launch.ours, launch.bare, strict=True))
        bare, ours = statistics.median(launch.bare), statistics.median(launch.ours)
        print(f"{launch.client:28} {bare * 1e3:8.2f} {ours * 1e3:8.2f} {ratio:6.2f}")  # noqa: T201 - the report


if __name__ == "__main__":
    raise SystemExit(main())
