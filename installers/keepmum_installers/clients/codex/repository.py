"""For a repository: its settings switch the plugin on, for whoever has it installed and trusts the folder.

Version 0.169.0 installs nothing for a repository: each teammate runs two commands once, which the last lines name.
"""

from __future__ import annotations

from keepmum_installers.blocks import Block
from keepmum_installers.clients.client import Wish
from keepmum_installers.clients.codex import config, places
from keepmum_installers.errors import InstallError
from keepmum_installers.files import lies_in
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, add_block
from keepmum_installers.product import PLUGIN
from keepmum_installers.repository import repository
from keepmum_installers.source import Source, github, parse_source

__all__ = ["plan"]

_TABLE = f'[plugins."{PLUGIN}"]\nenabled = true'


def plan(wish: Wish, machine: Machine) -> Plan:
    """The edit of the repository's settings, and what is left to do for others.

    Raises: InstallError when the folder is the user's home, the file is no TOML, or it says the contrary.
    """
    path = places.repository_file(machine)
    if lies_in(path, places.folder(machine)):
        raise InstallError(
            f"{repository(machine)} is your home, not a project", "Go to the project's folder, or use --scope user."
        )
    source = github(wish.product.repository) if wish.source is None else parse_source(wish.source, machine.cwd)
    plugins = config.read(path).get("plugins")
    said = plugins.get(PLUGIN) if isinstance(plugins, dict) else None
    if said is None:
        change = add_block(path, Block(_TABLE), "switch the plugin on in Codex for the team")
        return Plan((change,) if change else (), closing=_for_teammates(source))
    if isinstance(said, dict) and said.get("enabled", True) is True:
        return Plan(closing=_for_teammates(source))
    raise InstallError(f"{path} switches the plugin off; it was left alone", f"Set there by hand:\n{_TABLE}")


def _for_teammates(source: Source) -> tuple[str, ...]:
    where = "the folder of their clone of Keepmum" if source.kind == "directory" else source.where
    return (
        "For Codex a teammate has to, once:",
        f"  1. codex plugin marketplace add {where}",
        f"  2. codex plugin add {PLUGIN}",
        "  3. start codex in the repository, trust the folder, and review the plugin's hooks with /hooks",
    )
