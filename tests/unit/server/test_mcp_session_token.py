"""The signed session id of MCP over HTTP."""

from __future__ import annotations

import pytest

from keepmum.server.mcp import session_token

SECRET = b"s" * 32
NOW = 1_790_000_000.0


def made(secret: bytes = SECRET, principal: str = "ada") -> str:
    return session_token.make(secret, principal, "claude-code", "2.1", NOW)


def test_another_process_with_the_secret_reads_it() -> None:
    token = session_token.read(SECRET, made(), "ada", NOW + 1)
    assert token is not None
    assert token[:3] == ("ada", "claude-code", "2.1")


def test_two_sessions_of_a_client_differ() -> None:
    assert made() != made()


@pytest.mark.parametrize(
    ("text", "principal", "now"),
    [
        pytest.param(made(b"t" * 32), "ada", NOW, id="signed by another server"),
        pytest.param(made(), "bob", NOW, id="of another principal"),
        pytest.param(made(), "ada", NOW + 40 * 86_400, id="expired"),
        pytest.param("x" + made(), "ada", NOW, id="changed"),
        pytest.param(made()[:-1], "ada", NOW, id="cut"),
        pytest.param(made().partition(".")[0], "ada", NOW, id="unsigned"),
        pytest.param("é.ü", "ada", NOW, id="not ASCII"),
        pytest.param("", "ada", NOW, id="empty"),
        pytest.param(".", "ada", NOW, id="a dot"),
        pytest.param("a" * 100_000, "ada", NOW, id="too long"),
    ],
)
def test_others_are_ignored(text: str, principal: str, now: float) -> None:
    assert session_token.read(SECRET, text, principal, now) is None
