"""The tools of each dialect by what they are for, for texts that tell an agent what to call.

A dialect that has no tool for a job has "" there; a test compares the table with the tools that each dialect lists.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DEFAULT", "JOBS", "TOOL_NAMES", "of", "reading_hint"]

DEFAULT = "keepmum"
JOBS = ("search", "read", "store", "remove", "resume")


def _names(search: str, read: str, store: str, remove: str, resume: str) -> Mapping[str, str]:
    return dict(zip(JOBS, (search, read, store, remove, resume)))


TOOL_NAMES: Mapping[str, Mapping[str, str]] = {
    "keepmum": _names("recall", "load", "remember", "forget", "resume"),
    "hackathon": _names("recall", "recall", "remember", "forget", "list_memories"),
    "koi": _names("recall", "recall", "remember", "", ""),
    "per-user": _names("MemoryRecall", "MemoryRecall", "MemoryStore", "MemoryForget", "MemoryReflect"),
    "shared": _names("search_memory", "load_memories", "store_memory", "delete_memory", "list_recent"),
    "token-saver": _names("search_memories", "read_memory", "write_memory", "delete_memory", "smart_resume"),
}


def of(dialect: str) -> Mapping[str, str]:
    """The tools of a dialect; those of the default one for a name that is none, as the server does."""
    return TOOL_NAMES.get(dialect, TOOL_NAMES[DEFAULT])


def reading_hint(dialect: str = DEFAULT) -> str:
    """The sentence of a briefing that says how to read more."""
    tools = of(dialect)
    if tools["read"] == tools["search"]:
        return f"Search for more with the memory tool `{tools['search']}`."
    return f"Read one in full with the memory tool `{tools['read']}`; search with `{tools['search']}`."
