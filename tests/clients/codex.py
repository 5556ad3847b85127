"""The real Codex in a separate home, connected to a mock model only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clients import patience
from clients.terminal import LIMIT, Terminal, running
from keepmum_installers.clients.codex import manifests
from keepmum_installers.live.model import Model
from keepmum_installers.live.responses import Responses
from keepmum_installers.product import read

__all__ = ["DEFERRING", "PLUGIN", "POINTER", "Codex", "CodexModel", "Conversation"]

PLUGIN = "keepmum@keepmum"
POINTER = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"  # before the prompt, and before the selected item
DEFERRING = "gpt-5.5-codex"  # a model for which the client lists no tools of servers, and which may patch files

Json = dict[str, Any]


class CodexModel(Model):
    """A scripted model that can tell what each request added."""

    def __init__(self) -> None:
        super().__init__(Responses(), [])

    def news(self, number: int) -> str:
        """The items that the client added to the request after the model's last output, as JSON."""
        items: list[Json] = self.requests[number]["input"]
        own = [at for at, item in enumerate(items) if item.get("role") == "assistant" or "call_id" in item]
        own = [at for at in own if not str(items[at].get("type")).endswith("_output")]
        return json.dumps(items[own[-1] + 1 if own else 0 :], ensure_ascii=False)


class Codex:
    """A user's client: home, settings, a minimal environment, and the model's address."""

    def __init__(self, program: Path, home: Path, model_url: str, **environ: str) -> None:
        self.program = program
        self.home = home
        self.folder = home / ".codex"
        self.config = self.folder / "config.toml"
        self.memories = home / ".keepmum"
        self.folder.mkdir(parents=True)
        self.config.write_text(_CONFIG.format(url=model_url), encoding="utf-8")
        tools = home / "bin"
        tools.mkdir()
        (tools / "python3").symlink_to(os.path.realpath(sys.executable))
        (tools / "codex").symlink_to(program)
        dead = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
        self.environ = {
            "PATH": os.pathsep.join([str(tools), "/usr/bin", "/bin"]),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TRIAL_KEY": "not checked",
            # The client looks for updates when it starts; here it cannot reach any server.
            "GIT_ALLOW_PROTOCOL": "none",
            "NO_PROXY": "127.0.0.1",
            **dead,
            **environ,
        }

    def run(self, *arguments: str, folder: Path) -> str:
        """Run the client; returns its output. The client must succeed."""
        return self._run([str(self.program), *arguments], folder)

    def keepmum(self, root: Path, *arguments: str, folder: Path, expected: int = 0) -> str:
        """Run the `keepmum` command of the bundle at root; returns its output."""
        command = [sys.executable, "-I", "-S", str(root / "plugin" / "launch.py"), *arguments]
        return self._run(command, folder, expected)

    def installer(self, root: Path, *arguments: str, folder: Path) -> str:
        """Run the installer of the bundle at root; returns its output."""
        return self._run(["sh", str(root / "installers" / "install.sh"), *arguments], folder)

    def take(self, root: Path, *, folder: Path) -> None:
        """Install the plugin with the client's own commands, from the files that the installer stages."""
        place = self.home / "handed-over"
        for name, text in manifests.plugin_files(read(str(root)), str(root)).items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(patience.lengthen_hooks(text) if '"timeout"' in text else text, encoding="utf-8")
        self.run("plugin", "marketplace", "add", str(place), folder=folder)
        self.run("plugin", "add", PLUGIN, folder=folder)

    def ask(self, prompt: str, *options: str, folder: Path, resume: bool = False) -> str:
        """The answer of a non-interactive run, `codex exec`, with hooks that have not been reviewed."""
        last = self.home / "last.txt"
        begin = ["exec", "resume", "--last"] if resume else ["exec"]
        trust = ["--dangerously-bypass-hook-trust", "--skip-git-repo-check"]
        self.run(*begin, *trust, *options, "--output-last-message", str(last), prompt, folder=folder)
        return last.read_text(encoding="utf-8").strip()

    @property
    def copy(self) -> Path:
        """The client's copy of the plugin."""
        (copy,) = (self.folder / "plugins" / "cache" / "keepmum" / "keepmum").iterdir()
        return copy

    @contextmanager
    def conversation(self, folder: Path) -> Iterator[Conversation]:
        """An interactive session, as an editor starts it: `codex app-server`."""
        child = subprocess.Popen(
            [str(self.program), "app-server"],
            cwd=folder,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            yield Conversation(child, folder)
        finally:
            child.kill()
            child.communicate()

    @contextmanager
    def terminal(self, folder: Path) -> Iterator[Screen]:
        """The interactive program in a terminal, without the daemon that it would leave running."""
        environ = {**self.environ, "TERM": "xterm-256color"}
        with running([str(self.program), "--no-daemon"], folder, environ) as child:
            yield Screen(child)

    def _run(self, command: list[str], folder: Path, expected: int = 0) -> str:
        done = subprocess.run(
            command,
            cwd=folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode == expected, f"{command[:4]} failed: {done.stdout[-500:]}{done.stderr[-500:]}"
        return done.stdout


class Screen(Terminal):
    """A terminal in which keys are pressed one by one: the client takes many at once for a paste."""

    def type(self, text: str) -> None:
        """Type a line, and press return once the prompt shows it."""
        for end in range(1, len(text) + 1):
            self.press(text[end - 1])
            self.wait_for(f"{POINTER} {text[:end]}")
        self.press("\r")


_CONFIG = """\
# written by the user
model = "trial"  # unknown to the client, which therefore lists every tool
model_provider = "trial"
check_for_update_on_startup = false

[model_providers.trial]
name = "trial"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "TRIAL_KEY"
"""


class Conversation:
    """A session over JSON-RPC, one message per line."""

    def __init__(self, child: subprocess.Popen[str], folder: Path) -> None:
        self._child = child
        self._folder = str(folder)
        self._number = 0
        self._thread = ""
        self.call("initialize", {"clientInfo": {"name": "test", "version": "1"}})
        self._send({"method": "initialized"})

    def trust_hooks(self) -> None:
        """Trust every hook, as a user does after a review."""
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in self.hooks()}
        edit = {"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}
        self.call("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})

    def hooks(self) -> list[Json]:
        """The hooks that the client lists for the folder."""
        listed: list[Json] = self.call("hooks/list", {"cwds": [self._folder]})["data"][0]["hooks"]
        return listed

    def say(self, text: str) -> None:
        """Send a user message, and wait until its turn is completed."""
        if not self._thread:
            options = {"cwd": self._folder, "approvalPolicy": "on-request", "sandbox": "danger-full-access"}
            self._thread = self.call("thread/start", options)["thread"]["id"]
        self.call("turn/start", {"threadId": self._thread, "input": [{"type": "text", "text": text}]})
        self._until(lambda message: message.get("method") == "turn/completed")

    def call(self, method: str, params: Json) -> Json:
        """The result of a request."""
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        answer = self._until(lambda message: message.get("id") == number and "method" not in message)
        assert "result" in answer, f"{method}: {answer.get('error')}"
        result: Json = answer["result"]
        return result

    def _send(self, message: Json) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(message) + "\n")
        self._child.stdin.flush()

    def _until(self, matches: Callable[[Json], bool]) -> Json:
        """The first message that matches; messages before it are dropped."""
        assert self._child.stdout is not None
        clock = threading.Timer(LIMIT, self._child.kill)
        clock.start()
        try:
            for line in self._child.stdout:
                message: Json = json.loads(line)
                if matches(message):
                    return message
        finally:
            clock.cancel()
        raise AssertionError(f"the client ended, or sent no such message within {LIMIT} s")
