"""The memory servers, tools and files that the guard covers; data only, with a test for each row.

Users and projects add to these lists under `[guard]` in their settings; nobody can remove from them.
"""

from __future__ import annotations

__all__ = ["CHANCE", "NAMES", "OWN_TOOLS", "PATTERNS", "REMOVING", "WORDS", "WRITING"]

# Parts of the names of memory servers and their tools. "_" stands for any separator or none, as in `createEntities`;
# at the start and the end it demands the boundary of a word. So `_mem_` is in `mem_save`, and not in `member`.
WORDS = (
    # Memories by name, in servers and in the built-in tools of clients.
    # Source: https://github.com/modelcontextprotocol/servers/tree/main/src/memory, https://github.com/mem0ai/mem0,
    # https://github.com/doobidoo/mcp-memory-service and https://code.visualstudio.com/docs/copilot/agents/memory; for
    # these and for the other groups, tool names as public configurations allow them (`mcp__hindsight__retain`,
    # `mcp__letta__insert_archival_memory`, `mcp__memory-keeper__context_save`), read 2026-11-22
    "mem",
    "remember",
    "recall",
    "recollect",
    "_learn_",
    "_persist_",
    "scratchpad",
    "retain",
    "hindsight",
    "engram",
    "mnemo",
    "mnestra",
    "_brain_",
    "second_brain",
    "hippocamp",
    # Knowledge graphs and facts.
    # Source: https://github.com/getzep/graphiti, https://github.com/topoteretes/cognee and
    # https://github.com/campfirein/byterover-cli, read 2026-11-22
    "knowledge",
    "_kg_",
    "create_entities",
    "create_relations",
    "observation",
    "episode",
    "triplet",
    "_fact_",
    "_facts_",
    "graphiti",
    "_zep_",
    "cognee",
    "cognify",
    "codify",
    "save_interaction",
    "byterover",
    "_brv_",
    "_cipher_",
    "lightrag",
    "_rag_",
    "ragflow",
    "add_documents",
    "store_document",
    "index_document",
    "ingest",
    # Notes and journals that agents keep.
    # Source: https://github.com/basicmachines-co/basic-memory and
    # https://github.com/MarkusPfundstein/mcp-obsidian, read 2026-11-22
    "_note_",
    "_notes_",
    "obsidian",
    "logseq",
    "joplin",
    "evernote",
    "onenote",
    "simplenote",
    "standardnotes",
    "anytype",
    "trilium",
    "siyuan",
    "remnote",
    "_roam_",
    "_bear_",
    "notion",
    "append_content",
    "patch_content",
    "journal",
    "zettel",
    "_diary_",
    # The context and the lessons of a session.
    # Source: https://github.com/GreatScottyMac/context-portal and https://github.com/mkreyman/mcp-memory-keeper, read
    # 2026-11-22
    "save_context",
    "store_context",
    "add_context",
    "update_context",
    "context_save",
    "context_store",
    "context_add",
    "context_set",
    "context_update",
    "set_context",
    "project_context",
    "session_context",
    "session_summary",
    "save_session",
    "save_conversation",
    "log_conversation",
    "active_context",
    "product_context",
    "conport",
    "custom_data",
    "log_decision",
    "_decision_",
    "_decisions_",
    "_insight_",
    "_insights_",
    "_learning_",
    "_learnings_",
    "_lesson_",
    "_lessons_",
    "_thought_",
    "_thoughts_",
    "_preference_",
    "_preferences_",
    # Vector stores and agents' archives.
    # Source: https://github.com/qdrant/mcp-server-qdrant and https://github.com/chroma-core/chroma-mcp, read 2026-11-22
    "qdrant",
    "chroma",
    "pinecone",
    "weaviate",
    "milvus",
    "lancedb",
    "pgvector",
    "_vector_",
    "_vectors_",
    "vector_store",
    "upsert_points",
    "faiss",
    "txtai",
    "embedding",
    "archival",
    "passage",
    "letta",
)

