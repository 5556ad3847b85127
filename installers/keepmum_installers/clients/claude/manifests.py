"""The files of the bundle that Claude Code reads.

Source: https://code.claude.com/docs/en/plugins-reference, read 2026-11-21; and `claude plugin validate` of 2.1.329.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keepmum_hooks.clients.claude_code import FILE_TOOLS, SHELL_TOOLS
from keepmum_hooks.event import GUARD
from keepmum_hooks.guard_rules import OWN_TOOLS, WORDS
from keepmum_installers.clients.claude.places import EVENTS, NAME, PYTHON
from keepmum_installers.product import MARKETPLACE, SERVER, SKILLS, Product

__all__ = ["SERVERS", "Start", "bundle", "render"]

SERVERS = ".mcp.json"
# Without -I a file in the user's project could shadow a module; without -S every start pays for site-packages.
_PYTHON = ["-I", "-S"]
# The client's default is ten minutes. The hooks need milliseconds, and nobody should wait for a stuck one.
_HOOK_SECONDS = 5
_RENDERED = "Rendered from pyproject.toml by keepmum_installers.manifests; change it there."


@dataclass(frozen=True, slots=True)
class Start:
    """How hooks and server are started."""

    root: str = "${CLAUDE_PLUGIN_ROOT}"
    """The folder of the bundle; the client puts the plugin's own in the place of this word."""
    python: str = PYTHON


def render(product: Product) -> Mapping[str, object]:
    """The JSON value of each file, by path below the bundle's root."""
    return bundle(product, Start())


def bundle(product: Product, start: Start) -> Mapping[str, object]:
    """The same files for hooks and a server that are started in this way."""
    return {
        ".claude-plugin/plugin.json": _plugin(product),
        ".claude-plugin/marketplace.json": _marketplace(product),
        SERVERS: _servers(start),
        "hooks/hooks.json": _hooks(start),
    }


def _plugin(product: Product) -> dict[str, object]:
    return {
        "name": product.name,
        "displayName": product.name.capitalize(),
        "version": product.version,
        **product.facts(),
        "metadata": {"generated": _RENDERED},
        "skills": f"./{SKILLS}/",
        # Nothing leaves the machine; the client shows this to whoever is about to install.
        "network": {"hosts": []},
        "userConfig": {
            "capture_every": {
                "type": "number",
                "title": "Turns between two captures",
                "description": "After so many turns the agent is asked to keep what it learned.",
                # The client hands hooks saved values only, so the Stop hook holds the same default itself.
                "default": 5,
                "min": 1,
                "max": 1000,
            }
        },
    }


def _marketplace(product: Product) -> dict[str, object]:
    return {
        "name": MARKETPLACE,
        "description": product.description,
        "owner": {"name": product.author},
        "plugins": [
            {
                "name": product.name,
                # The repository's root is the plugin's root: a folder and a git address work alike.
                "source": "./",
                "description": product.description,
                "category": "productivity",
                "tags": list(product.keywords),
            }
        ],
    }


def _servers(start: Start) -> dict[str, object]:
    arguments = [*_PYTHON, f"{start.root}/plugin/launch.py", "mcp", "--client", NAME]
    return {"mcpServers": {SERVER: {"command": start.python, "args": arguments}}}


def _hooks(start: Start) -> dict[str, object]:
    groups: dict[str, object] = {event: [{"hooks": [_hook(start, word)]}] for event, word in EVENTS.items()}
    return {"description": _RENDERED, "hooks": {**groups, "PreToolUse": _guards(start)}}


def _guards(start: Start) -> list[object]:
    """The guard, before the tools that may write to a memory.

    A server's tool that speaks of memory is not used where the guard cannot run at all. Its other tools and the
    user's files and commands are, since most of them have nothing to do with memories.
    """
    other_servers = f"^(?!{'|'.join(OWN_TOOLS)})mcp__"
    of_memory = f"({'|'.join(WORDS)})".replace("_", "[-_]")
    return [
        {"matcher": f"{other_servers}.*{of_memory}", "hooks": [{**_hook(start, GUARD), "onFailure": "block"}]},
        {"matcher": f"{other_servers}(?!.*{of_memory})", "hooks": [_hook(start, GUARD)]},
        {"matcher": "|".join((*FILE_TOOLS, *SHELL_TOOLS)), "hooks": [_hook(start, GUARD)]},
    ]


def _hook(start: Start, word: str) -> dict[str, object]:
    # The form with "args" starts no shell: nothing to quote, and no profile that prints before the answer.
    arguments = [*_PYTHON, f"{start.root}/hooks/run.py", word, "--client", NAME]
    return {"type": "command", "command": start.python, "args": arguments, "timeout": _HOOK_SECONDS}
