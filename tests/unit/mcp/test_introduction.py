"""What a client called itself is noted where the doctor looks."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keepmum.mcp.dialects.handlers import record_client
from keepmum.mcp.surface import Context


def notes(home: Path, name: str, version: str, agent: str = "cursor") -> list[tuple[str, dict[str, str]]]:
    record_client(Context(agent=agent, client_name=name, agent_version=version), os.environ)
    found = sorted((home / ".keepmum").glob("state/heartbeat/*"))
    return [(path.name, json.loads(path.read_text(encoding="utf-8"))) for path in found]


def test_name_and_version_stand_as_they_were_sent(home: Path) -> None:
    said = {"name": "cursor-vscode", "version": "1.0.0"}
    assert notes(home, "cursor-vscode", "1.0.0") == [("cursor.server", said)]


def test_an_agent_of_any_name_has_a_file_within_the_folder(home: Path) -> None:
    ((file, said),) = notes(home, "../x", "", agent="../x")
    assert file.startswith("id.")
    assert said["name"] == "../x"


def test_a_secret_for_a_version_is_not_noted(home: Path) -> None:
    assert notes(home, "x", "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8") == []


def test_without_a_home_nothing_is_noted(home: Path) -> None:
    record_client(Context(agent="cursor"), {})
    assert not (home / ".keepmum").exists()
