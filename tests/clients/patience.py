"""Longer time limits for a copy of the product and for a client, so that no answer depends on how busy a machine is.

The product gives up soon where a person waits, and has a fallback: the guard refuses what it had no time to check. A
client ends a hook that takes too long, and starts without a server that does not answer. The tests here claim nothing
about these limits.
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["SECONDS", "lengthen", "lengthen_hooks"]

SECONDS = 60

# Files, and what comes before the number in one.
_LIMITS = (
    ("hooks/keepmum_hooks/guard.py", "_SECONDS ="),
    ("installers/keepmum_installers/clients/checks.py", "_SECONDS ="),
    ("installers/keepmum_installers/clients/claude/command_line.py", "_SECONDS ="),
    ("installers/keepmum_installers/clients/claude/manifests.py", "_HOOK_SECONDS ="),
    ("installers/keepmum_installers/clients/codex/command_line.py", "_SECONDS ="),
    ("installers/keepmum_installers/clients/codex/manifests.py", "_HOOK_SECONDS ="),
    ("installers/keepmum_installers/clients/copilot/manifests.py", "_HOOK_SECONDS ="),
    ("installers/keepmum_installers/clients/gemini/manifests.py", "_HOOK_MILLISECONDS ="),
    ("installers/keepmum_installers/live/opencode.py", "_REMINDER_SECONDS ="),
    ("installers/keepmum_installers/rpc_process.py", "_EXIT_SECONDS ="),
    ("installers/keepmum_installers/rpc_process.py", "    seconds: float ="),
    ("installers/keepmum_installers/runtime.py", "_LOOK_SECONDS ="),
    ("plugin/keepmum/mcp/stdio.py", "GRACE ="),
    ("plugin/keepmum/workspace/git/process.py", "_TIMEOUT ="),
    ("plugin/opencode/keepmum.js", "const SECONDS ="),
)
_MANIFESTS = (".plugin/plugin.json", "hooks/codex.json", "hooks/hooks.json", "plugin/gemini/hooks/hooks.json")


def lengthen(product: Path) -> None:
    """Lengthen the limits in a copy of the product."""
    for name, before in _LIMITS:
        length = SECONDS * 1000 if "MILLISECONDS" in before else SECONDS
        path = product / name
        text, count = re.subn(
            rf"^({before} )[\d.]+", rf"\g<1>{length}", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        assert count == 1, f"{name} has {count} limits of this name"
        path.write_text(text, encoding="utf-8")
    for name in _MANIFESTS:
        path = product / name
        path.write_text(lengthen_hooks(path.read_text(encoding="utf-8")), encoding="utf-8")


def lengthen_hooks(manifest: str) -> str:
    """The manifest with a longer limit for each hook."""
    longer, count = re.subn(r'("timeout": )5(000)?\b', rf"\g<1>{SECONDS}\g<2>", manifest)
    assert count, "the manifest names no time limit"
    return longer
