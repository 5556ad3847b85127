"""The proxy honours what a person allowed, both ways, and names what they can allow."""

from __future__ import annotations

import json
import os

import pytest

from guard_gate import Gate
from hidden import assert_hidden
from keepmum.guard.results import masked
from keepmum.workspace.allowlist import Allowed, Allowlist


@pytest.fixture
def allowed() -> Allowlist:
    return Allowlist(os.environ["KEEPMUM_HOME"])


def allow_what_was_refused(allowed: Allowlist, refusal: str) -> None:
    for fingerprint in refusal.rpartition("Fingerprint: ")[2].rstrip(".").split(", "):
        allowed.add(Allowed(fingerprint, "made up", "2026-11-21"))


def test_a_call_that_was_allowed_passes_byte_for_byte(gate: Gate, token: str, allowed: Allowlist) -> None:
    allow_what_was_refused(allowed, gate.refusal({"text": f"use {token}"}))
    verdict = gate.call({"text": f"use {token}"})
    assert (verdict.answer, token.encode() in verdict.forward) == (None, True)


def test_another_secret_beside_it_is_refused(gate: Gate, token: str, allowed: Allowlist) -> None:
    allow_what_was_refused(allowed, gate.refusal({"text": f"use {token}"}))
    assert "github.token in text, line 2" in gate.refusal({"text": f"{token}\n{token[:4]}{token[4:][::-1]}"})


def test_a_result_that_was_allowed_is_not_masked(gate: Gate, token: str, allowed: Allowlist) -> None:
    line = json.dumps({"id": 1, "result": {"content": [{"type": "text", "text": f"use {token}"}]}}).encode() + b"\n"
    assert_hidden(token.encode(), masked(line))
    allow_what_was_refused(allowed, gate.refusal({"text": f"use {token}"}))
    assert masked(line) == line


def test_a_damaged_list_allows_nothing(gate: Gate, token: str, allowed: Allowlist) -> None:
    allow_what_was_refused(allowed, gate.refusal({"text": f"use {token}"}))
    with open(os.path.join(os.environ["KEEPMUM_HOME"], "allow.toml"), "a", encoding="utf-8") as file:
        file.write("[[allowed]\n")
    assert "github.token" in gate.refusal({"text": f"use {token}"})
