"""Opens the memory of a server, without the packages that only serving needs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from keepmum.core import validation
from keepmum.core.errors import SettingsError
from keepmum.server.settings import ServerSettings
from keepmum.service.team import PostgresSpec, QdrantSpec, QuotaLimits, SharedSpec, Team, TeamSqliteSpec, open_team

__all__ = ["open_memory", "packages_needed", "spec_of"]


def open_memory(settings: ServerSettings, scan: validation.Scan, environ: Mapping[str, str] | None = None) -> Team:
    """The team's memory that the settings name; with `environ`, searches use the model that is chosen there.

    Raises: StoreError; SettingsError when the driver of the database is not installed.
    """
    limits = QuotaLimits(
        settings.most_memories, settings.most_bytes, settings.most_project_memories, settings.most_project_bytes
    )
    with packages_needed():
        return open_team(spec_of(settings), scan, environ, limits)


def spec_of(settings: ServerSettings) -> SharedSpec:
    """The database that the settings name."""
    match settings.engine:
        case "sqlite":
            return TeamSqliteSpec(settings.database_file)
        case "postgres":
            return PostgresSpec(settings.database_url, settings.database_pool)
        case "qdrant":
            return QdrantSpec(
                settings.database_url, settings.database_key, settings.database_collection, settings.database_file
            )


@contextlib.contextmanager
def packages_needed() -> Iterator[None]:
    """Say how to install the server's packages when the block does not find one.

    Raises: SettingsError.
    """
    try:
        yield
    except ImportError as error:
        raise SettingsError(
            f"{error.name} is missing; install the server's packages with `keepmum install --server`, or in an "
            "environment of your own with: pip install 'keepmum[server]'"
        ) from None
