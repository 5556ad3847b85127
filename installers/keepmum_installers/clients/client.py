"""What the installer asks of a client module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from keepmum_installers.product import Product

__all__ = ["Client"]


class Client(Protocol):
    """One coding agent that Keepmum can be installed in."""

    @property
    def title(self) -> str:
        """The client's name as its users write it."""

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The JSON value of each file that the client reads from the bundle, by path below its root."""
