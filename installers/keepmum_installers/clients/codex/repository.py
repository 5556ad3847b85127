"""Installation for a repository: its settings enable the plugin for teammates who have it and trust the folder.

Version 0.169.0 installs nothing for a repository: each teammate runs two commands once, which the last lines name.
"""

from __future__ import annotations

from keepmum_installers.blocks import Block
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.codex import settings
from keepmum_installers.errors import FileLeft, InstallError
from keepmum_installers.files import lies_in
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan, add_block
from keepmum_installers.product import PLUGIN
from keepmum_installers.source import Source

__all__ = ["plan"]

_TABLE = f'[plugins."{PLUGIN}"]\nenabled = true'


def plan(spec: InstallSpec, machine: Machine) -> Plan:
    """The edit of the repository's settings, and the remaining steps for teammates.

    Raises: InstallError when the folder is the user's home, the file is not TOML, or it disables the plugin.
    """
    path = settings.repository_file(machine)
    if lies_in(path, settings.folder(machine)):
        raise InstallError(
            f"{machine.repository} is your home, not a project", "Go to the project's folder, or use --scope user."
        )
    source = spec.shared_source(machine.cwd)
    plugins = settings.read(path).get("plugins")
    entry = plugins.get(PLUGIN) if isinstance(plugins, dict) else None
    if entry is None:
        change = add_block(path, Block(_TABLE), "enable the plugin in Codex for the team")
        return Plan((change,) if change else (), closing=_for_teammates(source))
    if isinstance(entry, dict) and entry.get("enabled", True) is True:
        return Plan(closing=_for_teammates(source))
    raise FileLeft(f"{path} switches the plugin off; it was left unchanged", f"Set there by hand:\n{_TABLE}")


def _for_teammates(source: Source) -> tuple[str, ...]:
    where = "the folder of their clone of Keepmum" if source.kind == "directory" else source.where
    return (
        "For Codex each teammate has to, once:",
        f"  1. codex plugin marketplace add {where}",
        f"  2. codex plugin add {PLUGIN}",
        "  3. start codex in the repository, trust the folder, and review the plugin's hooks with /hooks",
    )
