"""Fixtures for the REST store: a fake server, and stores and services that use it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keepmum.service import MemoryService, Place, ServiceOptions, open_service
from keepmum.stores import RestSpec, SqliteSpec
from keepmum.workspace.credentials import Server
from keepmum_scanner import scan
from rest_server import KEY
from unit.stores.rest_parts import Opener, open_at

OpenService = Callable[..., MemoryService]


@pytest.fixture
def open_rest(origin: str, tmp_path: Path) -> Iterator[Opener]:
    """Opens the store of one machine, each time as another process would."""
    with contextlib.ExitStack() as stack:

        def open_one(where: str = origin, machine: str = "here", **options: Any) -> Any:
            store = open_at(where, tmp_path / machine, **options)
            stack.callback(store.close)
            return store

        yield open_one


@pytest.fixture
def open_memory(origin: str, tmp_path: Path) -> Iterator[OpenService]:
    """Opens the memory at the server, as an agent on some machine would."""
    with contextlib.ExitStack() as stack:

        def open_one(
            agent: str = "claude-code",
            machine: str = "here",
            where: str = origin,
            key: str | None = KEY,
            **options: Any,
        ) -> MemoryService:
            home = str(tmp_path / machine)
            server = Server(where, key, no_key="" if key else "there is no key for it")
            known = {"github.com/acme/alpha": "alpha"}
            service = open_service(
                RestSpec(server, SqliteSpec(f"{home}/servers/mirror.db"), home, projects=known, **options),
                scan,
                ServiceOptions(
                    place=Place(project="github.com/acme/alpha", name="alpha", root=str(tmp_path)),
                    agent=agent,
                    home=home,
                ),
            )
            stack.callback(service.close)
            return service

        yield open_one
