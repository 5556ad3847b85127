"""Opens the memory of a server, without the packages that only serving needs."""

from __future__ import annotations

from collections.abc import Mapping

from keepmum.core import validation
from keepmum.core.errors import SettingsError
from keepmum.server.settings import ServerSettings
from keepmum.service.team import PostgresSpec, Team, TeamSqliteSpec, open_team

__all__ = ["open_memory"]


def open_memory(settings: ServerSettings, scan: validation.Scan, environ: Mapping[str, str] | None = None) -> Team:
    """The team's memory that the settings name; with `environ`, searches use the model that is chosen there.

    Raises: StoreError; SettingsError when the driver of PostgreSQL is not installed.
    """
    if not settings.database_url:
        return open_team(TeamSqliteSpec(settings.database_file), scan, environ)
    try:
        return open_team(PostgresSpec(settings.database_url, settings.database_pool), scan, environ)
    except ImportError as error:
        raise SettingsError(f"{error.name} is missing; install it with: pip install 'keepmum[server]'") from None
