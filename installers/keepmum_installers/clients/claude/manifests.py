"""The files of the bundle that Claude Code reads.

Source: https://code.claude.com/docs/en/plugins-reference, read 2026-11-21; and `claude plugin validate` of 2.1.329.
"""

from __future__ import annotations

from collections.abc import Mapping

from keepmum_hooks.claude_code import FILE_TOOLS, SHELL_TOOLS
from keepmum_hooks.event import GUARD
from keepmum_hooks.guarded import OWN_TOOLS, WORDS
from keepmum_installers.clients.claude.places import EVENTS, NAME
from keepmum_installers.product import MARKETPLACE, SERVER, SKILLS, Product

__all__ = ["render"]

_ROOT = "${CLAUDE_PLUGIN_ROOT}"
# Without -I a file in the user's project could shadow a module; without -S every start pays for site-packages.
_PYTHON = ["-I", "-S"]
# The client's default is ten minutes. The hooks need milliseconds, and nobody should wait for a stuck one.
_HOOK_SECONDS = 5
_RENDERED = "Rendered from pyproject.toml by keepmum_installers.manifests; change it there."


def render(product: Product) -> Mapping[str, object]:
    """The JSON value of each file, by path below the bundle's root."""
    return {
        ".claude-plugin/plugin.json": _plugin(product),
        ".claude-plugin/marketplace.json": _marketplace(product),
        ".mcp.json": _servers(),
        "hooks/hooks.json": _hooks(),
    }


def _plugin(product: Product) -> dict[str, object]:
    return {
        "name": product.name,
        "displayName": product.name.capitalize(),
        "version": product.version,
        "description": product.description,
        "author": {"name": product.author},
        "homepage": product.homepage,
        "repository": product.homepage,
        "license": product.licence,
        "keywords": list(product.keywords),
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


def _servers() -> dict[str, object]:
    arguments = [*_PYTHON, f"{_ROOT}/plugin/launch.py", "mcp", "--client", NAME]
    return {"mcpServers": {SERVER: {"command": "python3", "args": arguments}}}


def _hooks() -> dict[str, object]:
    groups: dict[str, object] = {event: [{"hooks": [_hook(word)]}] for event, word in EVENTS.items()}
    return {"description": _RENDERED, "hooks": {**groups, "PreToolUse": _guards()}}


def _guards() -> list[object]:
    """The guard, before the tools that may write to a memory.

    A server's tool that speaks of memory is not used where the guard cannot run at all. Its other tools and the
    user's files and commands are, since most of them have nothing to do with memories.
    """
    other_servers = f"^(?!{'|'.join(OWN_TOOLS)})mcp__"
    of_memory = f"({'|'.join(WORDS)})".replace("_", "[-_]")
    return [
        {"matcher": f"{other_servers}.*{of_memory}", "hooks": [{**_hook(GUARD), "onFailure": "block"}]},
        {"matcher": f"{other_servers}(?!.*{of_memory})", "hooks": [_hook(GUARD)]},
        {"matcher": "|".join((*FILE_TOOLS, *SHELL_TOOLS)), "hooks": [_hook(GUARD)]},
    ]


def _hook(word: str) -> dict[str, object]:
    # The form with "args" starts no shell: nothing to quote, and no profile that prints before the answer.
    arguments = [*_PYTHON, f"{_ROOT}/hooks/run.py", word, "--client", NAME]
    return {"type": "command", "command": "python3", "args": arguments, "timeout": _HOOK_SECONDS}
