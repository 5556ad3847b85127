"""For a repository: its settings name marketplace and plugin, and the client does the rest once the folder is trusted.

Source: https://code.claude.com/docs/en/settings, read 2026-11-21; and the client itself, 2.1.329.
"""

from __future__ import annotations

import os

from keepmum.workspace.credentials import SHARED
from keepmum_installers import files
from keepmum_installers.clients.claude import places, registration
from keepmum_installers.clients.client import Wish
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, edit_keys
from keepmum_installers.product import MARKETPLACE, PLUGIN
from keepmum_installers.repository import repository
from keepmum_installers.source import Source, github, parse_source

__all__ = ["plan"]


def plan(wish: Wish, machine: Machine) -> Plan:
    """The edit of the repository's settings, and what is left to do for others.

    Raises: InstallError when the folder is the user's home, or the source would be of no use to others.
    """
    top = repository(machine)
    if os.path.realpath(os.path.join(top, ".claude")) == os.path.realpath(places.settings_folder(machine)):
        raise InstallError(f"{top} is your home, not a project", "Go to the project's folder, or use --scope user.")
    source = _source(wish, machine, top)
    wanted = (
        # In the order in which the client writes them itself, so that a teammate's clone stays without a change.
        (("enabledPlugins", PLUGIN), True),
        (("extraKnownMarketplaces", MARKETPLACE), {"source": _settings_value(source, top)}),
    )
    team = wish.scope == "project"
    why = "switch the plugin on for the team" if team else "switch the plugin on for you, here"
    secrets = ((("env", SHARED), wish.shared_key),) if wish.shared_key else ()
    why += ", and share the key" if secrets else ""
    change = edit_keys(places.settings_file(wish.scope, machine), wanted, why, secrets=secrets)
    return Plan((change,) if change else (), closing=_for_teammates(source) if team else _FOR_YOURSELF)


def _source(wish: Wish, machine: Machine, top: str) -> Source:
    if wish.source is None and wish.scope == "local":
        # This file stays on this machine, so the clone that is here anyway will do.
        return registration.source_of(wish, machine)
    source = github(wish.product.repository) if wish.source is None else parse_source(wish.source, machine.cwd)
    if wish.scope == "project" and source.kind == "directory" and not files.lies_in(source.where, top):
        raise InstallError(
            f"{source.where} lies outside the repository {top}, where no teammate has it",
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
    below = os.path.relpath(source.where, top).replace(os.sep, "/")
    return {"source": "directory", "path": "./" if below == "." else f"./{below}"}


def _for_teammates(source: Source) -> tuple[str, ...]:
    """What is left to do for others; what the client does by itself was tried with 2.1.329."""
    steps = [
        "have python3 on PATH, 3.11 or newer",
        "pull, start Claude Code in the repository, and say yes when it asks whether to trust the folder",
    ]
    if source.kind == "directory":
        steps[1] += " (`claude -p` has the plugin from its second run on)"
    else:
        steps.append(f"once, to keep it after that first session: claude plugin install {PLUGIN} --scope project")
    return (
        "Commit .claude/settings.json. Then a teammate has to:",
        *(f"  {number}. {step}" for number, step in enumerate(steps, start=1)),
        "Memories are not in the repository: each machine keeps its own.",
    )


_FOR_YOURSELF = (".claude/settings.local.json is for this machine: keep it out of git.",)
