"""Each row of the guard's table: memory tools as each client spells them, and files as agents read them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from keepmum_hooks import guard
from keepmum_hooks.event import ToolCall
from keepmum_hooks.guard_rules import GuardRules
from keepmum_hooks.guard_table import NAMES, PATTERNS, WORDS

ENVIRON = {"HOME": "/home/u", "USERPROFILE": "/home/u"}
ROOT = Path(__file__).resolve().parents[3]


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


# Server and tool, as they are configured today.
TOOLS = [
    ("memory", "create_entities"),
    ("memory", "add_observations"),
    ("kg", "create_relations"),
    ("mem0", "add"),
    ("openmemory", "add_memories"),
    ("supermemory", "addMemory"),
    ("claude_ai_supermemory", "memory"),
    ("doobidoo", "memory_store"),
    ("agent-memory-server", "create_long_term_memories"),
    ("engram", "mem_save"),
    ("engram", "mem_session_summary"),
    ("claude-mem", "save"),
    ("plugin_claude-mem_mcp-search", "put"),
    ("hindsight", "retain"),
    ("x", "hindsight_retain"),
    ("mempalace", "add_drawer"),
    ("mnemosyne", "put"),
    ("memento", "put"),
    ("memgpt", "send"),
    ("memvid", "put"),
    ("memobase", "insert"),
    ("usememos", "create"),
    ("recall", "checkpoint"),
    ("second-brain", "put"),
    ("graphiti", "add_triplet"),
    ("x", "add_episode"),
    ("x", "store_episode"),
    ("zep", "add_data"),
    ("cognee", "cognify"),
    ("x", "codify"),
    ("x", "save_interaction"),
    ("byterover-mcp", "byterover-store-knowledge"),
    ("brv", "brv-curate"),
    ("cipher", "ask_cipher"),
    ("lightrag", "insert_text"),
    ("x", "smart_ingest"),
    ("x", "store_fact"),
    ("letta", "update_block"),
    ("x", "archival_insert"),
    ("x", "create_passage"),
    ("x", "insert_archival_memory"),
    ("qdrant", "qdrant-store"),
    ("x", "chroma_add_documents"),
    ("pinecone", "upsert-records"),
    ("weaviate", "insert-object"),
    ("x", "milvus_insert_data"),
    ("lancedb", "add"),
    ("serena", "write_memory"),
    ("serena", "edit_memory"),
    ("basic-memory", "write_note"),
    ("x", "edit-note"),
    ("x", "createNote"),
    ("apple-notes", "create"),
    ("obsidian", "append_content"),
    ("x", "obsidian_patch_content"),
    ("mcp-obsidian", "vault_create"),
    ("notion", "notion-create-pages"),
    ("logseq", "create_page"),
    ("joplin", "create"),
    ("x", "journal_write"),
    ("memory-keeper", "context_save"),
    ("x", "save_context"),
    ("x", "contextSave"),
    ("conport", "log_custom_data"),
    ("x", "update_active_context"),
    ("x", "log_decision"),
    ("x", "contribute_insights"),
    ("x", "record_lesson"),
    ("x", "capture_thought"),
    ("x", "set_user_preferences"),
    ("MEMORY", "SAVE"),
    ("openmem", "put"),
    ("memstore", "put"),
    ("x", "save_session_summary"),
    ("x", "recollect_store"),
    ("rag-server", "add_documents"),
]
HONEST = [
    ("github", "create_issue"),
    ("slack", "add_member"),
    ("github", "list_org_members"),
    ("cache", "memcached_set"),
    ("mongodb", "insert_document"),
    ("browser", "click"),
    ("wiki", "put"),
    ("vault", "write_secret"),
    ("postgres", "query"),
    ("ide", "executeCode"),
    ("jupyter", "notebook_edit"),
    ("linear", "create_comment"),
    ("context7", "query-docs"),
    ("zephyr", "create_test_cycle"),
    ("storage", "put_object"),
    ("sequential-thinking", "sequentialthinking"),
    ("memory", "delete_entities"),
    ("memory", "forget"),
    ("basic-memory", "delete-note"),
    ("plugin_keepmum_memory", "remember"),
    ("keepmum", "remember"),
]

CLIENTS = ("claude-code", "codex", "cursor", "copilot", "gemini-cli", "opencode")


def payload(client: str, server: str, tool: str, arguments: dict[str, Any]) -> bytes:
    """The call of a server's tool as the client sends it."""
    common = {"session_id": "s", "cwd": "/p", "tool_input": arguments}
    if client == "cursor":
        sent = {
            **common, "hook_event_name": "beforeMCPExecution", "cursor_version": "1", "mcp_server_name": server,
            "tool_name": f"MCP:{tool}", "tool_input": json.dumps(arguments),
        }  # fmt: skip
    elif client == "gemini-cli":
        sent = {**common, "hook_event_name": "BeforeTool", "tool_name": f"mcp_{server}_{tool}"}
    elif client == "opencode":
        sent = {**common, "hook_event_name": "tool.execute.before", "tool_name": f"{server}_{tool}"}
    else:
        name = f"{server}-{tool}" if client == "copilot" else f"mcp__{server}__{tool}"
        sent = {**common, "hook_event_name": "PreToolUse", "tool_name": name}
    return json.dumps(sent).encode()


