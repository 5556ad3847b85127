"""The guard refuses a value that another field of the same call names a credential."""

from __future__ import annotations

import json

import pytest

from guard_gate import Gate
from keepmum.guard.gate import judge
from keepmum_scanner import scan
from related_fields import HALVES, VALUES, honest, leaks, strings

SECRET = "tiger copper lantern ribbon"


@pytest.mark.parametrize("half", HALVES)
def test_a_value_that_another_field_names_is_refused(half: str) -> None:
    cases = [record for kind in VALUES for _, record, _ in leaks(HALVES[half], kind, 1, "guard")]
    assert sum(Gate().call(record).answer is None for record in cases) <= 0.02 * len(cases)


@pytest.mark.parametrize("half", HALVES)
def test_an_honest_call_passes(half: str) -> None:
    cases = [record for _, record in honest(HALVES[half], 5, "guard") if not any(map(scan, strings(record)))]
    assert sum(Gate().call(record).answer is not None for record in cases) <= 0.005 * len(cases)


def test_a_refusal_names_the_field() -> None:
    refusal = Gate().refusal({"entities": [{"name": "staging root password", "observations": [SECRET]}]})
    assert "secret.password in entities[0].observations[0], line 1" in refusal
    assert SECRET not in refusal


def test_a_name_that_is_given_twice_is_read_both_times() -> None:
    arguments = json.dumps({"title": "notes", "text": SECRET})
    line = f'{{"method": "tools/call", "id": 1, "params": {{"name": "x", "arguments": {arguments}}}}}'
    line = line.replace('"title"', '"title": "root password", "title"')
    assert judge(line.encode() + b"\n").forward == b""


def test_the_name_of_the_tool_names_no_value() -> None:
    message = {"id": 1, "method": "tools/call", "params": {"name": "save_password", "arguments": {"text": SECRET}}}
    assert Gate().judge(message).answer is None
