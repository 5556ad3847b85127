"""`keepmum dashboard`: the address that it prints, what it opens, and how it ends."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepmum.cli.main import main
from unit.dashboard.pages import Page

ROOT = Path(__file__).parents[2]
_LIMIT = 120.0  # seconds
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/#t=[\w-]{40,}")

pytestmark = pytest.mark.usefixtures("shared_bytecode")


@contextlib.contextmanager
def _started(folder: Path, *words: str, **more: str) -> Iterator[subprocess.Popen[str]]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG", "HOME", "KEEPMUM_HOME"}}
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "plugin" / "launch.py"), "dashboard", *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
        env={**kept, **more},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _printed(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The address, and all that is printed at the start."""
    assert process.stdout is not None
    said = ""
    while "Ctrl-C closes" not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    found = _ADDRESS.search(said)
    assert found is not None, said
    return found[0], said


def test_without_a_browser_it_prints_an_address_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    with _started(tmp_path) as process:
        address, said = _printed(process)
        assert Page.opened(address).ask("live", about=True) == {}
        process.send_signal(signal.SIGINT)
        ended = process.communicate(timeout=_LIMIT)[0]
    assert "works once, within two minutes" in said
    assert process.returncode == 0, ended


def test_over_ssh_it_opens_nothing_and_says_how_to_forward_the_port(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    with _started(tmp_path, SSH_CONNECTION="x", DISPLAY=":0", BROWSER=f"touch {opened} %s") as process:
        address, said = _printed(process)
        port = Page.opened(address).port
    assert f"ssh -L {port}:127.0.0.1:{port}" in said
    assert not opened.exists()


def test_the_browser_gets_a_private_file_and_no_token_in_its_arguments(tmp_path: Path, home: Path) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(
        f'#!/bin/sh\nf="${{1#file://}}"; stat -c %a "$f" > {seen}.mode; cat "$f" > {seen}.page; echo "$1" > {seen}\n'
    )
    browser.chmod(0o700)
    with _started(tmp_path, BROWSER=f"{browser} %s") as process:
        _printed(process)
        end = time.monotonic() + _LIMIT
        while not (seen.exists() and seen.read_text().endswith("\n")) and time.monotonic() < end:
            os.sched_yield()
        given = seen.read_text()
        redirect = _ADDRESS.search((tmp_path / "seen.page").read_text())
        assert redirect is not None
        assert Page.opened(redirect[0]).ask("live") == {}
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=_LIMIT)
    assert given.startswith("file://")
    assert "t=" not in given
    assert (tmp_path / "seen.mode").read_text().strip() == "600"
    assert not list((home / ".keepmum" / "state").glob("dashboard-*")), "the file outlived the command"


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with _started(tmp_path, "--no-open", "--port", str(port)) as process:
            said = process.communicate(timeout=_LIMIT)[0]
    assert f"port {port} cannot be used" in said
    assert process.returncode == 1


def test_what_an_agent_starts_is_not_a_persons_statement(tmp_path: Path) -> None:
    with _started(tmp_path, CLAUDECODE="1") as process:
        page = Page.opened(_printed(process)[0])
        reply = page.post("/api/ask", {"view": "live", "args": {"about": True}})
    assert not {"confirm", "pin", "wrong"} & set(reply.json["about"]["can"])


def test_a_folder_where_memory_is_switched_off_says_so(tmp_path: Path) -> None:
    (tmp_path / ".keepmum.toml").write_text("enabled = false\n")
    with _started(tmp_path) as process:
        page = Page.opened(_printed(process)[0])
        about = page.post("/api/ask", {"view": "live", "args": {"about": True}}).json["about"]
    assert "switched off here" in about["off"]
    assert "keepmum on" in about["off"]


def test_a_page_that_nobody_uses_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("keepmum.cli.dashboard.IDLE_SECONDS", -1.0)
    monkeypatch.setattr("keepmum.cli.dashboard._LOOKS_EVERY", 0.01)
    assert main(["dashboard", "--no-open"]) == 0
    assert "it is closed" in capsys.readouterr().out
