"""Findings, their redaction, and allowed findings."""

import copy
import pickle

import pytest

import keepmum_scanner
from keepmum_scanner import Finding, allow, redact, scan

GITHUB = "gh" + "p_" + "a1B2" * 9


def test_exported_names() -> None:
    assert keepmum_scanner.__all__ == ["Finding", "allow", "redact", "scan"]


@pytest.mark.parametrize("name", ["rule", "start", "text"])
def test_finding_is_frozen(name: str) -> None:
    finding = Finding("jwt", 0, 4, 0.9)
    with pytest.raises(AttributeError, match="frozen"):
        setattr(finding, name, "other")
    with pytest.raises(AttributeError, match="frozen"):
        delattr(finding, name)


def test_findings_with_equal_fields_are_one_value() -> None:
    assert Finding("jwt", 0, 4, 0.9, "ab") == Finding("jwt", 0, 4, 0.9, "ab")
    assert len({Finding("jwt", 0, 4, 0.9), Finding("jwt", 0, 4, 0.9), Finding("jwt", 0, 5, 0.9)}) == 2
    assert Finding("jwt", 0, 4, 0.9) != Finding("jwt", 0, 4, 0.9, "ab")


def test_finding_can_be_copied_and_sent() -> None:
    finding = Finding("jwt", 0, 4, 0.9, "ab")
    assert copy.deepcopy(finding) == pickle.loads(pickle.dumps(finding)) == finding


def test_repr_shows_rule_and_position() -> None:
    assert repr(Finding("jwt", 3, 9, 0.9)) == "Finding('jwt', 3, 9, confidence=0.90)"


def test_redaction_contains_the_rule() -> None:
    text = f"push with {GITHUB}, then pull"
    assert redact(text, scan(text)) == "push with [github.token removed], then pull"


def test_redaction_without_findings_changes_nothing() -> None:
    assert redact("a plain note", []) == "a plain note"


def test_redaction_accepts_findings_in_any_order() -> None:
    assert redact("abcdef", [Finding("two", 4, 6, 1), Finding("one", 0, 2, 1)]) == "[one removed]cd[two removed]"


def test_redaction_removes_hidden_characters() -> None:
    text = "push with " + "\u200b".join(GITHUB) + "!"
    assert redact(text, scan(text)) == "push with [github.token removed]!"


def test_fingerprint_needs_a_key() -> None:
    (finding,) = scan(f"push with {GITHUB}")
    assert finding.fingerprint == ""


def test_fingerprint_is_the_same_for_the_same_secret() -> None:
    (first,) = scan(f"push with {GITHUB}", key=b"k")
    (second,) = scan("elsewhere: " + "\u200b".join(GITHUB), key=b"k")
    assert first.fingerprint == second.fingerprint
    assert len(first.fingerprint) == 32


def test_fingerprint_depends_on_key_and_secret() -> None:
    prints = {scan(text, key=key)[0].fingerprint for text in (GITHUB, GITHUB + "x") for key in (b"k", b"l")}
    assert len(prints) == 4


def test_allowed_finding_is_left_out() -> None:
    findings = scan(f"{GITHUB} and postgres://u:" + "pw12@host", key=b"k")
    assert [one.rule for one in allow(findings, {findings[0].fingerprint})] == ["url.password"]


def test_finding_without_fingerprint_cannot_be_allowed() -> None:
    findings = scan(GITHUB)
    assert allow(findings, {""}) == findings
