"""The proxy applies the allowlist to calls and results; refusals name the fingerprints to allow."""

from __future__ import annotations

import json
import os

import pytest

from guard_gate import Gate
from hidden import assert_hidden
from keepmum.guard.results import masked
from keepmum.workspace.allowlist import Allowed, Allowlist


@pytest.fixture
def allowlist() -> Allowlist:
    return Allowlist(os.environ["KEEPMUM_HOME"])


def allow_findings(allowlist: Allowlist, refusal: str) -> None:
    for fingerprint in refusal.rpartition("Fingerprint: ")[2].rstrip(".").split(", "):
        allowlist.add(Allowed(fingerprint, "made up", "2026-11-21"))


def test_allowlisted_call_passes_byte_for_byte(gate: Gate, token: str, allowlist: Allowlist) -> None:
    allow_findings(allowlist, gate.refusal({"text": f"use {token}"}))
    verdict = gate.call({"text": f"use {token}"})
    assert (verdict.answer, token.encode() in verdict.forward) == (None, True)


def test_second_secret_in_an_allowlisted_text_is_refused(gate: Gate, token: str, allowlist: Allowlist) -> None:
    allow_findings(allowlist, gate.refusal({"text": f"use {token}"}))
    assert "github.token in text, line 2" in gate.refusal({"text": f"{token}\n{token[:4]}{token[4:][::-1]}"})


def test_allowlisted_result_is_not_masked(gate: Gate, token: str, allowlist: Allowlist) -> None:
    line = json.dumps({"id": 1, "result": {"content": [{"type": "text", "text": f"use {token}"}]}}).encode() + b"\n"
    assert_hidden(token.encode(), masked(line))
    allow_findings(allowlist, gate.refusal({"text": f"use {token}"}))
    assert masked(line) == line


def test_damaged_allowlist_allows_nothing(gate: Gate, token: str, allowlist: Allowlist) -> None:
    allow_findings(allowlist, gate.refusal({"text": f"use {token}"}))
    with open(os.path.join(os.environ["KEEPMUM_HOME"], "allow.toml"), "a", encoding="utf-8") as file:
        file.write("[[allowed]\n")
    assert "github.token" in gate.refusal({"text": f"use {token}"})
