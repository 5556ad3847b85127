"""What process tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def shared_bytecode(home: Path, share_bytecode: Callable[[Path], None]) -> None:
    """Gives the processes of this test the bytecode that those of other tests made."""
    share_bytecode(home / ".keepmum")
