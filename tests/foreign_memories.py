"""Memories of other tools: `unit/importers/sources` holds what real packages wrote; the rest is made by hand here."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent / "unit" / "importers" / "sources"

# By hand, after the schema of https://github.com/nihalnihalani/agent-memory, read 2026-11-22.
AGENT_MEMORY = """
CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE NOT NULL, value TEXT NOT NULL,
  type TEXT DEFAULT 'note', context TEXT, agent_id TEXT, created_at TEXT, updated_at TEXT, access_count INTEGER);
CREATE TABLE tags (memory_id INTEGER, tag TEXT NOT NULL, PRIMARY KEY (memory_id, tag));
CREATE TABLE activity_log (id INTEGER PRIMARY KEY, agent_id TEXT NOT NULL, action TEXT NOT NULL);
CREATE TABLE memory_history (id INTEGER PRIMARY KEY, memory_id INTEGER, old_value TEXT NOT NULL, old_type TEXT,
  old_context TEXT, changed_by TEXT, changed_at TEXT);
CREATE VIRTUAL TABLE memories_fts USING fts5(key, value, context, content='memories', content_rowid='id');
INSERT INTO memories VALUES (7, 'db', 'PostgreSQL 16', 'decision', 'JSONB and familiar', 'cursor',
  '2026-01-05 09:30:00', '2026-02-01 08:00:00', 12);
INSERT INTO memories VALUES (8, 'стиль', 'タブを使う 🏁', 'preference', NULL, 'claude-ai',
  '2026-01-06 09:30:00', '2026-01-06 09:30:00', 0);
INSERT INTO tags VALUES (7, 'infra'), (7, 'db');
INSERT INTO activity_log VALUES (1, 'cursor', 'remember');
INSERT INTO memory_history VALUES (1, 7, 'MySQL 8', 'note', NULL, 'claude-ai', '2026-01-20 10:00:00');
INSERT INTO memory_history VALUES (2, 7, 'PostgreSQL 15', 'decision', 'JSONB', 'cursor', '2026-02-01 08:00:00');
"""

# By hand, after the schema of https://github.com/jerry426/token-saver-mcp, read 2026-11-22.
TOKEN_SAVER = """
CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL, value JSON NOT NULL, scope TEXT NOT NULL,
  project_path TEXT, session_id TEXT, created_at TEXT, updated_at TEXT, accessed_at TEXT, created_by TEXT, ttl INTEGER,
  tags TEXT, access_count INTEGER DEFAULT 0, importance INTEGER DEFAULT 3, verbosity INTEGER DEFAULT 2);
INSERT INTO memories VALUES ('7b0f4e52-5c3a-4d1e-9a51-3f1a2b3c4d5e', 'architecture.auth',
  '{"flow":"PKCE","ttl":3600}',
  'project', '/home/ada/shop', NULL, '2026-01-05 09:30:00', '2026-01-06 09:30:00', '2026-02-01 08:00:00', 'claude',
  NULL,
  '["auth","oauth"]', 9, 5, 3);
INSERT INTO memories VALUES ('8c0f4e52-5c3a-4d1e-9a51-3f1a2b3c4d5e', 'shared.context', '"Prefers short answers"',
  'global', NULL, NULL, '2026-01-05 09:30:00', '2026-01-05 09:30:00', '2026-01-05 09:30:00', 'gpt', NULL, NULL, 0, 2,
  1);
INSERT INTO memories VALUES ('9d0f4e52-5c3a-4d1e-9a51-3f1a2b3c4d5e', 'temp.x', '"gone"', 'global', NULL, NULL,
  '2026-01-05 09:30:00', '2026-01-05 09:30:00', NULL, 'claude', 60, NULL, 0, 1, 1);
"""

# By hand, after the schema of https://github.com/Gentleman-Programming/engram, read 2026-11-22.
ENGRAM = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT NOT NULL, directory TEXT NOT NULL, started_at TEXT NOT NULL,
  ended_at TEXT, summary TEXT);
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, type TEXT NOT NULL,
  title TEXT NOT NULL, content TEXT NOT NULL, tool_name TEXT, project TEXT, scope TEXT NOT NULL DEFAULT 'project',
  topic_key TEXT, normalized_hash TEXT, revision_count INTEGER NOT NULL DEFAULT 1,
  duplicate_count INTEGER NOT NULL DEFAULT 1, last_seen_at TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  deleted_at TEXT);
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, content TEXT NOT NULL, project TEXT);
INSERT INTO sessions VALUES ('s-1', 'shop', '/nowhere/shop', '2026-01-05 09:00:00', '2026-01-05 11:00:00',
  'Fixed the basket');
INSERT INTO observations VALUES (1, 's-1', 'bugfix', 'Basket', 'Rounded twice', 'edit', 'shop', 'project', 'bug/basket',
  'abc', 3, 1, '2026-01-07 09:30:00', '2026-01-05 09:30:00', '2026-01-06 09:30:00', NULL);
INSERT INTO observations VALUES (2, 's-1', 'preference', 'Язык', 'Отвечай по-русски', NULL, NULL,
  'personal', NULL, 'd', 1, 1,
  NULL, '2026-01-05 09:31:00', '2026-01-05 09:31:00', NULL);
INSERT INTO observations VALUES (3, 's-1', 'manual', 'Old', 'Deleted there', NULL, 'shop', 'project', NULL, 'e', 1, 1,
  NULL, '2026-01-05 09:32:00', '2026-01-05 09:32:00', '2026-01-05 09:33:00');
INSERT INTO user_prompts VALUES (1, 's-1', 'fix it', 'shop');
"""

