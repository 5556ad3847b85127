"""All kinds of store. To add one, add its spec to `specs.py` and a case to `open_store`."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from keepmum.stores import sqlite
from keepmum.stores.base import STORED, Capabilities, Features, Receipt, StaleWrite, Store, VectorSearch
from keepmum.stores.specs import CompositeSpec, MarkdownSpec, RestSpec, SqliteSpec, StoreSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.stores.composite import CompositeStore
    from keepmum.stores.markdown import OtherProjects

__all__ = [
    "STORED",
    "Capabilities",
    "CompositeSpec",
    "Features",
    "MarkdownSpec",
    "Receipt",
    "RestSpec",
    "SqliteSpec",
    "StaleWrite",
    "Store",
    "StoreSpec",
    "VectorSearch",
    "open_store",
]


def open_store(spec: StoreSpec) -> Store:
    """The store that `spec` describes. All kinds but SQLite are imported here, when one is opened.

    Raises: StoreError when it can be neither read nor created.
    """
    match spec:
        case SqliteSpec():
            return sqlite.open_store(spec.path)
        case RestSpec():
            from keepmum.stores import rest

            return rest.open_store(spec, sqlite.open_store(spec.mirror.path))
        case MarkdownSpec():
            from keepmum.stores import markdown

            return markdown.MarkdownStore(spec.root, spec.cache, spec.project)
        case CompositeSpec():
            return _open_composite(spec)


def _open_composite(spec: CompositeSpec) -> CompositeStore:
    from keepmum.stores.composite import CompositeStore

    with contextlib.ExitStack() as opened:
        stores: dict[str, Store] = {}
        for name, part in spec.stores.items():
            stores[name] = open_store(part)
            opened.callback(stores[name].close)
        markdown = spec.markdown
        if markdown is None:
            store = CompositeStore(stores, spec.routes)
        else:
            store = CompositeStore(
                stores,
                spec.routes,
                follows=("markdown", lambda root, project: _open_files(replace(markdown, root=root, project=project))),
            )
            store.follow(markdown.root, markdown.project or "")
        opened.pop_all()
    return store


def _open_files(spec: MarkdownSpec) -> tuple[Store, OtherProjects | None]:
    """The Markdown store of a folder, and those of all other projects in the registry."""
    from keepmum.stores import markdown

    if spec.user_home is None:
        return markdown.MarkdownStore(spec.root, spec.cache, spec.project), None
    registry = markdown.Registry(markdown.registry_of(spec.user_home))
    others = markdown.OtherProjects(registry, spec.cache, spec.root, spec.project_of)
    return markdown.MarkdownStore(spec.root, spec.cache, spec.project, registry), others
