"""The server's modules, whose packages are installed only where a server runs."""

from __future__ import annotations

from types import ModuleType

from keepmum.core.errors import SettingsError

__all__ = ["server_modules"]


def server_modules() -> tuple[ModuleType, ModuleType]:
    """The modules `settings` and `lifecycle` of the server.

    Raises: SettingsError when its packages are not installed.
    """
    try:
        from keepmum.server import lifecycle, settings
    except ImportError as error:
        raise SettingsError(
            f"{error.name} is missing; install the server's packages with `keepmum install --server`, or in an "
            "environment of your own with: pip install 'keepmum[server]'"
        ) from None
    return settings, lifecycle
