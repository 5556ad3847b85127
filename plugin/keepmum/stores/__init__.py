"""All kinds of store. To add one, add its spec to `specs.py` and a case to `open_store`."""

from __future__ import annotations

import contextlib

from keepmum.stores import sqlite
from keepmum.stores.base import STORED, Capabilities, Features, Receipt, StaleWrite, Store
from keepmum.stores.specs import CompositeSpec, MarkdownSpec, RestSpec, SqliteSpec, StoreSpec, registry_path

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
    "open_store",
    "registry_path",
]


def open_store(spec: StoreSpec) -> Store:
    """The store that `spec` describes. All kinds but SQLite are imported here, when one is opened.

    Raises: StoreError when it can be neither read nor created.
    """
    match spec:
        case SqliteSpec():
            return sqlite.SqliteStore(spec.path, backed_up=spec.backed_up)
        case RestSpec():
            from keepmum.stores import rest

            return rest.open_store(spec, sqlite.SqliteStore(spec.mirror.path))
        case MarkdownSpec():
            from keepmum.stores import markdown

            return markdown.MarkdownStore(spec.root, spec.cache, spec.project)
        case CompositeSpec():
            return _open_composite(spec)


def _open_composite(spec: CompositeSpec) -> Store:
    from keepmum.stores.composite import CompositeStore

    with contextlib.ExitStack() as opened:
        stores: dict[str, Store] = {}
        for name, part in spec.stores.items():
            stores[name] = open_store(part)
            opened.callback(stores[name].close)
        store = CompositeStore(stores, spec.routes, markdown=spec.markdown)
        if spec.markdown is not None:
            store.follow(spec.markdown.root, spec.markdown.project)
        opened.pop_all()
    return store
