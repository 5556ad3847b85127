"""A conversation of a client with the server, at the point where both have greeted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from unit.mcp.conversations import Conversation


@pytest.fixture
def conversation() -> Iterator[Conversation]:
    """A conversation that has begun."""
    begun = Conversation()
    begun.greet()
    yield begun
    assert begun.ask("ping")["result"] == {}  # whatever a test did, the conversation lives on
