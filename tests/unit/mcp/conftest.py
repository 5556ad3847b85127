"""A conversation after the handshake."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from unit.mcp.conversations import Conversation


@pytest.fixture
def conversation() -> Iterator[Conversation]:
    """A conversation after the handshake; it must still answer a ping at the end of the test."""
    begun = Conversation()
    begun.greet()
    yield begun
    assert begun.ask("ping")["result"] == {}