# By hand, after src/types.ts of https://github.com/rbrcurtis/shared-agent-memory, read 2026-11-22.
QDRANT: Mapping[str, Any] = {
    "result": {
        "points": [
            {
                "id": "3b0f4e52-5c3a-4d1e-9a51-3f1a2b3c4d5e",
                "payload": {
                    "id": "3b0f4e52-5c3a-4d1e-9a51-3f1a2b3c4d5e", "text": "Deploys go through the blue pool",
                    "title": "Deploys", "agent": "codex", "project": "shop", "tags": ["deploy", "ops"],
                    "created_at": "2026-01-05T09:30:00.000Z", "updated_at": "2026-02-01T08:00:00.000Z",
                    "createdBy": "ada-key", "updatedBy": "bob-key", "last_accessed": "2026-02-02T08:00:00.000Z",
                    "access_count": 5, "stability": 2.79,
                },
                "vector": {"dense": [0.1, 0.2]},
            },
            {
                "id": "4b0f4e52-5c3a-4d1e-9a51-3f1a2b3c4d5e",
                "payload": {
                    "text": "昔のメモ", "title": "Старое", "agent": "cursor", "project": "shop", "tags": [],
                    "created_at": "2025-01-05T09:30:00.000Z", "tombstoned_at": "2025-09-05T09:30:00.000Z",
                },
            },
        ],
        "next_page_offset": None,
    },
    "status": "ok",
}  # fmt: skip

_OLD = "mem_01jh0000000000000000000001"
_NEW = "mem_01jh0000000000000000000002"
# By hand, after the fields that the specification of single users' memory gives.
ENTITIES: list[dict[str, Any]] = [
    {
        "id": _NEW, "userId": "ada", "tier": "long-term", "category": "fact", "content": "Lives in Hamburg",
        "context": "said so", "importance": 0.8, "confidence": 0.9, "tags": ["home"],
        "createdAt": "2026-01-05T09:30:00Z", "lastAccessedAt": "2026-02-01T08:00:00Z", "accessCount": 4,
        "decayFactor": 1.0, "source": {"conversationId": "conv-1", "messageId": "msg-1"}, "supersedes": _OLD,
        "embedding": [0.1],
    },
    {
        "id": _OLD, "userId": "ada", "tier": "mid-term", "category": "fact", "content": "Lives in Прага",
        "importance": 0.5, "confidence": 0.7, "tags": [], "createdAt": "2025-01-05T09:30:00Z", "accessCount": 0,
        "supersededById": _NEW,
    },
]  # fmt: skip
REDIS: Mapping[str, Any] = {
    "memories:ada:index": [_NEW, _OLD],
    f"memory:ada:{_NEW}": json.dumps(ENTITIES[0]),
    f"memory:ada:{_OLD}": {**ENTITIES[1], "importance": "0.5", "tags": "[]"},
    "profile:ada": {"summary": "…"},
}


def database(folder: Path, name: str, sql: str) -> Path:
    path = folder / name
    db = sqlite3.connect(path)
    db.executescript(sql)
    db.commit()
    db.close()
    return path


def stored(name: str) -> Callable[[Path], Path]:
    """Makes a copy of what a real package wrote."""

    def make(folder: Path) -> Path:
        source = SOURCES / name
        if source.name == "basic_memory.json":  # paths in any script, which not every checkout can have
            return files("vault", json.loads(source.read_text()))(folder)
        if source.suffix == ".sql":
            return database(folder, f"{source.stem}.db", source.read_text())
        return Path(shutil.copy(source, folder / name))

    return make


def tables(name: str, sql: str) -> Callable[[Path], Path]:
    return lambda folder: database(folder, name, sql)


def document(name: str, value: object) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
        return path

    return make


def files(name: str, texts: Mapping[str, str]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        for relative, text in texts.items():
            path = folder / name / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder / name

    return make
