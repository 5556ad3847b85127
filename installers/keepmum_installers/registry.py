"""What the registry of MCP servers is told: `plugin/server.json`.

Source: https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json/generic-server-json.md,
read 2026-11-21.
"""

from __future__ import annotations

from collections.abc import Mapping

from keepmum_installers.product import Product

__all__ = ["FILE", "name", "render"]

FILE = "plugin/server.json"
"""Its place in the bundle; the registry's publisher takes it as an argument."""

_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def name(product: Product) -> str:
    """The server's name; the README has to say it, too, which proves that both have one owner."""
    return f"io.github.{product.repository}"


def render(product: Product) -> Mapping[str, object]:
    """The file, by path below the bundle's root."""
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
        FILE: {
            "$schema": _SCHEMA,
            "name": name(product),
            "title": product.name.capitalize(),
            "description": product.description,
            "repository": {"url": product.homepage, "source": "github"},
            "version": product.version,
            "packages": [package],
        }
    }