def refused(client: str, server: str, tool: str, text: str) -> bool:
    output = guard.answer(client, payload(client, server, tool, {"body": text}), ENVIRON)
    assert token()[:8] not in output
    return bool(output)


@pytest.mark.parametrize(("server", "tool"), TOOLS, ids=[f"{server} {tool}" for server, tool in TOOLS])
def test_a_secret_for_a_memory_tool_is_refused_in_every_client(server: str, tool: str) -> None:
    assert [client for client in CLIENTS if not refused(client, server, tool, f"use {token()}")] == []


@pytest.mark.parametrize(("server", "tool"), TOOLS, ids=[f"{server} {tool}" for server, tool in TOOLS])
def test_an_honest_text_for_a_memory_tool_is_allowed_in_every_client(server: str, tool: str) -> None:
    assert [client for client in CLIENTS if refused(client, server, tool, "Deploys go through the blue pool.")] == []


@pytest.mark.parametrize(("server", "tool"), HONEST, ids=[f"{server} {tool}" for server, tool in HONEST])
def test_other_tools_are_not_checked(server: str, tool: str) -> None:
    assert not GuardRules(ENVIRON).apply_to(ToolCall(tool=f"mcp__{server}__{tool}", input={"body": token()}))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("change", [str, str.upper, lambda word: word.replace("_", "-")])
def test_each_word_is_found_in_the_name_of_a_tool(word: str, change: Any) -> None:
    rules = GuardRules(ENVIRON)
    assert rules.apply_to(ToolCall(tool=f"mcp__x__{change(word.strip('_'))}", input={}))
    assert rules.apply_to(ToolCall(tool=f"mcp__{change(word.strip('_'))}__put", input={}))


@pytest.mark.parametrize("tool", ["memory", "store_memory", "save_memory", "update_memory"])
def test_the_memory_tools_of_clients_are_checked(tool: str) -> None:
    assert GuardRules(ENVIRON).apply_to(ToolCall(tool=tool, input={}))


