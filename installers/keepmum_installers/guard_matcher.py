"""The matcher of tools for memories in hook files, rendered from the guard's table.

It decides one thing alone: which tools are blocked where the guard cannot run. The guard itself is started for every
server's tool, so the names that users and projects add in their settings need no other hook file.
"""

from __future__ import annotations

from keepmum_hooks.guard_table import CHANCE, WORDS

__all__ = ["of_memory"]


def of_memory() -> str:
    """A regular expression of JavaScript for the table's words in `snake_case`, `kebab-case` and `camelCase`."""
    return f"({'|'.join(map(_in_any_case, WORDS))})"


def _in_any_case(word: str) -> str:
    parts = "[-_]?".join(f"[{part[0]}{part[0].upper()}]{part[1:]}" for part in word.strip("_").split("_"))
    if word.startswith("_"):
        return f"(?<![a-zA-Z0-9]){parts}(?![a-z0-9])"
    longer = "|".join(chance.removeprefix(word) for chance in CHANCE if chance.startswith(word))
    return f"{parts}(?!{longer})" if longer else parts
