"""What `keepmum status` and `keepmum doctor` ask of the core."""

from __future__ import annotations

import os

from keepmum.cli import console
from keepmum.core.memory import JsonValue
from keepmum.workspace import settings
from keepmum.workspace.resolve import resolve

__all__ = ["Probes"]


class Probes:
    """What the doctor asks of the core, which the installers do not import."""

    def store(self) -> dict[str, JsonValue]:
        """Health of the store."""
        with console.Memory(tells=False) as memory:  # the facts hold what there is to tell
            return memory.health()

    def settings(self) -> list[tuple[str, str, str]]:
        """Name, value and source of every setting that holds here."""
        chosen = resolve(os.environ).settings
        values = {name: chosen.value_of(name) for name in settings.SETTINGS}
        told = {name: ", ".join(value) if isinstance(value, tuple) else str(value) for name, value in values.items()}
        return [(name, value, chosen.source_of(name)) for name, value in told.items()]

    def project(self) -> tuple[str, str, str, str]:
        """Id, name, root and source of the project of the working folder."""
        found = resolve(os.environ).project
        return found.id, found.name, found.root, found.source
