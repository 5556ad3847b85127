"""The stores, by name. A new one is one module (or package) and one line here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from keepmum.core.memory import Scope
from keepmum.stores import sqlite
from keepmum.stores.base import STORED, Capabilities, Filed, Follows, Parts, Receipt, StaleWrite, Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.stores.joined import Reach

__all__ = ["STORED", "STORES", "Capabilities", "Filed", "Follows", "Parts", "Receipt", "StaleWrite", "Store"]


def _open_rest(path: str, **options: Any) -> Store:
    """A server's store, over a mirror of it at `path`."""
    from keepmum.stores import rest  # only where a server was chosen

    return rest.open_store(sqlite.open_store(path), **options)


def _open_joined(
    path: str,
    *,
    parts: Mapping[str, tuple[str, Mapping[str, Any]]],
    routes: Mapping[Scope, str],
    files: Mapping[str, Any] | None = None,
) -> Store:
    """The database at `path` and other stores as one; `parts` are path and options by name, `files` those of Markdown.

    Raises: StoreError when one of them cannot be opened.
    """
    from keepmum.stores import joined  # only where more than one store was chosen

    opened: dict[str, Store] = {"sqlite": sqlite.open_store(path)}
    try:
        for name, (own_path, options) in parts.items():
            opened[name] = STORES[name](own_path, **options)
        placed = None if files is None else ("markdown", functools.partial(_files_of, **files["everywhere"]))
        store = joined.JoinedStore(opened, routes, placed=placed)
        if files is not None:
            store.go(files["root"], files["project"])
    except BaseException:
        for each in opened.values():
            each.close()
        raise
    return store


def _files_of(
    root: str, project: str, *, cache: str, user_home: str, project_of: Callable[[str, str], str]
) -> tuple[Store, Reach]:
    """The Markdown store of a folder, and those of the other projects in the registry."""
    from keepmum.stores import markdown

    listed = markdown.Registry(markdown.registry_of(user_home))
    reach = markdown.Elsewhere(listed, cache, root, project_of)
    return markdown.open_store(root, cache, project, listed), reach


STORES: Mapping[str, Callable[..., Store]] = {"sqlite": sqlite.open_store, "rest": _open_rest, "joined": _open_joined}