# Words that begin like a row above by chance, and are left out of a name first.
CHANCE = ("member", "memcache")

# A tool with the first words and without the second stores nothing: it is how a secret is removed from a memory.
REMOVING = frozenset("delete remove forget purge erase clear drop discard trash prune wipe".split())
WRITING = frozenset(
    "add append create edit ingest insert log patch put record remember replace retain save set store update upsert "
    "write".split()
)

# Our own server scans every write itself, with a clearer refusal.
OWN_TOOLS = ("mcp__plugin_keepmum_memory__", "mcp__keepmum__")

# Names of files that agents read at the start of a session, in any folder; in lower case.
# Source: https://code.claude.com/docs/en/memory, https://agents.md, https://cursor.com/docs/context/rules,
# https://docs.github.com/en/copilot/how-tos/configure-custom-instructions, and the paths in
# https://github.com/intellectronica/ruler and https://github.com/dyoshikawa/rulesync (releases of August 2026), which
# generate these files for forty clients; read 2026-11-22
NAMES = frozenset(
    (
        "claude.md",
        "claude.local.md",
        "agents.md",
        "agents.override.md",
        "agents.local.md",
        "agent.md",
        "gemini.md",
        "memory.md",
        "qwen.md",
        "qwen.local.md",
        "crush.md",
        "crush.local.md",
        "warp.md",
        "jules.md",
        "replit.md",
        "reasonix.md",
        "conventions.md",
        "airules.md",
        "bugbot.md",
        "skill.md",
        "soul.md",
        "identity.md",
        "user.md",
        "tools.md",
        "heartbeat.md",
        "append_system.md",
        "codex.md",
        "copilot.md",
        "cursor.md",
        "grok.md",
        "kimi.md",
        "opencode.md",
        "windsurf.md",
        "copilot-instructions.md",
        ".hermes.md",
        ".rules",
        ".cursorrules",
        ".windsurfrules",
        ".clinerules",
        ".continuerules",
        ".roorules",
        ".kilocoderules",
        ".voidrules",
        ".goosehints",
        ".augment-guidelines",
        "firebender.json",
        "memory.jsonl",
        "memory.json",
    )
)

# Patterns of further files. The folders that clients keep in a folder of their own, such as `.cursor/rules`, have the
# same names in all of them, so the first group covers clients that do not exist yet. Source: as above.
PATTERNS = (
    ".*/agents/**",
    ".*/chatmodes/**",
    ".*/commands/**",
    ".*/droids/**",
    ".*/guidelines/**",
    ".*/guidelines.md",
    ".*/instructions/**",
    ".*/instructions.md",
    ".*/memories/**",
    ".*/memory/**",
    ".*/memory-bank/**",
    ".*/microagents/**",
    ".*/output-styles/**",
    ".*/prompts/**",
    ".*/recipes/**",
    ".*/rules/**",
    ".*/rules-*/**",
    ".*/skills/**",
    ".*/steering/**",
    ".*/subagents/**",
    ".agents/workflows/**",
    ".claude/agent-memory/**",
    ".claude/agent-memory-local/**",
    ".clinerules/**",
    ".roorules-*",
    ".clinerules-*",
    ".brv/**",
    ".engram/**",
    ".memories/**",
    ".memory/**",
    ".opencode/agent/**",
    ".opencode/command/**",
    ".remember/**",
    ".windsurf/workflows/**",
    "basic-memory/**",
    "memory-bank/**",
    ".gemini/system.md",
    "*.mdc",
    "*.instructions.md",
    "*.prompt.md",
    "*.chatmode.md",
    "*.agent.md",
    "windsurf/memories/**",
    "/memories/**",
    "~/.claude/**/memory/**",
    "~/.codex/memories/**",
    "~/.config/*/agents/**",
    "~/.config/*/commands/**",
    "~/.config/*/memory/**",
    "~/.config/*/prompts/**",
    "~/.config/*/rules/**",
    "~/.config/*/skills/**",
    "~/documents/cline/**",
)
