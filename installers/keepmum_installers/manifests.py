"""Every manifest of the bundle, the registry's file and the version module, rendered from `pyproject.toml`.

In a clone, with PYTHONPATH=installers:plugin:hooks:

python3 -m keepmum_installers.manifests          writes what changed
python3 -m keepmum_installers.manifests --check  exits 1 and names each outdated file

Source, for the registry of MCP servers, read 2026-11-21:
https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json/generic-server-json.md
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from keepmum_installers import files, local_plugin
from keepmum_installers.clients import CLIENTS
from keepmum_installers.product import Product, bundle_root, read

__all__ = ["REGISTRY_FILE", "main", "outdated", "registry_name", "render"]

REGISTRY_FILE = "plugin/server.json"
"""The path in the bundle of the file for the registry of MCP servers."""

_REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def render(root: str) -> dict[str, str]:
    """The text of each rendered file, by its path below root, with forward slashes."""
    product = read(root)
    texts = {"plugin/keepmum/core/version.py": _VERSION_MODULE.format(version=product.version)}
    for values in ({REGISTRY_FILE: _registry_entry(product)}, *(each.manifests(product) for each in CLIENTS.values())):
        for path, value in values.items():
            texts[path] = value if isinstance(value, str) else local_plugin.as_json(value)
    return texts


# The handshake of the server contains the version, and reading a TOML file would delay it.
_VERSION_MODULE = '''\
"""The version, rendered from pyproject.toml: do not edit, run `python3 -m keepmum_installers.manifests`."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "{version}"
'''


def outdated(root: str, rendered: Mapping[str, str]) -> list[str]:
    """The paths whose file is missing or differs from what is rendered, sorted."""
    return sorted(path for path, text in rendered.items() if files.read(os.path.join(root, path)) != text.encode())


def main(argv: list[str] | None = None) -> int:
    """The exit code: 0 when every file is current or was written, 1 when `--check` finds an outdated one."""
    arguments = sys.argv[1:] if argv is None else argv
    root = bundle_root()
    if arguments not in ([], ["--check"]) or root is None:
        sys.stderr.write("usage, in a clone: python3 -m keepmum_installers.manifests [--check]\n")
        return 2
    rendered = render(root)
    stale = outdated(root, rendered)
    for path in stale:
        sys.stdout.write(f"{path} is outdated\n" if arguments else f"wrote {path}\n")
        if not arguments:
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            files.write(os.path.join(root, path), rendered[path].encode(), 0o644)
    return 1 if arguments and stale else 0


def registry_name(product: Product) -> str:
    """The server's name in the registry; the README contains it too, which proves that both have one owner."""
    return f"io.github.{product.repository}"


def _registry_entry(product: Product) -> dict[str, object]:
    package = {
        "registryType": "pypi",
        "identifier": product.name,
        "version": product.version,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "environmentVariables": [
            {
                "name": "KEEPMUM_HOME",
                "description": "The folder for memories and settings; ~/.keepmum if it is not set",
                "format": "filepath",
                "isRequired": False,
                "isSecret": False,
            }
        ],
    }
    return {
        "$schema": _REGISTRY_SCHEMA,
        "name": registry_name(product),
        "title": product.name.capitalize(),
        "description": product.description,
        "repository": {"url": product.homepage, "source": "github"},
        "version": product.version,
        "packages": [package],
    }


if __name__ == "__main__":
    raise SystemExit(main())
