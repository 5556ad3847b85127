"""What a server calls the projects of this machine."""

from __future__ import annotations

from collections.abc import Mapping

from keepmum.stores.base import LocalStore
from keepmum.stores.rest import mapping

__all__ = ["Projects"]


class Projects:
    """The projects seen on this machine, and those that are told of."""

    def __init__(self, mirror: LocalStore, told: Mapping[str, str]) -> None:
        """`told` are display names by the ids of projects; they come before what was seen."""
        self._mirror = mirror
        self._told = dict(told)

    def names(self) -> dict[str, str]:
        """The display names by id."""
        return {project: name for _, project, name in self._mirror.roots(0) if name} | self._told

    def name(self, project: str | None) -> str:
        """What the server calls a project."""
        return mapping.project_name(project, self.names())
