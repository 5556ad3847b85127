"""The sets of tools that a server can offer, by name. A new one is one package and one line here.

A dialect is a package with a `SURFACE`, cheap to import, and a module `handlers`, imported after the handshake, with
`open_handlers`, and `handlers_over` for a given service. Only the chosen dialect is imported, because the others would
slow down every handshake.
"""

from __future__ import annotations

from keepmum.mcp.surface import Surface

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from keepmum.mcp.surface import Context, Handlers, OpenHandlers
    from keepmum.service import MemoryService

__all__ = ["DEFAULT", "DIALECTS", "OFF", "Dialects"]


class Dialects:
    """Surface and `open_handlers` of each dialect, imported on access."""

    def __init__(self, packages: Mapping[str, str]) -> None:
        self._packages = packages

    def __getitem__(self, name: str) -> tuple[Surface, OpenHandlers]:
        package = f"{__name__}.{self._packages[name]}"

        def open_handlers(context: Context) -> Handlers:
            handlers: Handlers = _imported(f"{package}.handlers").open_handlers(context)
            return handlers

        return _imported(package).SURFACE, open_handlers

    def over(self, name: str, service: MemoryService, context: Context) -> Handlers:
        """Handlers of a dialect over a given service, for a client that is not on this machine."""
        handlers: Handlers = _imported(f"{__name__}.{self._packages[name]}.handlers").handlers_over(service, context)
        return handlers

    def __contains__(self, name: str) -> bool:
        return name in self._packages

    def __iter__(self) -> Iterator[str]:
        return iter(self._packages)


def _imported(name: str) -> Any:  # Any: a module found by its name
    return __import__(name, fromlist=("SURFACE",))  # importlib is slower to import


DEFAULT = "keepmum"
DIALECTS = Dialects(
    {
        "keepmum": "keepmum",
        "hackathon": "hackathon",
        "koi": "koi",
        "per-user": "per_user",
        "shared": "shared",
        "token-saver": "token_saver",
    }
)

# Served while Keepmum is off: nothing.
OFF = Surface("")
