"""Every text that tells an agent what to call names tools that its server has, for each dialect and client."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from keepmum.mcp.dialects import DIALECTS
from keepmum.service import opening
from keepmum_hooks.clients import CLIENTS
from keepmum_hooks.tool_names import JOBS, TOOL_NAMES
from keepmum_installers.team import PARAGRAPH
from mcp_process import ServerProcess

pytestmark = pytest.mark.usefixtures("shared_bytecode")

EVERY_TOOL = {tool.name for name in DIALECTS for tool in DIALECTS[name][0].tools}
NAMED_IN_CODE = re.compile(r"`([\w-]+)`")


def tools_named(text: str) -> set[str]:
    """The tools of any dialect that a text names."""
    return set(NAMED_IN_CODE.findall(text)) & EVERY_TOOL


@pytest.fixture(params=tuple(DIALECTS))
def dialect(request: pytest.FixtureRequest, project: Path) -> str:
    """A dialect that the project's settings choose."""
    (project / ".git").mkdir()
    (project / ".keepmum.toml").write_text(f'dialect = "{request.param}"\n', encoding="utf-8")
    return str(request.param)


def hook(root: Path, event: str, client: str, **fields: object) -> str:
    """What a hook of a client answers."""
    payload = {"session_id": "s", "conversation_id": "s", "cwd": str(Path.cwd()), "workspace_roots": [str(Path.cwd())]}
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(root / "hooks" / "run.py"), event, "--client", client],
        input=json.dumps({**payload, **fields}).encode(),
        env={**os.environ, "KEEPMUM_CAPTURE_EVERY": "1", "KEEPMUM_CAPTURE_UNATTENDED": "1"},
        capture_output=True,
        timeout=60,
        check=True,
    )
    return done.stdout.decode()


def test_each_dialect_has_a_row_of_tools_that_it_lists() -> None:
    assert set(TOOL_NAMES) == set(DIALECTS)
    for name, tools in TOOL_NAMES.items():
        assert set(tools) == set(JOBS)
        assert set(filter(None, tools.values())) <= {tool.name for tool in DIALECTS[name][0].tools}


def test_server_and_hooks_name_only_tools_of_the_dialect(root: Path, dialect: str) -> None:
    with opening.open_session(os.environ, "codex") as memory:
        memory.settle()
        memory.remember("Deploys go through the blue pool first", kind="decision")
    command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp"]
    with ServerProcess(command, dict(os.environ)) as server:
        instructions = json.dumps(server.greet(client="claude-code"))
        listed = json.loads(json.dumps(server.ask("tools/list")))["result"]["tools"]
        prompts = "" if dialect != "keepmum" else json.dumps(server.ask("prompts/get", {"name": "capture"}))
    names = {tool["name"] for tool in listed}
    assert tools_named(instructions + prompts + json.dumps(listed)) <= names
    briefing = hook(root, "session-start", "claude-code", hook_event_name="SessionStart", source="startup")
    assert "blue pool" in briefing
    assert tools_named(briefing)
    assert tools_named(briefing) <= names
    captures = [
        hook(root, "stop", "claude-code", hook_event_name="Stop", prompt_id="p"),
        hook(root, "stop", "codex", hook_event_name="Stop", turn_id="t", session_id="codex"),
        hook(root, "stop", "cursor", hook_event_name="stop", generation_id="g", cursor_version="3", status="completed"),
    ]
    for text in captures:
        assert "memory skill" in text
        assert tools_named(text) <= names
        assert bool(tools_named(text)) == (dialect != "keepmum" or text == captures[1])


def test_a_variable_chooses_the_dialect_of_the_texts(
    root: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".git").mkdir()
    monkeypatch.setenv("KEEPMUM_DIALECT", "shared")
    assert "`store_memory`" in hook(root, "stop", "claude-code", hook_event_name="Stop", prompt_id="p")


@pytest.mark.parametrize(
    "path", ["plugin/skills/memory/SKILL.md", "plugin/gemini/skills/memory/SKILL.md", "plugin/rules/keepmum.mdc"]
)
def test_a_committed_text_names_no_tool_since_it_serves_every_dialect(root: Path, path: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert tools_named(text) == set()
    assert tools_named(PARAGRAPH) == set()


def test_the_skill_has_the_name_that_the_capture_prompt_gives(root: Path) -> None:
    assert "\nname: memory\n" in (root / "plugin" / "skills" / "memory" / "SKILL.md").read_text(encoding="utf-8")
    assert json.loads((root / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))["name"] == "keepmum"
    assert len(CLIENTS) >= 7
