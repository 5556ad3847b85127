"""A dashboard over a memory of its own, and the server in front of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.desk import Desk
from keepmum.dashboard.http import DashboardServer
from keepmum.dashboard.opening import AGENT
from keepmum.dashboard.worker import Worker
from keepmum.service import MemoryService
from unit.core.conftest import clock, keepmum_home, open_memory  # noqa: F401 - fixtures
from unit.core.service_parts import OpenService
from unit.dashboard.pages import Page


@pytest.fixture
def agent(open_memory: OpenService) -> MemoryService:  # noqa: F811 - the fixture
    """What an agent stores and reads."""
    return open_memory("codex")


@pytest.fixture
def person(open_memory: OpenService) -> MemoryService:  # noqa: F811 - the fixture
    """What the person at the dashboard stores and reads, in the same memory."""
    return open_memory(AGENT, origin="dashboard", trust="person", quiet=True)


@pytest.fixture
def desk(person: MemoryService) -> Desk:
    """The calls of the page, for which no time passes: a view is never kept because it took long."""
    return Desk(Dashboard(person, "page", clock=lambda: 0.0))


@pytest.fixture
def panel(open_memory: OpenService) -> Desk:  # noqa: F811 - the fixture
    """The calls of a panel in a chat."""
    return Desk(Dashboard(open_memory("you, in Claude", trust="agent", quiet=True), "panel"))


@pytest.fixture
def server(desk: Desk) -> Iterator[DashboardServer]:
    """The server on this machine, in front of the desk."""
    with Worker(lambda: desk) as worker, DashboardServer(worker) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


@pytest.fixture
def page(server: DashboardServer) -> Page:
    """A tab with a session."""
    return Page.opened(server.address)
