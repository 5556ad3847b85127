"""The briefings on disk, rendered ahead: a SessionStart hook prints one without opening the store.

One file for each folder in which a project was seen, so that a hook finds it by walking up from where it stands.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import replace

from keepmum.core import briefing, ranking
from keepmum.core.memory import Filter, Memory
from keepmum.core.retention import DAY_MS
from keepmum.stores.base import Store, known_folders
from keepmum.system import private_files
from keepmum_hooks import places

__all__ = ["BriefingFiles", "discard", "told"]

_SEEN_WITHIN = 90 * DAY_MS
_PER_SECTION = 40


class BriefingFiles:
    """Keeps `<home>/state/briefings/` in step with a store."""

    def __init__(self, home: str, tokens: int, shown: Callable[[Memory], Memory] = lambda memory: memory) -> None:
        self._home = home
        self._tokens = tokens
        self._shown = shown  # what of a memory may be shown

    def refresh(self, store: Store, now: int, project: str | None, user: str | None = None) -> None:
        """Render anew the briefings of one project's folders, or of every project when `project` is None.

        A briefing that cannot be written is left as it was: a session that starts without it still works. What has
        a time to live is left out: the file may be printed after that time, when no server runs to see it pass.
        """
        rendered: dict[str, str] = {}
        alive = {root for root, *_ in known_folders(store, now - _SEEN_WITHIN) if os.path.isdir(root)}
        for root, owner, name in known_folders(store):
            if project not in {None, owner}:
                continue
            if root in alive and owner not in rendered:
                lasting = [self._shown(memory) for memory in told(store, now, owner, user) if memory.expires_at is None]
                rendered[owner] = briefing.brief(name, lasting, self._tokens)
            with contextlib.suppress(OSError):
                # A folder that nobody comes to has none, rather than one that goes stale.
                _replace(places.briefing_file(self._home, root), rendered[owner] if root in alive else "")


def discard(home: str) -> None:
    """Remove every briefing, those of folders long forgotten too."""
    folder = places.briefings_folder(home)
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))


def told(store: Store, now: int, project: str | None, user: str | None) -> list[Memory]:
    """The memories a session should know of from its start, most telling first, by the weights of a search."""
    wanted = Filter(now=now, project=project, user=user, scopes=("project", "global", "shared"))
    lasting = store.browse(replace(wanted, kinds=briefing.BRIEFING_KINDS), order="importance", limit=_PER_SECTION)
    open_work = store.browse(replace(wanted, kinds=briefing.TASK_KINDS), limit=_PER_SECTION // 4)
    recent = store.browse(wanted, limit=_PER_SECTION)
    ordered = (
        sorted(group, key=lambda memory: -ranking.prior(memory, wanted)) for group in (lasting, open_work, recent)
    )
    return list({memory.id: memory for group in ordered for memory in group}.values())


def _replace(path: str, text: str) -> None:
    """Put `text` at `path` in one step, or remove the file when there is nothing to say."""
    if not text:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as present:
        if present.read() == text:
            return
    private_files.replace_file(path, text)
