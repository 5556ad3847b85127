"""The stores, by name. A new one is one module (or package) and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keepmum.stores import sqlite
from keepmum.stores.base import STORED, Capabilities, Receipt, StaleWrite, Store

__all__ = ["STORED", "STORES", "Capabilities", "Receipt", "StaleWrite", "Store"]

STORES: Mapping[str, Callable[..., Store]] = {"sqlite": sqlite.open_store}
