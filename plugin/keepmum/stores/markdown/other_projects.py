"""The Markdown stores of other projects, for searches in every project."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from keepmum.core.errors import StoreError
from keepmum.stores.markdown.registry import Registry
from keepmum.stores.markdown.store import MarkdownStore

__all__ = ["OtherProjects"]

_MAX_PROJECTS = 200  # the most recently used


class OtherProjects:
    """The stores of the projects in a registry, except the one at `current`. Each is opened when it is first used."""

    def __init__(self, registry: Registry, cache: str, current: str, project_of: Callable[[str, str], str]) -> None:
        """`project_of` returns the id of a project by its root and name."""
        self._registry = registry
        self._cache = cache
        self._current = os.path.realpath(current) if current else ""
        self._project_of = project_of
        self._stores: dict[str, MarkdownStore] = {}
        self._failed: dict[str, str] = {}
        self._left_out = 0  # projects

    @property
    def opened(self) -> Sequence[MarkdownStore]:
        """The stores that are open already."""
        return list(self._stores.values())

    def stores(self) -> Sequence[MarkdownStore]:
        """The stores of all projects that still exist."""
        self._failed.clear()
        projects = self._registry.projects()
        self._left_out = max(0, len(projects) - _MAX_PROJECTS)
        for root, name in projects[:_MAX_PROJECTS]:
            if root in self._stores or os.path.realpath(root) == self._current:
                continue
            try:
                self._stores[root] = MarkdownStore(root, self._cache, self._project_of(root, name))
            except StoreError as error:
                self._failed[root] = str(error)
        return self.opened

    @property
    def notice(self) -> str:
        """Why some projects cannot be read, and the problems of their files."""
        notices = [self._registry.problem, *self._failed.values(), *(store.notice for store in self._stores.values())]
        if self._left_out:
            notices.append(f"only the {_MAX_PROJECTS} latest projects were read; {self._left_out:,} more were not")
        return "; ".join(filter(None, notices))

    def close(self) -> None:
        """Close all stores."""
        with contextlib.ExitStack() as stack:
            for store in self._stores.values():
                stack.callback(store.close)
            self._stores.clear()
