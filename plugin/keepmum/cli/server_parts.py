"""The server's modules, whose packages are installed only where a server runs."""

from __future__ import annotations

from types import ModuleType

__all__ = ["server_modules"]


def server_modules() -> tuple[ModuleType, ModuleType]:
    """The modules `settings` and `lifecycle` of the server.

    Raises: SettingsError when its packages are not installed.
    """
    from keepmum.server import opening

    with opening.packages_needed():
        from keepmum.server import lifecycle, settings
    return settings, lifecycle
