"""The repository that a team shares: where it lies."""

from __future__ import annotations

import os

from keepmum_installers.machine import Machine

__all__ = ["repository"]


def repository(machine: Machine) -> str:
    """The top folder of the repository around the working folder, else the working folder itself."""
    at = os.path.realpath(machine.cwd)
    while not os.path.exists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:
            return os.path.realpath(machine.cwd)
        at = above
    return at
