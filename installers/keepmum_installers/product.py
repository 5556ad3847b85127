"""Name, version and addresses of the product, read from `pyproject.toml` or the package metadata."""

from __future__ import annotations

import os
import shlex
import tomllib
from dataclasses import dataclass

__all__ = [
    "MARKETPLACE",
    "PACKAGES",
    "PLUGIN",
    "SERVER",
    "SKILL",
    "SKILLS",
    "Product",
    "bundle_root",
    "install_script",
    "installed",
    "own_folder",
    "read",
]

MARKETPLACE = "keepmum"
"""The marketplace's name, under which every client lists the plugin."""

PLUGIN = f"keepmum@{MARKETPLACE}"
"""The plugin's id, as clients spell it: name@marketplace."""

SERVER = "memory"
"""The MCP server's key; clients build the tools' full names from it."""

SKILLS = "plugin/skills"
"""The folder of the skills; manifests name it, since clients would look for it at the bundle's root."""

PACKAGES = {
    "keepmum": "plugin",
    "keepmum_scanner": "scanner",
    "keepmum_hooks": "hooks",
    "keepmum_installers": "installers",
}
"""The packages, and the folder of the bundle that each is in."""

SKILL = f"{SKILLS}/memory/SKILL.md"
"""The skill, by path below the bundle's root."""


@dataclass(frozen=True, slots=True)
class Product:
    """Name, version and addresses of the product."""

    name: str
    version: str
    description: str
    licence: str
    author: str
    homepage: str
    issues: str
    keywords: tuple[str, ...]

    def facts(self) -> dict[str, object]:
        """The fields of a plugin's manifest that all clients share."""
        return {
            "description": self.description,
            "author": {"name": self.author},
            "homepage": self.homepage,
            "repository": self.homepage,
            "license": self.licence,
            "keywords": list(self.keywords),
        }

    @property
    def repository(self) -> str:
        """`owner/name` of the public repository, the short form that clients accept."""
        return self.homepage.removeprefix("https://github.com/")


def read(root: str) -> Product:
    """The product whose repository or installed bundle is at root.

    Raises: OSError when there is no `pyproject.toml`; KeyError when a field is missing.
    """
    with open(os.path.join(root, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    return Product(
        name=project["name"],
        version=project["version"],
        description=project["description"],
        licence=project["license"],
        author=project["authors"][0]["name"],
        homepage=project["urls"]["Homepage"],
        issues=project["urls"]["Issues"],
        keywords=tuple(project["keywords"]),
    )


def installed(root: str | None) -> Product:
    """The running product: the bundle at root, or the installed package when there is no bundle."""
    if root is not None:
        return read(root)
    from importlib.metadata import metadata

    facts = metadata("keepmum")
    addresses = dict(address.split(", ", 1) for address in facts.get_all("Project-URL", []))
    return Product(
        name=facts["Name"],
        version=facts["Version"],
        description=facts["Summary"],
        licence=facts["License-Expression"],
        author=facts["Author"],
        homepage=addresses["Homepage"],
        issues=addresses["Issues"],
        keywords=tuple(facts["Keywords"].split(",")),
    )


def install_script(root: str) -> str:
    """The command that starts the installer of a bundle, as a person types it."""
    return f"sh {shlex.quote(os.path.join(root, 'installers', 'install.sh'))}"


def bundle_root() -> str | None:
    """The folder of the bundle that this code runs from; None when it runs from a wheel."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    return root if os.path.isfile(os.path.join(root, "pyproject.toml")) else None


def own_folder() -> tuple[str, bool]:
    """The folder with the bundle's files that are in no package, and whether it is the one in a wheel."""
    root = bundle_root()
    return (root, False) if root else (os.path.join(os.path.dirname(os.path.realpath(__file__)), "bundle"), True)
