"""The memories of other projects, where the registry says they are: for questions that go to every project."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from keepmum.core.errors import StoreError
from keepmum.stores.markdown.registry import Registry
from keepmum.stores.markdown.store import MarkdownStore

__all__ = ["Elsewhere"]

_MOST = 200  # projects, the latest used first


class Elsewhere:
    """The stores of the projects in a registry, but for the one at `here`; each is opened when first asked."""

    def __init__(self, registry: Registry, cache: str, here: str, project_of: Callable[[str, str], str]) -> None:
        """`project_of` gives the id of a project by its root and name."""
        self._registry = registry
        self._cache = cache
        self._here = os.path.realpath(here)
        self._project_of = project_of
        self._stores: dict[str, MarkdownStore] = {}
        self._failed: dict[str, str] = {}

    @property
    def opened(self) -> Sequence[MarkdownStore]:
        """Those that have been opened by now."""
        return list(self._stores.values())

    def stores(self) -> Sequence[MarkdownStore]:
        """Those of every project that is still there."""
        self._failed.clear()
        for root, name in self._registry.projects()[:_MOST]:
            if root in self._stores or os.path.realpath(root) == self._here:
                continue
            try:
                self._stores[root] = MarkdownStore(root, self._cache, self._project_of(root, name), None)
            except StoreError as error:
                self._failed[root] = str(error)
        return self.opened

    @property
    def notice(self) -> str:
        """Why some projects cannot be read, and what is wrong with their files."""
        told = [self._registry.problem, *self._failed.values(), *(store.notice for store in self._stores.values())]
        return "; ".join(filter(None, told))

    def close(self) -> None:
        """Let go of all."""
        with contextlib.ExitStack() as stack:
            for store in self._stores.values():
                stack.callback(store.close)
            self._stores.clear()
