"""A fake Claude Code for the installer: its plugin commands, and what they write into its settings."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fake_client import FakeClient
from keepmum_installers.machine import Machine, Outcome

__all__ = ["FakeClaude", "machine_with"]

Json = dict[str, Any]
_DONE = Outcome(0, out="✔ done")


@dataclass
class FakeClaude(FakeClient):
    """A client without plugins; `program` and `settings` are real files."""

    settings: str
    version: str = "2.1.329 (Claude Code)"
    marketplaces: list[Json] = field(default_factory=list)
    plugins: list[Json] = field(default_factory=list)

    def _commands(self) -> dict[str, Callable[..., Outcome]]:
        return {
            "--version": lambda: Outcome(0, out=self.version + "\n"),
            "plugin marketplace list": lambda *_: Outcome(0, out=json.dumps(self.marketplaces)),
            "plugin marketplace add": self._add,
            "plugin marketplace update": lambda *_: _DONE,
            "plugin marketplace remove": self._remove,
            "plugin list": lambda *_: Outcome(0, out=json.dumps(self.plugins)),
            "plugin install": self._install,
            "plugin update": lambda *_: _DONE,
            "plugin uninstall": self._uninstall,
            "plugin disable": self._disable,
        }

    def _unknown(self, word: str) -> Outcome:
        return Outcome(1, err=f"error: unknown command '{word}'")

    def _add(self, where: str) -> Outcome:
        kind, key = ("directory", "path") if os.path.isdir(where) else ("github", "repo")
        self.marketplaces = [{"name": "keepmum", "source": kind, key: where}]
        self._write("extraKnownMarketplaces", {"keepmum": {"source": {"source": kind, key: where}}})
        return _DONE

    def _remove(self, _: str) -> Outcome:
        if not self.marketplaces:
            return Outcome(1, err="✘ Failed to remove marketplace: Marketplace 'keepmum' not found")
        self.marketplaces = []
        self._write("extraKnownMarketplaces", {})
        return _DONE

    def _install(self, name: str, *_: str) -> Outcome:
        self.plugins = [{"id": name, "version": "0.1.0", "scope": "user", "enabled": True}]
        self._write("enabledPlugins", {name: True})
        return _DONE

    def _uninstall(self, name: str, *_: str) -> Outcome:
        if not self.plugins:
            return Outcome(1, err=f'✘ Failed to uninstall plugin "{name}": not found in installed plugins')
        self.plugins = []
        self._write("enabledPlugins", {})
        return _DONE

    def _disable(self, name: str, *_: str) -> Outcome:
        self.plugins[0]["enabled"] = False
        self._write("enabledPlugins", {name: False})
        return _DONE

    def _write(self, key: str, value: Json) -> None:
        """Rewrite the whole file, in its own layout and order, as the client does."""
        settings: Json = {}
        if os.path.exists(self.settings):
            with open(self.settings, encoding="utf-8") as file:
                settings = json.load(file)
        settings[key] = value
        os.makedirs(os.path.dirname(self.settings), exist_ok=True)
        with open(self.settings, "w", encoding="utf-8") as file:
            json.dump(dict(sorted(settings.items())), file, indent=2)


def machine_with(claude: FakeClaude, home: str, cwd: str) -> Machine:
    """A machine with the fake client on PATH; all of its folders are below those given."""
    path = os.pathsep.join([os.path.dirname(claude.program), os.path.join(home, ".local", "bin")])
    keepmum, config = os.path.join(home, ".keepmum"), os.path.join(home, ".config")
    return Machine(home, keepmum, cwd, config, {"PATH": path}, claude.run)