# Files that agents read, by the client that reads them.
FILES = [
    ("/p/CLAUDE.md", "Claude Code"),
    ("/p/.claude/skills/deploy/SKILL.md", "Claude Code"),
    ("/p/.claude/skills/deploy/notes.txt", "Claude Code"),
    ("/p/.claude/commands/ship.md", "Claude Code"),
    ("/p/.claude/agents/tester.md", "Claude Code"),
    ("/p/.claude/output-styles/terse.md", "Claude Code"),
    ("~/.claude/rules/a.md", "Claude Code"),
    ("~/.claude/projects/-p/memory/MEMORY.md", "Claude Code"),
    ("AGENTS.override.md", "Codex"),
    ("~/.codex/prompts/a.md", "Codex"),
    ("~/.codex/rules/default.rules", "Codex"),
    ("/p/.agents/skills/x/SKILL.md", "Codex"),
    ("/p/.cursorrules", "Cursor"),
    ("/p/.cursor/commands/a.md", "Cursor"),
    ("/p/.cursor/BUGBOT.md", "Cursor"),
    ("/p/.github/copilot-instructions.md", "Copilot"),
    ("/p/.github/instructions/api.instructions.md", "Copilot"),
    ("/p/.github/prompts/a.prompt.md", "Copilot"),
    ("/p/.github/agents/a.agent.md", "Copilot"),
    ("/p/.github/chatmodes/a.chatmode.md", "Copilot"),
    ("~/.copilot/copilot-instructions.md", "Copilot"),
    ("~/.config/Code/User/prompts/style.instructions.md", "Visual Studio Code"),
    ("/memories/repo/facts.md", "Visual Studio Code"),
    ("~/.gemini/GEMINI.md", "Gemini CLI"),
    ("/p/.gemini/commands/a.toml", "Gemini CLI"),
    ("~/.config/opencode/AGENTS.md", "OpenCode"),
    ("~/.config/opencode/agents/a.md", "OpenCode"),
    ("/p/.opencode/commands/a.md", "OpenCode"),
    ("/p/.opencode/command/a.md", "OpenCode"),
    ("/p/.opencode/agent/a.md", "OpenCode"),
    ("/p/.continuerules", "Continue"),
    ("/p/.windsurfrules", "Windsurf"),
    ("/p/.windsurf/rules/a.md", "Windsurf"),
    ("/p/.windsurf/workflows/a.md", "Windsurf"),
    ("~/.codeium/windsurf/memories/global_rules.md", "Windsurf"),
    ("/p/.clinerules", "Cline"),
    ("/p/.clinerules/01-style.md", "Cline"),
    ("~/Documents/Cline/Rules/a.md", "Cline"),
    ("/p/memory-bank/activeContext.md", "Cline"),
    ("/p/.roo/rules/a.md", "Roo"),
    ("/p/.roo/rules-code/a.md", "Roo"),
    ("/p/.roorules", "Roo"),
    ("/p/.roorules-code", "Roo"),
    ("/p/.kilocode/rules/a.md", "Kilo"),
    ("/p/.kilocode/rules/memory-bank/brief.md", "Kilo"),
    ("/p/.kilo/skills/a/SKILL.md", "Kilo"),
    ("/p/.kiro/steering/product.md", "Kiro"),
    ("~/.kiro/steering/product.md", "Kiro"),
    ("/p/.junie/guidelines.md", "Junie"),
    ("/p/.aiassistant/rules/a.md", "AI Assistant"),
    ("/p/.goosehints", "Goose"),
    ("~/.config/goose/.goosehints", "Goose"),
    ("/p/CRUSH.md", "Crush"),
    ("/p/AGENT.md", "Amp"),
    ("/p/CONVENTIONS.md", "Aider"),
    ("/p/.rules", "Zed"),
    ("/p/.continue/rules/a.md", "Continue"),
    ("/p/.augment/rules/a.md", "Augment"),
    ("/p/.augment-guidelines", "Augment"),
    ("/p/.trae/rules/project_rules.md", "Trae"),
    ("/p/QWEN.md", "Qwen"),
    ("/p/WARP.md", "Warp"),
    ("/p/.agents/workflows/a.md", "Antigravity"),
    ("/p/.agent/rules/a.md", "Antigravity"),
    ("/p/.openhands/microagents/repo.md", "OpenHands"),
    ("/p/JULES.md", "Jules"),
    ("/p/.amazonq/rules/a.md", "Amazon Q"),
    ("/p/.idx/airules.md", "Firebase Studio"),
    ("/p/.tabnine/guidelines/a.md", "Tabnine"),
    ("/p/.factory/droids/a.md", "Factory"),
    ("/p/replit.md", "Replit"),
    ("/p/.hermes.md", "Hermes"),
    ("/p/SOUL.md", "OpenClaw"),
    ("~/.codex/instructions.md", "Codex, older"),
    ("~/.config/goose/memory/a.txt", "Goose"),
    ("/p/codex.md", "Codex, older"),
    ("/p/.cursor/index.mdc", "Cursor"),
    ("/p/.serena/memories/style.md", "Serena"),
    ("/p/.specify/memory/constitution.md", "Spec Kit"),
    ("/p/.brv/context-tree/a.md", "ByteRover"),
    ("~/basic-memory/a.md", "Basic Memory"),
    ("/p/memory.jsonl", "server-memory"),
    ("/p/.memories/a.md", "Koi"),
]


def writes(path: str) -> ToolCall:
    return ToolCall(tool="Write", input={"file_path": path, "content": ""}, cwd="/p", paths=(path,))


@pytest.mark.parametrize("path", [path for path, _ in FILES], ids=[f"{path} of {client}" for path, client in FILES])
def test_a_file_that_agents_read_is_guarded(path: str) -> None:
    rules = GuardRules(ENVIRON)
    assert rules.apply_to(writes(path))
    assert rules.apply_to(writes(path.upper().replace("/P/", "/p/")))
    assert rules.apply_to(writes(path[0] + path[1:].replace("/", "\\")) if path[0] != "~" else writes(path))
    assert rules.apply_to(ToolCall(tool="Bash", input={}, cwd="/p", command=f"echo x >> {path}"))


