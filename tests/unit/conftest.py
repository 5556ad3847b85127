"""A team's server on loopback, for the tests of what speaks with one."""

from __future__ import annotations

import pytest
from pytest_httpserver import HTTPServer

from rest_server import FakeServer, behind


@pytest.fixture
def fake() -> FakeServer:
    """A server of the first API, with nothing in it."""
    return FakeServer()


@pytest.fixture
def origin(httpserver: HTTPServer, fake: FakeServer) -> str:
    """The address that it answers under."""
    return behind(httpserver, fake)
