"""Files as people, other tools and merges write them, and a store over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keepmum.core import ids
from keepmum.core.memory import Change, Filter, Memory
from keepmum.stores.markdown import MarkdownStore

__all__ = ["NOW", "SEED", "a_memory", "day", "file_of", "found", "keep", "opened", "put", "texts"]

NOW = 1_790_000_000_000

# An example in the design of Koi.
SEED = """\
---
id: mem_a1b2c3d4e5f6
timestamp: 1738680652
tags:
  - auth
  - architecture
git:
  branch: feature/oauth
  commit: abc1234
  dirty: true
  files_changed:
    - src/auth/oauth.ts
    - src/middleware/session.ts
---

## Chose OAuth2 over JWT for session management

Needed stateless auth but also wanted token revocation.
"""


def opened(folder: Path, project: str = "alpha", **more: Any) -> MarkdownStore:
    """The store of a repository at `folder`."""
    return MarkdownStore(str(folder), str(folder.parent / "cache"), project, **more)


def day(folder: Path, name: str = "2026-02-04") -> Path:
    """The folder of one day's files."""
    path = folder / ".memories" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def put(folder: Path, text: str, name: str = "143052_a1b2.md") -> Path:
    """A file written by hand."""
    path = day(folder) / name
    path.write_bytes(text.encode())
    return path


def a_memory(text: str = "The build runs on Postgres 16", **fields: Any) -> Memory:
    """A new memory of project `alpha`."""
    at = fields.pop("at", NOW)
    defaults: dict[str, Any] = {
        "id": ids.new_id(at), "title": text.split("\n", 1)[0][:120], "created_at": at, "updated_at": at,
        "project": "alpha", "agent": "tester", "created_by": "tester", "updated_by": "tester", "tier": "long",
    }  # fmt: skip
    return Memory(text=text, **{**defaults, **fields})


def keep(store: MarkdownStore, *memories: Memory) -> None:
    """Store new memories."""
    store.commit([Change(None, memory) for memory in memories])


def file_of(store: MarkdownStore, memory: Memory) -> Path:
    """The file of a memory."""
    found = store.file_of(memory.id)
    assert found is not None
    return Path(store.root, found[1])


def found(store: MarkdownStore, *words: str) -> list[str]:
    """The texts that contain any of these words."""
    return [memory.text for memory, _ in store.search(words, Filter(now=NOW, project="alpha"), 50)]


def texts(store: MarkdownStore) -> list[str]:
    """The texts of all visible memories."""
    return sorted(memory.text for memory in store.browse(Filter(now=NOW, project="alpha"), limit=1000))
