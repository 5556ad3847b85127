"""The real Claude Code in a separate home, connected to a mock model only."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from clients import patience
from clients.terminal import LIMIT, Terminal, running

__all__ = ["Claude", "Conversation", "Screen"]

_KEY = "sk-" + "dummy-key-of-a-test-for-loopback-only"  # the client requires one; the mock model does not check it

Json = dict[str, Any]


class Claude:
    """A user's client: home, settings, a minimal environment, and the model's address."""

    def __init__(self, program: Path, home: Path, model_url: str, **environ: str) -> None:
        self.program = program
        self.home = home
        self.config = home / ".claude"
        self.memories = home / ".keepmum"
        self.config.mkdir(parents=True)
        self.environ = {
            "PATH": os.pathsep.join([str(_tools(home)), "/usr/bin", "/bin"]),
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": _KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            # The client waits for servers before its first request, and for one to start.
            "MCP_CONNECT_TIMEOUT_MS": str(patience.SECONDS * 1000),
            "MCP_TIMEOUT": str(patience.SECONDS * 1000),
            **environ,
        }

    def run(self, *arguments: str, folder: Path, stdin: str = "") -> str:
        """Run the client; returns its output. The client must succeed."""
        done = subprocess.run(
            [str(self.program), *arguments],
            cwd=folder,
            env=self.environ,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode == 0, f"claude {arguments[:3]} failed: {done.stdout[-500:]}{done.stderr[-500:]}"
        return done.stdout

    def install(self, marketplace: str | Path, *, folder: Path) -> None:
        """Add the marketplace and install the plugin from it, as a user would."""
        self.run("plugin", "marketplace", "add", str(marketplace), folder=folder)
        self.run("plugin", "install", "keepmum@keepmum", folder=folder)

    def plugins(self, folder: Path) -> list[Json]:
        """The plugins that the client lists."""
        listed: list[Json] = json.loads(self.run("plugin", "list", "--json", folder=folder))
        return listed

    def ask(self, prompt: str, *options: str, folder: Path) -> str:
        """The answer of a non-interactive run: `claude -p`."""
        return self.run("-p", prompt, *_MAY_USE_MEMORY, *options, folder=folder).strip()

    @contextmanager
    def conversation(self, folder: Path) -> Iterator[Conversation]:
        """A session over the stream protocol."""
        command = [str(self.program), "-p", "--input-format", "stream-json", "--output-format", "stream-json"]
        process = subprocess.Popen(
            [*command, "--verbose", *_MAY_USE_MEMORY],
            cwd=folder,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Conversation(process.stdin, process.stdout)
            process.stdin.close()
            process.wait(LIMIT)
        finally:
            process.kill()
            process.wait(LIMIT)
            process.stdout.close()

    @contextmanager
    def terminal(self, folder: Path) -> Iterator[Screen]:
        """The interactive program in a terminal, after onboarding, with the folder trusted."""
        state = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
            "projects": {str(folder): {"hasTrustDialogAccepted": True}},
        }
        file = self.config / ".claude.json"
        known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        file.write_text(json.dumps({**known, **state}), encoding="utf-8")
        with running([str(self.program)], folder, self.environ) as child:
            yield Screen(child)


_MAY_USE_MEMORY = ("--allowedTools", "mcp__plugin_keepmum_memory__*")


class Conversation:
    """A session with one JSON message per line."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.messages: list[Json] = []
        self._stdin = stdin
        self._stdout = stdout
        self._buffer = b""

    def say(self, text: str) -> str:
        """Send a user message; returns the result of its turn."""
        message = {"type": "user", "message": {"role": "user", "content": text}}
        self._stdin.write(json.dumps(message).encode() + b"\n")
        self._stdin.flush()
        return self.result()

    def result(self) -> str:
        """The result of the next turn to end; a background task that reports back starts one without the user."""
        for message in self._incoming():
            self.messages.append(message)
            if message.get("type") == "result":
                return str(message.get("result"))
        raise AssertionError("the client ended within a turn")

    def _incoming(self) -> Iterator[Json]:
        deadline = time.monotonic() + LIMIT
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while True:
                line, newline, rest = self._buffer.partition(b"\n")
                if newline:
                    self._buffer = rest
                    yield json.loads(line)
                    continue
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    raise AssertionError(f"the client did not end its turn within {LIMIT} s")
                chunk = os.read(self._stdout.fileno(), 1 << 16)
                if not chunk:
                    return
                self._buffer += chunk


class Screen(Terminal):
    """The client's terminal."""

    def wait_until_ready(self) -> None:
        """Wait until the client asks for input."""
        self.wait_for("\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}")


def _tools(home: Path) -> Path:
    """A folder with the `python3` that runs these tests: the system's may be too old for the server."""
    folder = home / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(os.path.realpath(sys.executable))
    return folder
