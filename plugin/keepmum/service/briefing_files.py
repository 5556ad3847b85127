"""The briefings on disk, rendered in advance: a SessionStart hook prints one without opening the store.

There is one file for each folder of a project, so that a hook finds it by walking up from its working folder.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from keepmum.core import briefing, ranking
from keepmum.core.masking import Masker
from keepmum.core.memory import TRUSTED, Filter, Memory
from keepmum.core.retention import DAY_MS
from keepmum.service.versions import newest_of
from keepmum.stores.base import Store, known_folders
from keepmum.system import private_files
from keepmum_hooks import checked_out, places, tool_names

__all__ = ["BriefingFiles", "briefed", "remove_all"]

_SEEN_WITHIN = 90 * DAY_MS
_PER_SECTION = 40
_ATTEMPTS = 5  # while others write faster than this, each of them renders what it stored
_SHORT_COMMIT = 7
_AS_OF = "Remarks on code are as of commit {}."
# Takes a folder and memories; returns remarks by memory id, and the commit that is checked out there.
Verdicts: TypeAlias = Callable[[str, Sequence[Memory]], tuple[Mapping[str, str], str]]


class BriefingFiles:
    """Keeps `<home>/state/briefings/` up to date with a store."""

    def __init__(self, home: str, tokens: int, masker: Masker) -> None:
        self._home, self._tokens, self._masker = home, tokens, masker

    def refresh(
        self, store: Store, now: int, project: str | None, user: str | None = None, verdicts: Verdicts | None = None
    ) -> None:
        """Render the briefings of one project's folders, or of every project when `project` is None.

        Where `verdicts` has remarks on a folder's code, its file also has the commit that they are about and the text
        without them: the hook prints that one when another commit is checked out.

        A briefing that cannot be written stays as it was: a session that starts without it still works. Memories with
        a time to live are left out: the file may be printed after that time, when no server runs that could update it.

        What another thread or process stores meanwhile is rendered as well: its own briefing may just be replaced here.
        """
        for _ in range(_ATTEMPTS):
            before = store.changes()
            self._render(store, now, project, user, verdicts)
            if store.changes() == before:
                break

    def _render(self, store: Store, now: int, project: str | None, user: str | None, verdicts: Verdicts | None) -> None:
        rendered: dict[str, str] = {}
        shown: dict[str, list[Memory]] = {}
        alive = {root for root, *_ in known_folders(store, now - _SEEN_WITHIN) if os.path.isdir(root)}
        for root, owner, name in known_folders(store):
            if project not in {None, owner}:
                continue
            if root in alive and owner not in rendered:
                lasting = [memory for memory in briefed(store, now, owner, user) if memory.expires_at is None]
                shown[owner] = list(map(self._masker.memory, lasting))
                rendered[owner] = briefing.brief(name, shown[owner], self._tokens, tool_names.reading_hint())
            with contextlib.suppress(OSError):
                # A folder that was not used for long gets none, instead of one that becomes outdated.
                plain = rendered[owner] if root in alive else ""
                remarks, commit = verdicts(root, shown[owner]) if plain and verdicts else ({}, "")
                if remarks:
                    reading = f"{tool_names.reading_hint()} {_AS_OF.format(commit[:_SHORT_COMMIT])}"
                    remarked = briefing.brief(name, shown[owner], self._tokens, reading, remarks)
                    plain = checked_out.with_remarks(remarked, commit, plain)
                _replace(places.briefing_file(self._home, root), plain)


def remove_all(home: str) -> None:
    """Remove every briefing, also those of folders that are no longer used."""
    folder = places.briefings_folder(home)
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))


def briefed(store: Store, now: int, project: str | None, user: str | None) -> list[Memory]:
    """The memories that a session should know from its start, most important first, by the priors of the ranking.

    Clients load these without a query, so they contain nothing from outside. Of several versions, the newest is.
    """
    wanted = Filter(now=now, project=project, user=user, scopes=("project", "global", "shared"), trusts=TRUSTED)
    lasting = store.browse(replace(wanted, kinds=briefing.BRIEFING_KINDS), order="importance", limit=_PER_SECTION)
    open_work = store.browse(replace(wanted, kinds=briefing.TASK_KINDS), limit=_PER_SECTION // 4)
    recent = store.browse(wanted, limit=_PER_SECTION)
    ordered = (
        sorted(group, key=lambda memory: -ranking.prior(memory, wanted)) for group in (lasting, open_work, recent)
    )
    return newest_of(list({memory.id: memory for group in ordered for memory in group}.values()))


def _replace(path: str, text: str) -> None:
    """Put `text` at `path` atomically unless it is there already; remove the file when `text` is empty."""
    if not text:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8", errors="replace") as present:
        if present.read() == text:
            return
    private_files.replace_file(path, text)
