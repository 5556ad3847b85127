"""Runs the server: opens the memory, listens, and stops without losing a request."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
from collections.abc import Callable

import uvicorn

from keepmum.core import validation
from keepmum.core.errors import SettingsError
from keepmum.server.app import build
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.settings import ServerSettings
from keepmum.service.team import PostgresSpec, Team, TeamSqliteSpec, open_team

__all__ = ["open_memory", "run"]

_STOP_SECONDS = 20  # for requests that are running when the server is told to stop
_BACKLOG = 512


def open_memory(settings: ServerSettings, scan: validation.Scan) -> Team:
    """The team's memory that the settings name.

    Raises: StoreError.
    """
    if settings.database_url:
        return open_team(PostgresSpec(settings.database_url, settings.database_pool), scan)
    return open_team(TeamSqliteSpec(settings.database_file), scan)


def run(settings: ServerSettings, scan: validation.Scan) -> None:
    """Serve until the process is told to stop.

    Raises: SettingsError, StoreError; OSError when the address is taken.
    """
    api_keys = ApiKeys(settings.api_keys)
    if not api_keys:
        raise SettingsError("nobody has a key; `keepmum serve init` makes one, or set API_KEYS")
    with contextlib.closing(open_memory(settings, scan)) as team, _listening(settings) as listener:
        app = build(team, [api_keys.find], threads=settings.threads, url=settings.url)
        host, port = listener.getsockname()[:2]
        _announce(f"http://{f'[{host}]' if ':' in host else host}:{port}")
        config = uvicorn.Config(
            app, http="h11", ws="none", lifespan="on", log_config=None, access_log=False, server_header=False,
            timeout_graceful_shutdown=_STOP_SECONDS, proxy_headers=False,
        )  # fmt: skip
        uvicorn.Server(config).run(sockets=[listener])


def _listening(settings: ServerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.bind else socket.AF_INET
    listener = socket.create_server((settings.bind, settings.port), family=family, backlog=_BACKLOG)
    listener.set_inheritable(True)
    return listener


def _announce(url: str, write: Callable[[str], object] = sys.stderr.write) -> None:
    write(json.dumps({"event": "listening", "url": url}) + "\n")
    sys.stderr.flush()
