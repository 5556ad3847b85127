"""The stores, by name. A new one is one module (or package) and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keepmum.stores import sqlite
from keepmum.stores.base import Capabilities, StaleWrite, Store

__all__ = ["STORES", "Capabilities", "StaleWrite", "Store"]

STORES: Mapping[str, Callable[[str], Store]] = {"sqlite": sqlite.open_store}
