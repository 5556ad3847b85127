"""What `scan` catches and what it lets pass, as a person would tell it."""

import pytest

from keepmum_scanner import scan

GITHUB = "gh" + "p_" + "a1B2" * 9
SHA1 = "94ee59639f242537a8880045a76eadde5211c2a9"
SHA256 = SHA1 + "0a1b2c3d4e5f60718293a4b5"


def rules(text: str) -> list[str]:
    return [finding.rule for finding in scan(text)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(f"fixed in {SHA1}", id="SHA-1"),
        pytest.param(f"image sha256:{SHA256}", id="digest"),
        pytest.param("session 2ec8128b-ee80-4222-b58a-570990994454 failed", id="UUID"),
        pytest.param("memory mem_01ARZ3NDEKTSV4RRFFQ69G5FAV", id="ULID"),
        pytest.param("see #2763/#2774", id="issue numbers"),
        pytest.param("it is task-while-still-running and risk-based-ish", id="kebab words"),
        pytest.param("password: process.env.DB_PASSWORD", id="process.env"),
        pytest.param("password=${DB_PASSWORD}", id="variable"),
    ],
)
def test_harmless_text_passes(text: str):
    assert rules(text) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param(f"push with {GITHUB}", "github.token", id="GitHub token"),
        pytest.param("postgres://user:" + "pass@host", "url.password", id="postgres"),
        pytest.param("https://user:" + "pass@host", "url.password", id="https"),
        pytest.param("mongodb+srv://u:" + "p@cluster", "url.password", id="mongodb"),
    ],
)
def test_secret_is_found(text: str, rule: str):
    assert rules(text) == [rule]
