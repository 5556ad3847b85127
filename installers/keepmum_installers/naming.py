"""What to say about a name that is not a client's."""

from __future__ import annotations

import difflib

from keepmum_installers.clients import CLIENTS

__all__ = ["unknown_client"]

_PROGRAMS = {  # what people call a client, where that is not part of our name for it
    "claude": "claude-code",
    "code": "vscode",
    "vs-code": "vscode",
    "visual-studio-code": "vscode",
    "cursor-agent": "cursor",
    "copilot": "copilot-cli",
    "gemini": "gemini-cli",
}


def unknown_client(name: str) -> tuple[str, str]:
    """That there is no such client, and the one that was probably meant, or all."""
    word = name.lower().replace("_", "-").replace(" ", "-")
    near = _PROGRAMS.get(word) or next(iter(difflib.get_close_matches(word, CLIENTS, n=1)), "")
    listed = ", ".join(CLIENTS)
    return f"there is no client {name!r}", f"did you mean {near}?" if near else f"there are: {listed}"
