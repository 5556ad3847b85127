"""`keepmum review` in a real terminal: one key for each decision."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bytecode
from keepmum.service.opening import open_session

ROOT = Path(__file__).parents[2]
_LIMIT = 60.0  # seconds for one answer


def _environment(tmp_path: Path, **more: str) -> dict[str, str]:
    bytecode.share(tmp_path / "home")
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG"}}
    return {**kept, "HOME": str(tmp_path), "KEEPMUM_HOME": str(tmp_path / "home"), "TERM": "dumb", **more}


def _command(*words: str) -> list[str]:
    return [sys.executable, str(ROOT / "plugin" / "launch.py"), *words]


def _take_terminal() -> None:
    """Make standard input the terminal of this process."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, folder: Path, environment: dict[str, str], *words: str, columns: int = 80) -> None:
        import fcntl
        import struct
        import termios

        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        modes = termios.tcgetattr(slave)
        modes[3] |= termios.NOFLSH  # otherwise Ctrl-C may discard what the command prints in answer to it
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        self.modes = termios.tcgetattr(slave)[3]
        self.process = subprocess.Popen(
            _command(*words), stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=environment,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - nothing else gives it a terminal
        )  # fmt: skip
        os.close(slave)
        self.text = ""

    def until(self, wanted: str) -> str:
        """What is shown from the last call to `wanted`."""
        end = time.monotonic() + _LIMIT
        while wanted not in self.text:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            try:
                more = os.read(self.master, 4096) if ready else b""
            except OSError:  # the process ended
                more = b""
            assert more, f"{wanted!r} was not shown: {self.text[-2000:]}"
            self.text += more.decode(errors="replace").replace("\r\n", "\n")
        shown, self.text = self.text.split(wanted, 1)
        return shown + wanted

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def end(self) -> int:
        status = self.process.wait(_LIMIT)
        os.close(self.master)
        return status


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with three instructions that an agent noted."""
    folder = tmp_path / "project"
    folder.mkdir()
    with open_session(_environment(tmp_path), "codex", [str(folder)], upkeep=False) as service:
        for number in range(3):
            service.remember(f"always run check number {number}", kind="instruction")
    return folder


def _run(folder: Path, tmp_path: Path, *words: str, status: int = 0) -> str:
    """The output of a command that an agent runs."""
    done = subprocess.run(
        _command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=folder,
        env=_environment(tmp_path), timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def _listed(folder: Path, tmp_path: Path) -> list[Any]:
    answer = _run(folder, tmp_path, "review", "--json")
    return list(json.loads(answer[: answer.rindex("}") + 1])["items"])


@pytest.fixture
def terminal(folder: Path, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def open_one(*words: str, columns: int = 80, **more: str) -> Terminal:
        opened.append(Terminal(folder, _environment(tmp_path, **more), *words, columns=columns))
        return opened[-1]

    yield open_one
    for each in opened:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def test_each_key_decides_about_one_item(terminal: Callable[..., Terminal], folder: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\nprintf 'always run every check' > \"$1\"\n", encoding="utf-8")
    editor.chmod(0o755)
    shell = terminal("review", EDITOR=str(editor))
    assert "check number 2" in shell.until("[q]quit [?]help")
    shell.press("c")
    assert "check number 1" in shell.until("[q]quit [?]help")
    shell.press("w")
    shell.until("Why is it wrong?")
    shell.press("nobody runs it\n")
    assert "check number 0" in shell.until("[q]quit [?]help")
    shell.press("e")
    shell.until("Nothing is left to review.")
    shell.until("3 items decided")
    assert shell.end() == 0
    assert _listed(folder, tmp_path) == []
    assert "always run every check" in _run(folder, tmp_path, "recall", "every check")
    again = _run(folder, tmp_path, "remember", "always run check number 1")
    assert "A person marked this as wrong on" in again
    assert "nobody runs it" in again


def test_a_decision_is_undone_by_a_key(terminal: Callable[..., Terminal], folder: Path, tmp_path: Path) -> None:
    shell = terminal("review")
    shell.until("[?]help")
    shell.press("f")
    shell.until("[?]help")
    shell.press("u")
    shell.until("Undone:")
    shell.press("q")
    shell.until("0 items decided")
    assert shell.end() == 0
    assert len(_listed(folder, tmp_path)) == 3


def test_other_keys_and_the_end_of_input_do_nothing(
    terminal: Callable[..., Terminal], folder: Path, tmp_path: Path
) -> None:
    shell = terminal("review", columns=12)
    shell.until("help")
    shell.press("x\x1b[A")
    shell.press("?")
    shell.until("this help")
    shell.press("\x04")  # the end of the input
    assert shell.end() == 0
    assert len(_listed(folder, tmp_path)) == 3


def test_an_interrupt_leaves_the_terminal_as_it_was(terminal: Callable[..., Terminal]) -> None:
    import termios

    shell = terminal("review")
    shell.until("[?]help")
    shell.press("\x03")
    shell.until("interrupted")
    assert termios.tcgetattr(shell.master)[3] == shell.modes
    assert shell.end() == 130


def test_an_interrupt_just_before_a_key_is_read_counts(tmp_path: Path) -> None:
    program = """
import signal, sys, threading
from keepmum.cli.keyboard import Keyboard

sys.setswitchinterval(1_000)  # the other thread runs only when this one waits

def interrupt(reads):
    reads.wait()
    signal.raise_signal(signal.SIGINT)

with Keyboard() as keyboard:
    for _ in range(20):
        reads = threading.Event()
        threading.Thread(target=interrupt, args=[reads]).start()
        try:
            reads.set()
            keyboard.read()
        except KeyboardInterrupt:
            print("interrupted")
"""
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", program], stdin=slave, capture_output=True, text=True, timeout=_LIMIT, check=False,
            env={**_environment(tmp_path), "PYTHONPATH": str(ROOT / "plugin")},
        )  # fmt: skip
    finally:
        os.close(slave)
        os.close(master)
    assert done.stdout == "interrupted\n" * 20, done.stderr


def test_an_agent_with_a_shell_does_not_speak_for_the_user(folder: Path, tmp_path: Path) -> None:
    item = _listed(folder, tmp_path)[0]["id"]
    answer = _run(folder, tmp_path, "review", "do", item, "confirm", status=1)
    assert "only a person can" in answer
    assert "keepmum review" in answer


def test_an_agent_in_a_terminal_does_not_speak_for_the_user(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("review", CLAUDECODE="1")
    shell.until("[?]help")
    shell.press("c")
    shell.until("only a person can")
    shell.press("q")
    assert shell.end() == 0


def test_a_script_decides_and_undoes(folder: Path, tmp_path: Path) -> None:
    item = _listed(folder, tmp_path)[0]
    assert item["actions"][:1] == ["confirm"]
    done = _run(folder, tmp_path, "review", "do", item["id"], "later", "--until", "7d")
    assert len(_listed(folder, tmp_path)) == 2
    _run(folder, tmp_path, "review", "undo", done.split("keepmum review undo ")[1].split("`")[0])
    assert len(_listed(folder, tmp_path)) == 3
    assert "3 items of this project to review" in _run(folder, tmp_path, "status")
