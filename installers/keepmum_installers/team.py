"""What a repository says once for all clients: a paragraph in `AGENTS.md`, which most of them read."""

from __future__ import annotations

import os

from keepmum_installers.blocks import Block
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, add_block
from keepmum_installers.repository import repository

__all__ = ["common_files", "plan"]

_PARAGRAPH = """\
## Memory

This project keeps what agents learn in Keepmum, an MCP server with the tools `remember`, `recall` and `load`.
Recall before you start on a task; remember a decision with its reason, and what cost you time to find out.
A secret never belongs into a memory: say where it is kept instead."""


def plan(machine: Machine) -> Plan:
    """The edit of `AGENTS.md`; no step where it has the paragraph.

    Raises: InstallError when the file cannot be edited without harm.
    """
    change = add_block(_agents(machine), Block(_PARAGRAPH, markdown=True), "tell every agent of the memory")
    return Plan(
        (change,) if change else (),
        closing=("Commit what was written. Memories are not in the repository: each machine keeps its own.",),
    )


def common_files(machine: Machine) -> tuple[str, ...]:
    """The files that `plan` writes."""
    return (_agents(machine),)


def _agents(machine: Machine) -> str:
    return os.path.join(repository(machine), "AGENTS.md")
