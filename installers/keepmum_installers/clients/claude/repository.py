"""Installation for a repository: its settings name marketplace and plugin, which the client loads in a trusted folder.

Source: https://code.claude.com/docs/en/settings, read 2026-11-21; and the client itself, 2.1.329.
"""

from __future__ import annotations

import os

from keepmum.workspace.credentials import SHARED
from keepmum_installers import files
from keepmum_installers.clients.claude import registration, settings
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, edit_keys
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.source import Source

__all__ = ["plan"]


def plan(spec: InstallSpec, machine: Machine) -> Plan:
    """The edit of the repository's settings, and the remaining steps for teammates.

    Raises: InstallError when the folder is the user's home, or teammates could not read the source.
    """
    top = machine.repository
    if os.path.realpath(os.path.join(top, ".claude")) == os.path.realpath(settings.settings_folder(machine)):
        raise InstallError(f"{top} is your home, not a project", "Go to the project's folder, or use --scope user.")
    source = _source(spec, machine, top)
    wanted = (
        # In the order in which the client writes them, so that it changes nothing in a teammate's clone.
        (("enabledPlugins", PLUGIN), True),
        (("extraKnownMarketplaces", MARKETPLACE), {"source": _settings_value(source, top)}),
    )
    team = spec.scope == "project"
    why = "switch the plugin on for the team" if team else "switch the plugin on for you, here"
    secrets = ((("env", SHARED), spec.shared_key),) if spec.shared_key else ()
    why += ", and share the key" if secrets else ""
    change = edit_keys(settings.settings_file(spec.scope, machine), wanted, why, secrets=secrets)
    return Plan((change,) if change else (), closing=_for_teammates(source) if team else _FOR_YOURSELF)


def _source(spec: InstallSpec, machine: Machine, top: str) -> Source:
    if spec.source is None and spec.scope == "local":
        # This file stays on this machine, so it may name the clone that is here.
        return registration.source_of(spec, machine)
    source = spec.shared_source(machine.cwd)
    if spec.scope == "project" and source.kind == "directory" and not files.lies_in(source.where, top):
        raise InstallError(
            f"{source.where} is outside the repository {top}, so teammates do not have it",
            "Leave --source out, give a git address, or put Keepmum inside the repository.",
        )
    return source


def _settings_value(source: Source, top: str) -> dict[str, str]:
    if source.kind == "github":
        return {"source": "github", "repo": source.where}
    if source.kind == "git":
        return {"source": "git", "url": source.where}
    if not files.lies_in(source.where, top):
        return {"source": "directory", "path": source.where}
    relative = os.path.relpath(source.where, top).replace(os.sep, "/")
    return {"source": "directory", "path": "./" if relative == "." else f"./{relative}"}


def _for_teammates(source: Source) -> tuple[str, ...]:
    """The remaining steps for teammates; what the client does without them was tested with 2.1.329."""
    steps = [
        "have python3 on PATH, 3.11 or newer",
        "pull, start Claude Code in the repository, and answer yes when it asks whether to trust the folder",
    ]
    if source.kind == "directory":
        steps[1] += " (`claude -p` has the plugin from its second run on)"
    else:
        steps.append(f"once, to keep it after that first session: claude plugin install {PLUGIN} --scope project")
    return (
        "For Claude Code each teammate has to:",
        *(f"  {number}. {step}" for number, step in enumerate(steps, start=1)),
    )


_FOR_YOURSELF = (".claude/settings.local.json is for this machine: keep it out of git.",)