def example(pattern: str) -> str:
    return pattern.replace("**", "x/y").replace("*", "x")


@pytest.mark.parametrize("row", sorted({*NAMES, *PATTERNS}))
def test_each_row_guards_its_files(row: str) -> None:
    path = example(row)
    assert GuardRules(ENVIRON).apply_to(writes(path if path[0] in "/~" else f"/p/sub/{path}"))


@pytest.mark.parametrize(
    "path",
    [
        "/p/src/agents/loop.py",
        "/p/src/memory/cache.py",
        "/p/rules/a.md",
        "/p/skills/a.md",
        "/p/README.md",
        "/p/docs/memory.md.txt",
        "/p/.github/workflows/ci.yml",
        "/p/.env",
        "/p/.git/config",
        "/p/.config/app.toml",
        "/p/firestore.rules",
        "~/.ssh/config",
    ],
)
def test_other_files_are_not_guarded(path: str) -> None:
    assert not GuardRules(ENVIRON).apply_to(writes(path))


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "/p/CLAUDE.md", "content": ""},
        {"relative_path": ".cursor/rules/a.mdc"},
        {"pathInProject": "AGENTS.md"},
        {"files": [{"path": "src/a.py"}, {"path": ".github/copilot-instructions.md"}]},
        {"paths": ["a", "CLAUDE.md"]},
        {"uri": "file:///p/CLAUDE.md"},
        {"command": "echo x >> CLAUDE.md"},
        {"arguments": {"cmd": "tee AGENTS.md"}},
    ],
)
def test_a_server_that_writes_a_guarded_file_is_checked(arguments: dict[str, Any]) -> None:
    assert GuardRules(ENVIRON).apply_to(ToolCall(tool="mcp__filesystem__run", input=arguments, cwd="/p"))


@pytest.mark.parametrize(
    "arguments", [{"path": "/p/a.py"}, {"content": "CLAUDE.md"}, {"command": "ls"}, {"paths": [7]}]
)
def test_a_server_that_writes_another_file_is_not_checked(arguments: dict[str, Any]) -> None:
    assert not GuardRules(ENVIRON).apply_to(ToolCall(tool="mcp__filesystem__run", input=arguments, cwd="/p"))


# -- what users and projects add ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("settings", ['guard.tools = ["mcp__wiki__*"]', 'guard.servers = ["Wiki"]'])
def test_an_added_name_is_guarded_in_every_client(client: str, settings: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(settings, encoding="utf-8")
    raw = payload(client, "wiki", "put", {"body": token()})
    assert guard.answer(client, raw, {**ENVIRON, "KEEPMUM_HOME": str(tmp_path)})
    assert not guard.answer(client, raw, ENVIRON)


def test_an_added_server_is_its_whole_name() -> None:
    rules = GuardRules(ENVIRON, servers=("wiki", "my-docs"))
    assert rules.apply_to(ToolCall(tool="mcp__plugin_x_wiki__put", input={}))
    assert rules.apply_to(ToolCall(tool="mcp__my-docs__put", input={}))
    assert not rules.apply_to(ToolCall(tool="mcp__wikis__put", input={}))


# -- without a guard ---------------------------------------------------------------------------------------------------


@pytest.fixture
def last_resort() -> ModuleType:
    spec = importlib.util.spec_from_file_location("last_resort", ROOT / "hooks" / "last_resort.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def may_write(module: ModuleType, monkeypatch: pytest.MonkeyPatch, sent: dict[str, Any]) -> bool:
    chunks = [json.dumps(sent).encode(), b""]
    monkeypatch.setattr(module.calls, "read", lambda *_: chunks.pop(0))
    return bool(module._may_write_memory())


def test_a_broken_guard_blocks_each_row(last_resort: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"mcp__x__{word.strip('_')}" for word in WORDS]
    assert [name for name in names if not may_write(last_resort, monkeypatch, {"tool_name": name})] == []
    calls = [{"tool_name": "Write", "tool_input": {"file_path": f"/p/{example(row)}"}} for row in (*NAMES, *PATTERNS)]
    assert [call for call in calls if not may_write(last_resort, monkeypatch, call)] == []


def test_a_broken_guard_lets_other_tools_pass(last_resort: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for server, tool in (("github", "create_issue"), ("browser", "click"), ("keepmum", "remember")):
        assert not may_write(last_resort, monkeypatch, {"tool_name": f"mcp__{server}__{tool}"})
