"""Refusals name rule, field and line, and never the secret."""

from __future__ import annotations

import pytest

from guard_gate import Gate
from hidden import assert_hidden


def test_refusal_has_rule_field_line_and_advice(gate: Gate, token: str) -> None:
    refusal = gate.refusal({"entities": [{"observations": ["fine", f"first line\nkey {token}"]}]})
    assert "github.token in entities[0].observations[1], line 2" in refusal
    assert "vault path" in refusal


def test_refusal_repeats_nothing_of_the_secret(gate: Gate, token: str) -> None:
    refusal = gate.refusal({"text": f"around {token} it", token: token, "deep": {f"x{token}": [token]}})
    assert "around" not in refusal
    assert not [token[at : at + 5] for at in range(4, len(token) - 5) if token[at : at + 5] in refusal]


def test_random_looking_field_name_is_not_repeated(gate: Gate, token: str) -> None:
    assert "(a name)" in gate.refusal({"k3y4ndV4lue9": token})


def test_field_name_with_a_piece_of_the_secret_is_not_repeated(gate: Gate, token: str) -> None:
    assert_hidden(token[4:9], gate.refusal({f"params{token[4:9]}": token}))


def test_many_findings_are_summarised(gate: Gate, token: str) -> None:
    refusal = gate.refusal({f"field_{chr(97 + at)}": token for at in range(26)})
    assert "and 16 more" in refusal


@pytest.mark.parametrize("request_id", [0, 7, "abc", 1.5, -1])
def test_refusal_has_the_id_of_the_call(gate: Gate, token: str, request_id: object) -> None:
    verdict = gate.call({"text": token}, id=request_id)
    assert isinstance(verdict.answer, dict)
    assert verdict.answer["id"] == request_id
