"""What the client of Shared Agent Memory sends with each of its tools, and the answers that it was given.

Recorded with the real client (`tests/clients/record_shared_client.py`), and sent again to both engines.
"""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest

from server_app import ENGINES, client_of, keys

RECORDED = json.loads(Path(__file__).with_name("shared_client.json").read_text(encoding="utf-8"))
TOOLS = {
    "store_memory", "search_memory", "load_memories", "list_recent", "update_memory", "delete_memory", "get_config",
}  # fmt: skip
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Names:
    """What the names in the recording stand for here."""

    def __init__(self) -> None:
        self._values = {f"project-{name}": f"{name}-{uuid.uuid4().hex[:8]}" for name in ("one", "two", "three")}
        self.projects = list(self._values.values())
        self._values |= {"<secret>": f"AKIA{'QYLPMN5HHHFPZAM2'}", "<ada>": "ada", "<bob>": "bob", "<wrong>": "wrong"}

    def filled(self, text: str) -> str:
        """A text of a request."""
        for name, value in self._values.items():
            text = text.replace(name, value)
        return text

    def match(self, expected: Any, given: Any) -> Any:
        """`expected` as it should be here; an id that is new is whatever is given."""
        if isinstance(expected, dict) and isinstance(given, dict):
            return {name: self.match(value, given.get(name)) for name, value in expected.items()}
        if isinstance(expected, list) and isinstance(given, list) and len(expected) == len(given):
            return [self.match(one, other) for one, other in zip(expected, given, strict=True)]
        if expected == "<time>":
            return given if isinstance(given, str) and TIME.fullmatch(given) else expected
        if expected == "<score>":
            return given if isinstance(given, float) and given > 0 else expected
        if isinstance(expected, str) and expected.startswith("<id-"):
            return self._values.setdefault(expected, str(uuid.UUID(given)))
        return self.filled(expected) if isinstance(expected, str) else expected


def test_the_recording_has_every_tool_and_every_error() -> None:
    assert {each["tool"] for each in RECORDED["exchanges"]} == TOOLS
    assert {each["status"] for each in RECORDED["exchanges"]} == {200, 201, 400, 401, 403, 404}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_client_gets_the_answers_that_it_understood(engine: str, tmp_path: Path) -> None:
    names = Names()
    one, two, three = names.projects
    with client_of(engine, tmp_path, keys(ada=[one, two], bob=[three])) as client:
        for number, each in enumerate(RECORDED["exchanges"]):
            key = {"authorization": f"Bearer {names.filled(each['key'])}"}
            answer = client.request(
                each["method"],
                names.filled(each["path"]),
                content=names.filled(each["body"]).encode() or None,
                headers={**RECORDED["headers"], **each["headers"], **key},
            )
            given = answer.json()
            place = f"request {number}, {each['tool']}"
            assert (place, answer.status_code, given) == (place, each["status"], names.match(each["answer"], given))
            assert list(given) == list(each["answer"])
