"""Runs the server: opens the memory, listens, and stops without losing a request."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

from keepmum.core import validation
from keepmum.core.audit_chain import Head
from keepmum.core.errors import SettingsError
from keepmum.server.app import build
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.people.first import key_ring
from keepmum.server.settings import ServerSettings
from keepmum.server.upkeep import Upkeep
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
    with contextlib.closing(open_memory(settings, scan)) as team:
        ring = key_ring(settings.home, os.environ, team.records)
        if not api_keys and not team.records.keys():
            raise SettingsError("nobody has a key; `keepmum serve init` makes one, or set API_KEYS")
        with _listening(settings) as listener, Upkeep(team.records, ring, _log_head):
            _serve(build(team, ring, [api_keys.find], threads=settings.threads, url=settings.url), listener)


def _serve(app: Starlette, listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    _log(event="listening", url=f"http://{f'[{host}]' if ':' in host else host}:{port}")
    config = uvicorn.Config(
        app, http="h11", ws="none", lifespan="on", log_config=None, access_log=False, server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS, proxy_headers=False,
    )  # fmt: skip
    server = uvicorn.Server(config)
    with contextlib.suppress(KeyboardInterrupt), _stopped_by(server):
        server.run(sockets=[listener])


@contextlib.contextmanager
def _stopped_by(server: uvicorn.Server) -> Iterator[None]:
    """Let SIGTERM stop the server and nothing more: uvicorn sends it to itself again, which would end the process."""
    former = signal.signal(signal.SIGTERM, lambda *_: setattr(server, "should_exit", True))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def _listening(settings: ServerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.bind else socket.AF_INET
    listener = socket.create_server((settings.bind, settings.port), family=family, backlog=_BACKLOG)
    listener.set_inheritable(True)
    return listener


def _log_head(head: Head) -> None:
    _log(event="audit", head=str(head))


def _log(**fields: str) -> None:
    sys.stderr.write(json.dumps(fields) + "\n")
    sys.stderr.flush()
