"""The sets of tools that a server can offer, by name. A new one is one package and one line here.

A dialect is a package with a `SURFACE`, cheap to import, and `open_handlers`, which imports the rest. Only the chosen
one is imported, because the others would slow down every handshake.
"""

from __future__ import annotations

from keepmum.mcp.surface import Surface

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from keepmum.mcp.surface import OpenHandlers

__all__ = ["DEFAULT", "DIALECTS", "OFF", "Dialects"]


class Dialects:
    """Surface and `open_handlers` of each dialect, imported on access."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> tuple[Surface, OpenHandlers]:
        module = __import__(f"{__name__}.{self._modules[name]}", fromlist=("SURFACE",))  # importlib is slower to import
        return module.SURFACE, module.open_handlers

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)


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
