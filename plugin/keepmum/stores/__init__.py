"""The stores, by name. A new one is one module (or package) and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keepmum.stores import sqlite
from keepmum.stores.base import STORED, Capabilities, Receipt, StaleWrite, Store

__all__ = ["STORED", "STORES", "Capabilities", "Receipt", "StaleWrite", "Store"]


def _open_rest(path: str, **options: Any) -> Store:
    """A server's store, over a mirror of it at `path`."""
    from keepmum.stores import rest  # only where a server was chosen

    return rest.open_store(sqlite.open_store(path), **options)


STORES: Mapping[str, Callable[..., Store]] = {"sqlite": sqlite.open_store, "rest": _open_rest}
