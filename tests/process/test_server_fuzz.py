"""Requests made from the server's own OpenAPI document: no internal error, and no answer that it does not describe.

The tests send a seeded slice; `python tests/process/test_server_fuzz.py sqlite 500` sends 500 requests for each
operation, valid and invalid ones.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    ROOT = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(ROOT / name) for name in ("tests", "plugin", "scanner", "hooks", "installers")]

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis.core.errors import SerializationNotPossible
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks
from starlette.testclient import TestClient

from keepmum.server.docs import OPENAPI
from server_app import ENGINES, client_of, keys

pytestmark = pytest.mark.heavy

CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
ENDLESS = {"/api/v2/events"}  # streams
KEY = "root"
NO_LIMITS = {"reads_per_minute": 0, "writes_per_minute": 0}
PASSED_ON = ("params", "json", "data", "content", "headers")


class Fuzz:
    """Sends generated requests; `failures` has the first of each kind."""

    def __init__(self, client: TestClient, examples: int, seed: int) -> None:
        self.failures: dict[tuple[str, str], str] = {}
        self.sent = 0
        self._client = client
        self._examples = examples
        self._seed = seed
        self._known = self._memories()

    def run(self) -> None:
        """Send requests to every operation of the document."""
        schema = schemathesis.openapi.from_dict(json.loads(Path(OPENAPI).read_text(encoding="utf-8")))
        for result in schema.get_all_operations():
            assert isinstance(result, Ok)
            operation = result.ok()
            if operation.path not in ENDLESS:
                for mode in schemathesis.GenerationMode:
                    self._send_all(operation, mode)

    def _memories(self) -> list[str]:
        """The ids of some memories, so that not every generated id is unknown."""
        body = {"text": "a memory", "title": "its title", "project": "api"}
        made = [
            self._client.post("/api/v1/memories", json={**body, "text": f"a memory {n}"}, headers=_auth({}))
            for n in range(3)
        ]
        return [answer.json()["data"]["id"] for answer in made]

    def _send_all(self, operation: Any, mode: schemathesis.GenerationMode) -> None:
        @hypothesis.settings(
            max_examples=self._examples, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )  # fmt: skip
        @hypothesis.seed(self._seed)
        @hypothesis.given(operation.as_strategy(generation_mode=mode))
        def send(case: Any) -> None:
            self._send(case)

        try:
            send()
        except (hypothesis.errors.Unsatisfiable, SerializationNotPossible):
            return  # nothing about this operation can be invalid, or its body is not JSON

    def _send(self, case: Any) -> None:
        self.sent += 1
        if case.path_parameters and "id" in case.path_parameters and self.sent % 2:
            case.path_parameters["id"] = self._known[self.sent % len(self._known)]
        given = case.as_transport_kwargs(base_url="http://127.0.0.1:3100")
        method, url = given["method"], given["url"]
        passed = {name: given[name] for name in PASSED_ON if given.get(name) is not None}
        if isinstance(passed.get("data"), (bytes, str)):
            passed["content"] = passed.pop("data")
        passed["headers"] = _auth(passed.get("headers") or {})
        try:
            answer = self._client.request(method, url, **passed)
        except (UnicodeError, ValueError):  # the client cannot send it
            return
        try:
            case.validate_response(answer, checks=CHECKS)
        except (Failure, FailureGroup) as failure:
            kinds = failure.exceptions if isinstance(failure, FailureGroup) else [failure]
            for one in kinds:
                self.failures.setdefault(
                    (case.operation.label, type(one).__name__), f"{one}\n{case.as_curl_command()}\n{answer.text[:500]}"
                )


def _auth(headers: Mapping[str, str]) -> dict[str, str]:
    return {**headers, "Authorization": f"Bearer {KEY}"}


@pytest.fixture(params=ENGINES)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TestClient]:
    with client_of(request.param, tmp_path, keys(root=None), NO_LIMITS) as served:
        yield served


def test_the_server_answers_as_its_document_says(client: TestClient) -> None:
    fuzz = Fuzz(client, examples=1, seed=1)
    fuzz.run()
    assert fuzz.failures == {}
    assert fuzz.sent > 50


if __name__ == "__main__":
    engine, examples, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm") as folder,
        client_of(engine, Path(folder), keys(root=None), NO_LIMITS) as chosen,
    ):
        by_hand = Fuzz(chosen, examples, seed)
        by_hand.run()
    for (label, kind), text in by_hand.failures.items():
        sys.stdout.write(f"{label}: {kind}\n{text}\n\n")
    sys.stdout.write(f"{by_hand.sent} requests, {len(by_hand.failures)} kinds of failure\n")
