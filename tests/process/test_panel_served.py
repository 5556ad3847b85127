"""The panel over a real server: one client stores, another client's panel shows it with who and why."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mcp_process import ServerProcess

pytestmark = pytest.mark.usefixtures("shared_bytecode")

APPS = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}


def _ask(server: ServerProcess, tool: str, **arguments: object) -> Any:
    result: Any = server.call(tool, **arguments)["result"]
    assert not result.get("isError"), result
    return json.loads(result["content"][0]["text"])


@pytest.mark.parametrize("dialect", ["keepmum", "hackathon"])
def test_what_one_client_stores_anothers_panel_shows_and_corrects(root: Path, project: Path, dialect: str) -> None:
    command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp", "--dialect", dialect]
    assert project.is_dir()
    with ExitStack() as stack:
        claude, chat = (stack.enter_context(ServerProcess(command, dict(os.environ))) for _ in range(2))
        claude.greet(client="claude-code")
        chat.greet(client="chatgpt", capabilities=APPS)
        stored = {
            "keepmum": {"text": "Payments retry 3 times", "why": "the provider bans bursts", "key": "payments.retry"},
            "hackathon": {
                "value": "Payments retry 3 times",
                "context": "the provider bans bursts",
                "key": "payments.retry",
            },
        }
        assert "isError" not in str(claude.call("remember", **stored[dialect]))
        (row,) = _ask(chat, "memory_view", view="memories", args={"query": "how often do payments retry"})["data"][
            "rows"
        ]
        assert (row["key"], row["agent"]) == ("payments.retry", "claude-code")
        shown = _ask(chat, "memory_view", view="memory", args={"id": row["id"]})["data"]["memory"]
        assert (shown["text"], shown["why"]) == ("Payments retry 3 times", "the provider bans bursts")
        done = _ask(
            chat, "memory_change", do="edit",
            args={"id": row["id"], "revision": row["revision"], "text": "Payments retry 4 times"},
        )  # fmt: skip
        assert done["data"]["said"].startswith("Changed")
        assert "4 times" in str(claude.call("recall", query="how often do payments retry"))
        last = _ask(chat, "memory_view", view="activity", args={"what": "writes"})["data"]["entries"][0]
        assert (last["agent"], last["action"]) == ("you, in ChatGPT", "updated")
        page: Any = chat.ask("resources/read", {"uri": "ui://keepmum/memory"})["result"]
        assert page["contents"][0]["_meta"] == {"ui": {"prefersBorder": False}}
        assert page["contents"][0]["text"] == (root / "plugin/keepmum/dashboard/panel.html").read_text(encoding="utf-8")


def test_a_client_that_cannot_show_it_can_call_none_of_it(root: Path, project: Path) -> None:
    assert project.is_dir()
    command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp"]
    with ServerProcess(command, dict(os.environ)) as server:
        server.greet(client="codex")
        for tool in ("memory_dashboard", "memory_view", "memory_change"):
            assert "error" in server.call(tool)
        assert "error" in server.ask("resources/read", {"uri": "ui://keepmum/memory"})
