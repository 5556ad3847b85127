"""When npm cannot provide a program, tests are skipped soon and with the reason."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest

from clients.npm import Unavailable, fetched

LIMIT = 60  # seconds; with npm's own patience the registry below would be asked for 70


def test_without_npm_there_is_a_reason_and_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="npm is not on this machine"):
        fetched(tmp_path / "cache", "a-package", "1.0.0", "a-package/program")


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on this machine")
def test_a_registry_that_cannot_be_reached_is_named_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as nobody:  # bound, and listening to no one: a connection is refused
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{port}/")
        with pytest.raises(Unavailable, match=r"npm could not fetch a-package@1\.0\.0"):
            fetched(tmp_path / "cache", "a-package", "1.0.0", "a-package/program", limit=LIMIT)
