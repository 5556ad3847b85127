from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from unit.server.tabs import Served, serving


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server with a memory in each of two projects."""
    with serving(tmp_path) as one:
        yield one
