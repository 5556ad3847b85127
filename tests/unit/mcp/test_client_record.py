"""The name and version of a client are recorded for the doctor."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keepmum.mcp.dialects.handlers import record_client
from keepmum.mcp.surface import Context


def record(home: Path, name: str, version: str, agent: str = "cursor") -> list[tuple[str, dict[str, str]]]:
    record_client(Context(agent=agent, client_name=name, agent_version=version), os.environ)
    found = sorted((home / ".keepmum").glob("state/heartbeat/*"))
    return [(path.name, json.loads(path.read_text(encoding="utf-8"))) for path in found]


def test_name_and_version_are_recorded_as_sent(home: Path) -> None:
    recorded = {"name": "cursor-vscode", "version": "1.0.0"}
    assert record(home, "cursor-vscode", "1.0.0") == [("cursor.server", recorded)]


def test_agent_name_cannot_escape_the_heartbeat_folder(home: Path) -> None:
    ((file, recorded),) = record(home, "../x", "", agent="../x")
    assert file.startswith("id.")
    assert recorded["name"] == "../x"


def test_version_that_looks_like_a_secret_is_not_recorded(home: Path) -> None:
    assert record(home, "x", "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8") == []


def test_nothing_is_recorded_without_a_home(home: Path) -> None:
    record_client(Context(agent="cursor"), {})
    assert not (home / ".keepmum").exists()
