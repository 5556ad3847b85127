"""Keepmum for other programs: one call opens a memory at a path, with the scanner in front of it as everywhere."""

from __future__ import annotations

import os
from typing import Final, Literal

from keepmum.embedding import Background, Embedder, in_background
from keepmum.service import MemoryService, Place, open_service
from keepmum.workspace import allowlist, settings
from keepmum_hooks import places

__all__ = ["INSTALLED", "open_memory"]

INSTALLED: Final = "installed"


def open_memory(
    path: str | os.PathLike[str],
    embedder: Embedder | Literal["installed"] | None = INSTALLED,
    *,
    project: str | None = None,
    user: str | None = None,
    agent: str = "library",
) -> MemoryService:
    """The memory in the file at `path`, made when it is new; use it in a `with`, or `close` it.

    It remembers, recalls and forgets as the tools do, and waits for the embedder where those go on by words alone.
    `embedder` is the model that the user has installed, if any, unless one is given; None searches by words alone.
    Without a `project` it looks at the memories of all of them.

        with open_memory("notes.db") as memory:
            memory.remember(text="Deploys go through the blue pool first", tags=["deploy"])
            for match in memory.recall("which pool gets a deploy first?", limit=3):
                print(match.score, match.memory.title, match.why)

    Raises: StoreError when the file can be neither read nor made, SettingsError when the user's settings are wrong.
    """
    return open_service(
        os.fspath(path),
        allowlist.Judge(places.home(os.environ)),
        place=Place(project=project, name=project or "", user=user),
        agent=agent,
        origin="library",
        embedder=_opening(embedder),
        patient=True,
    )


def _opening(embedder: Embedder | Literal["installed"] | None) -> Background | None:
    if embedder is None:
        return None
    if embedder == INSTALLED:
        return in_background(settings.load(os.environ, None), os.environ)
    return Background(lambda: embedder)
