"""The files of the bundle that Copilot CLI and Visual Studio Code read; their server is the one in the Claude format.

Both would run the hook file of Claude Code without the arguments of its commands. They look for `.plugin/` first, and
read no hook file when the manifest itself has hooks.

Source: runs of Copilot CLI 1.0.102; and for the editor
https://github.com/microsoft/vscode/blob/main/src/vs/platform/agentPlugins/common/pluginParsers.ts, read 2026-11-21.
"""

from __future__ import annotations

from collections.abc import Mapping

from keepmum_hooks.event import GUARD, SESSION_START, STOP
from keepmum_installers.product import SKILLS, Product

__all__ = ["EVENTS", "MANIFEST", "render"]

MANIFEST = ".plugin/plugin.json"

EVENTS = {"SessionStart": SESSION_START, "Stop": STOP, "PreToolUse": GUARD}
# The client's default is half a minute; the hooks need milliseconds.
_HOOK_SECONDS = 5


def render(product: Product) -> Mapping[str, object]:
    """Each file, by path below the bundle's root."""
    return {
        MANIFEST: {
            "name": product.name,
            "version": product.version,
            **product.facts(),
            "skills": f"./{SKILLS}/",
            "mcpServers": "./.mcp.json",
            "hooks": {event: [{"hooks": [_hook(word)]}] for event, word in EVENTS.items()},
        }
    }


def _hook(word: str) -> dict[str, object]:
    """One hook, the same for every tool: the editor ignores matchers.

    The command line blocks every tool when a hook does not start. So the command succeeds where there is no Python:
    otherwise the user could not use any tool.
    """
    command = f'python3 -I -S "${{PLUGIN_ROOT}}/hooks/run.py" {word} --client copilot'
    return {
        "type": "command",
        "bash": f"command -v python3 >/dev/null || exit 0; exec {command}",
        "powershell": command,
        "timeout": _HOOK_SECONDS,
    }
