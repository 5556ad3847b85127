"""Keepmum: one memory that coding agents share and that never keeps a secret.

The names in `__all__` are the library's public API; other modules may change at any time. They are imported when first
used, so that hooks and servers start without them. Example: docs/library.md.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.core.errors import (
        Ambiguous,
        ConfirmationNeeded,
        EmbeddingError,
        Incomplete,
        InvalidInput,
        KeepmumError,
        KeyRefused,
        ModelMissing,
        NotFound,
        QuotaExceeded,
        ScannerFailed,
        SecretFound,
        SettingsError,
        StoreBusy,
        StoreError,
        StoreReadOnly,
        StoreUnavailable,
        SwitchedOff,
        Unsupported,
    )
    from keepmum.core.memory import Activity, Match, Memory, Revision
    from keepmum.core.similarity import Similar
    from keepmum.embedding.base import Embedder
    from keepmum.service import Choice, Decided, Forgotten, MemoryService, Remembered, ReviewItem, ReviewPage
    from keepmum.service.opening import open_memory

__all__ = [
    "Activity",
    "Ambiguous",
    "Choice",
    "ConfirmationNeeded",
    "Decided",
    "Embedder",
    "EmbeddingError",
    "Forgotten",
    "Incomplete",
    "InvalidInput",
    "KeepmumError",
    "KeyRefused",
    "Match",
    "Memory",
    "MemoryService",
    "ModelMissing",
    "NotFound",
    "QuotaExceeded",
    "Remembered",
    "ReviewItem",
    "ReviewPage",
    "Revision",
    "ScannerFailed",
    "SecretFound",
    "SettingsError",
    "Similar",
    "StoreBusy",
    "StoreError",
    "StoreReadOnly",
    "StoreUnavailable",
    "SwitchedOff",
    "Unsupported",
    "open_memory",
]

_MODULES = ("core.errors", "core.memory", "core.similarity", "embedding.base", "service", "service.opening")


if not TYPE_CHECKING:  # so that a type checker reports unknown names

    def __getattr__(name: str) -> object:
        """A public name, imported from the first module that defines it; the modules are in the order of their cost."""
        if name in __all__:
            from importlib import import_module

            for module in _MODULES:
                found: object = getattr(import_module(f"{__name__}.{module}"), name, None)
                if found is not None:
                    return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
