"""The files of a repository that all clients share: a paragraph in `AGENTS.md`, and settings in `.keepmum.toml`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from keepmum.core.errors import SettingsError
from keepmum.workspace import toml_edit
from keepmum.workspace.settings import PROJECT_FILE_NAME, SETTINGS
from keepmum.workspace.settings.setting import PROJECT_FILE, from_text
from keepmum_installers import files
from keepmum_installers.blocks import Block
from keepmum_installers.errors import FileLeft, InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, add_block, own_file, planned

__all__ = ["PARAGRAPH", "common_files", "plan"]

PARAGRAPH = """\
## Memory

This project keeps what agents learn in Keepmum, the MCP server `keepmum` or `memory`; its tools search, read and store.
Search before you start on a task; store a decision with its reason, and what cost you time to find out.
A secret never belongs in a memory: say where it is kept instead."""


def plan(settings: Sequence[str], machine: Machine) -> Plan:
    """The edit of `AGENTS.md`, and the settings file, each setting given as `NAME=VALUE`; no steps when all is done.

    Raises: InstallError when a project cannot choose a setting.
    """
    makers = (
        lambda: add_block(_agents(machine), Block(PARAGRAPH, markdown=True), "tell every agent about the memory"),
        lambda: (
            own_file(_settings(machine), _chosen(settings, machine), "settings for everybody", 0o644)
            if settings
            else None
        ),
    )
    return planned(
        makers, ("Commit what was written. Memories are not in the repository: each machine keeps its own.",)
    )


def check(settings: Sequence[str], machine: Machine) -> None:
    """Do nothing when a project can choose these settings, and the folder is a project.

    Raises: InstallError.
    """
    if os.path.realpath(machine.repository) == os.path.realpath(machine.user_home):
        raise InstallError(
            f"{machine.repository} is your home, not a project", "Go to the project's folder, or use --scope user."
        )
    for each in settings:
        name, _, value = each.partition("=")
        _with_setting(_settings(machine), "", name.strip(), value)


def common_files(machine: Machine) -> tuple[str, ...]:
    """The files that `plan` writes."""
    return (_agents(machine), _settings(machine))


def _agents(machine: Machine) -> str:
    return os.path.join(machine.repository, "AGENTS.md")


def _settings(machine: Machine) -> str:
    return os.path.join(machine.repository, PROJECT_FILE_NAME)


def _chosen(settings: Sequence[str], machine: Machine) -> str:
    """The text of the settings file. An existing file belongs to the team, and is not edited."""
    path = _settings(machine)
    before = text = (files.read(path) or b"").decode("utf-8", "replace")
    for each in settings:
        name, _, value = each.partition("=")
        text = _with_setting(path, text, name.strip(), value)
    if before and text != before:
        lines = "\n".join(settings)
        raise FileLeft(f"{path} exists already; it was left unchanged", f"Add these settings there:\n{lines}")
    return text


def _with_setting(path: str, text: str, name: str, value: str) -> str:
    setting = SETTINGS.get(name)
    if setting is None or PROJECT_FILE not in setting.files or setting.kind is tuple:
        able = (each.name for each in SETTINGS.values() if PROJECT_FILE in each.files and each.kind is not tuple)
        raise InstallError(f"{name} is not a setting that a project can choose", f"It can: {', '.join(able)}.")
    try:
        chosen = from_text(setting, value)
        return toml_edit.changed(path, text, name, chosen) if isinstance(chosen, (bool, int, str)) else text
    except ValueError as allowed:
        raise InstallError(f"{name} must be {allowed}; nothing was done", f"Use for example --set {name}=…") from None
    except SettingsError as error:
        raise InstallError(str(error), "Fix that, then run this again.") from None
