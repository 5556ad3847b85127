"""Which client sent a payload: its own signs override the name in the hook file."""

from __future__ import annotations

import pytest

from keepmum_hooks import clients

HINT = "claude-code"


@pytest.mark.parametrize(
    ("payload", "environ", "client"),
    [
        pytest.param({}, {}, HINT, id="no sign, so the hint"),
        pytest.param({"cursor_version": "1.2"}, {}, "cursor", id="Cursor, named in the payload"),
        pytest.param({}, {"CURSOR_VERSION": "1", "CURSOR_PROJECT_DIR": "/p"}, "cursor", id="Cursor by its variables"),
        pytest.param({}, {"CURSOR_VERSION": "1"}, HINT, id="one variable of Cursor, which its terminal may set"),
        pytest.param({}, {"COPILOT_CLI": "1", "CLAUDE_PLUGIN_ROOT": "/p"}, "copilot-cli", id="Copilot CLI"),
        pytest.param({}, {"GEMINI_SESSION_ID": "s", "CLAUDE_PROJECT_DIR": "/p"}, "gemini-cli", id="Gemini CLI"),
        pytest.param(
            {"session_id": "s"},
            {"COPILOT_CLI": "1", "CLAUDE_CODE_SESSION_ID": "s"},
            "claude-code",
            id="Claude Code, started by Copilot CLI",
        ),
        pytest.param(
            {"session_id": "inner"},
            {"COPILOT_CLI": "1", "CLAUDE_CODE_SESSION_ID": "outer"},
            "copilot-cli",
            id="Copilot CLI, started by Claude Code",
        ),
        pytest.param(
            {"session_id": "s", "cursor_version": "1"},
            {"CLAUDE_CODE_SESSION_ID": "s"},
            "cursor",
            id="the payload overrides the environment",
        ),
    ],
)
def test_the_first_sign_names_the_client(payload: dict[str, object], environ: dict[str, str], client: str) -> None:
    assert clients.detect(HINT, payload, environ) == client


@pytest.mark.parametrize("name", sorted(clients.CLIENTS))
def test_a_client_has_every_function(name: str) -> None:
    client = clients.CLIENTS[name]()
    assert all(callable(each) for each in (client.read, client.render, client.read_call, client.refuse))


@pytest.mark.parametrize(
    ("hint", "environ", "client"),
    [
        pytest.param("copilot", {"COPILOT_CLI": "1"}, "copilot-cli", id="the command line, by its variable"),
        pytest.param("copilot", {}, "vscode", id="the editor, which has none"),
        pytest.param("gemini-cli", {"COPILOT_CLI": "1"}, "gemini-cli", id="Gemini CLI, started by Copilot CLI"),
        pytest.param("opencode", {"GEMINI_CWD": "/p"}, "opencode", id="OpenCode, started by Gemini CLI"),
    ],
)
def test_the_name_in_a_hook_file_of_only_one_client_is_used(hint: str, environ: dict[str, str], client: str) -> None:
    assert clients.detect(hint, {}, environ) == client
