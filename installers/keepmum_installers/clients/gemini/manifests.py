"""The extension that Gemini CLI reads, in a folder of its own.

At the bundle's root the client would read the hook file of Claude Code, which has the name that it looks for, but other
events, and a timeout in seconds where it expects milliseconds.

Source: https://github.com/google-gemini/gemini-cli/blob/main/docs/extensions/reference.md, read 2026-11-21; and runs of
version 0.61.0.
"""

from __future__ import annotations

from collections.abc import Mapping

from keepmum_hooks.clients.gemini import GUARDED_TOOLS
from keepmum_hooks.event import GUARD, SESSION_START, STOP
from keepmum_installers import local_plugin
from keepmum_installers.product import Product, bundle_root

__all__ = ["FOLDER", "SERVER", "render"]

FOLDER = "plugin/gemini"
"""The extension's folder in the bundle. It is linked, never copied: server and hooks are in the folders around it."""

SERVER = "keepmum"
"""The server's name; "memory" is nearly everywhere the name of the reference server."""

_HOOK_MILLISECONDS = 5000


def render(product: Product) -> Mapping[str, object]:
    """Each file, by path below the bundle's root."""
    return {
        f"{FOLDER}/gemini-extension.json": {
            "name": product.name,
            "version": product.version,
            "description": product.description,
            "mcpServers": {SERVER: {"command": "python3", "args": ["-I", "-S", _in_bundle("plugin/launch.py"), *_MCP]}},
        },
        f"{FOLDER}/hooks/hooks.json": {
            "hooks": {
                "SessionStart": [{"hooks": [_hook("briefing", SESSION_START)]}],
                "AfterAgent": [{"hooks": [_hook("capture", STOP)]}],
                "BeforeTool": [{"matcher": f"^({'|'.join(GUARDED_TOOLS)})", "hooks": [_hook("guard", GUARD)]}],
            }
        },
        # The client refuses a skill that is a symbolic link.
        f"{FOLDER}/skills/memory/SKILL.md": local_plugin.skill(bundle_root() or ""),
    }


_MCP = ("mcp", "--client", "gemini-cli")


def _in_bundle(path: str) -> str:
    return f"${{extensionPath}}/../../{path}"


def _hook(name: str, word: str) -> dict[str, object]:
    command = f'python3 -I -S "{_in_bundle("hooks/run.py")}" {word} --client gemini-cli'
    return {"type": "command", "name": f"keepmum-{name}", "command": command, "timeout": _HOOK_MILLISECONDS}
