"""`keepmum install`, `uninstall`, `status` and `doctor`: the installers' commands, with facts of the core."""

from __future__ import annotations

import argparse
import functools
import os

from keepmum.cli import console
from keepmum.core import masking
from keepmum.core.memory import JsonValue
from keepmum.workspace import allowlist, project, settings, toml_file
from keepmum.workspace.resolve import Workspace, left_out, resolve
from keepmum_installers import commands as installers

__all__ = ["Probes", "register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    installers.register(commands, Probes())


class Probes:
    """Facts of the core for `keepmum status` and `doctor`; the settings and the project are determined once."""

    def store(self) -> dict[str, JsonValue]:
        """Health facts of the store, and how many items are to be reviewed in this project."""
        with console.Session(notices=False, resolved=self._resolved) as memory:  # the facts include the notices
            facts = memory.health()
            sound = facts.get("integrity") == "ok"  # a damaged store is reported, and repaired by the next use
            return {**facts, "review": sum(memory.review_counts().values()) if sound else 0}

    def settings(self) -> list[tuple[str, str, str]]:
        """Name, value as in a TOML file, and source of every setting in effect."""
        chosen = self._resolved.settings
        values = {name: chosen.value_of(name) for name in settings.SETTINGS}
        texts = {name: "" if value is None else toml_file.literal(value) for name, value in values.items()}
        return [(name, value, chosen.source_of(name)) for name, value in texts.items()]

    def left_out(self) -> str:
        """What is wrong in the project's file, in a sentence; empty when nothing is."""
        return left_out(self._resolved.settings)

    def project(self) -> tuple[str, str, str, str]:
        """Id, name, root and source of the project of the working folder."""
        found = self._resolved.project
        shown = masking.Redactor(allowlist.AllowlistScanner(None), {}).text
        root, source = (shown(path) if project.holds_key(path) else path for path in (found.root, found.source))
        return found.id, found.name, root, source

    @functools.cached_property
    def _resolved(self) -> Workspace:
        return resolve(os.environ)
