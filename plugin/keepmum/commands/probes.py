"""What the installers ask of the core, which they do not import."""

from __future__ import annotations

import functools
import os

from keepmum import application, settings
from keepmum.commands import console
from keepmum.memory import JsonValue

__all__ = ["Probes"]


class Probes:
    """What the doctor asks of the core, which the installers do not import."""

    def store(self) -> dict[str, JsonValue]:
        """Health of the store."""
        with console.Memory() as memory:
            return memory.health()

    def settings(self) -> list[tuple[str, str, str]]:
        """Name, value and source of every setting that holds here."""
        chosen = settings.load(os.environ, os.getcwd())
        return [
            (name, str(functools.reduce(getattr, name.split("."), chosen)), chosen.source_of(name))
            for name in settings.SETTINGS
        ]

    def project(self) -> tuple[str, str, str, str]:
        """Id, name, root and source of the project of the working folder."""
        found = application.find_project(os.environ)
        return found.id, found.name, found.root, found.source
