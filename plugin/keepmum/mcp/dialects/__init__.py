"""The tool sets a server can speak, by name. A new one is one module and one line here.

A dialect is a module with a `SURFACE`, cheap to import, and `open_handlers`, which imports the rest when it is first
needed. Only the one that is served is imported: what the others offer would cost every handshake.
"""

from __future__ import annotations

from keepmum.mcp.surface import Surface

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from keepmum.mcp.surface import OpenHandlers

__all__ = ["DEFAULT", "DIALECTS", "OFF", "Dialects"]


class Dialects:
    """What each dialect offers, and how its handlers are opened, by name."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> tuple[Surface, OpenHandlers]:
        module = __import__(f"{__name__}.{self._modules[name]}", fromlist=("SURFACE",))  # importlib would cost more
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

# What is served where Keepmum is switched off: nothing, so that an agent does not even know of it.
OFF = Surface("")
