"""A fake Codex for the installer: its plugin commands, what they write, and the hooks that `app-server` lists."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fake_client import FakeClient
from keepmum_installers.machine import Machine, Outcome

__all__ = ["FakeCodex", "machine_with_codex"]

Json = dict[str, Any]
_DONE = Outcome(0, out="{}")
_SERVER = """\
#!{python} -IS
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    result = {{"data": [{{"hooks": {hooks!r}}}]}} if request["method"] == "hooks/list" else {{}}
    print(json.dumps({{"id": request["id"], "result": result}}), flush=True)
"""


@dataclass
class FakeCodex(FakeClient):
    """A client without plugins; `program` and `home` are a real file and folder."""

    home: str
    version: str = "codex-cli 0.169.0"
    marketplaces: list[Json] = field(default_factory=list)
    plugins: list[Json] = field(default_factory=list)
    servers: list[str] = field(default_factory=list)
    """The MCP servers of other plugins."""

    @property
    def config(self) -> str:
        """The client's settings file."""
        return os.path.join(self.home, "config.toml")

    def judge_hooks(self, **trust: str) -> None:
        """Make `app-server` report this trust status for our hooks, by event."""
        hooks = [
            {"key": f"keepmum@keepmum:hooks/codex.json:{event}:0:0", "pluginId": "keepmum@keepmum", "trustStatus": word}
            for event, word in trust.items()
        ]
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(_SERVER.format(python=sys.executable, hooks=hooks))

    def _commands(self) -> dict[str, Callable[..., Outcome]]:
        return {
            "--version": lambda: Outcome(0, out=self.version + "\n"),
            "plugin marketplace list": lambda *_: Outcome(0, out=json.dumps({"marketplaces": self.marketplaces})),
            "plugin marketplace add": self._add_marketplace,
            "plugin marketplace upgrade": lambda *_: _DONE,
            "plugin marketplace remove": self._remove_marketplace,
            "plugin list": lambda *_: Outcome(0, out=json.dumps({"installed": self.plugins, "available": []})),
            "plugin add": self._add,
            "plugin remove": self._remove,
            "mcp list": lambda *_: Outcome(0, out=json.dumps([{"name": name} for name in self.servers])),
        }

    def _unknown(self, word: str) -> Outcome:
        return Outcome(2, err=f"error: unrecognized subcommand '{word}'")

    def _add_marketplace(self, where: str) -> Outcome:
        kind = "local" if os.path.isdir(where) else "git"
        self.marketplaces = [{"name": "keepmum", "marketplaceSource": {"sourceType": kind, "source": where}}]
        self._append(f'\n[marketplaces.keepmum]\nsource_type = "{kind}"\nsource = "{where}"\n')
        return _DONE

    def _remove_marketplace(self, _: str) -> Outcome:
        if not self.marketplaces:
            return Outcome(1, err="Error: marketplace `keepmum` is not configured or installed")
        where = self.marketplaces.pop()["marketplaceSource"]
        self._take_out(
            f'\n[marketplaces.keepmum]\nsource_type = "{where["sourceType"]}"\nsource = "{where["source"]}"\n'
        )
        return _DONE

    def _add(self, name: str) -> Outcome:
        source = self.marketplaces[0]["marketplaceSource"]
        version = "local" if source["sourceType"] == "local" else "0.1.0"
        copy = os.path.join(self.home, "plugins", "cache", "keepmum", "keepmum", version)
        shutil.rmtree(copy, ignore_errors=True)
        if source["sourceType"] == "local":
            shutil.copytree(source["source"], copy)
        if not self.plugins:
            self._append('\n[plugins."keepmum@keepmum"]\nenabled = true\n')
        self.plugins = [{"pluginId": name, "version": version, "enabled": True}]
        return _DONE

    def _remove(self, _: str) -> Outcome:
        self.plugins = []
        shutil.rmtree(os.path.join(self.home, "plugins", "cache", "keepmum", "keepmum"), ignore_errors=True)
        self._take_out('\n[plugins."keepmum@keepmum"]\nenabled = true\n')
        return _DONE

    def _append(self, text: str) -> None:
        os.makedirs(self.home, exist_ok=True)
        with open(self.config, "a", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(self.config, 0o600)

    def _take_out(self, text: str) -> None:
        with open(self.config, encoding="utf-8", newline="") as file:
            whole = file.read()
        with open(self.config, "w", encoding="utf-8", newline="") as file:
            file.write(whole.replace(text, ""))


def machine_with_codex(codex: FakeCodex, home: str, cwd: str) -> Machine:
    """A machine with the fake client on PATH; all of its folders are below those given."""
    path = os.path.dirname(codex.program)
    keepmum, config = os.path.join(home, ".keepmum"), os.path.join(home, ".config")
    return Machine(home, keepmum, cwd, config, {"PATH": path}, codex.run)
