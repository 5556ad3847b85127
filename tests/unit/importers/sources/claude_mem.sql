CREATE TABLE schema_versions (
        id INTEGER PRIMARY KEY,
        version INTEGER UNIQUE NOT NULL,
        applied_at TEXT NOT NULL
      );
INSERT INTO "schema_versions" VALUES (1, 4, '2026-11-22T22:20:54.253Z');
INSERT INTO "schema_versions" VALUES (2, 5, '2026-11-22T22:20:54.254Z');
INSERT INTO "schema_versions" VALUES (3, 6, '2026-11-22T22:20:54.254Z');
INSERT INTO "schema_versions" VALUES (4, 7, '2026-11-22T22:20:54.257Z');
INSERT INTO "schema_versions" VALUES (5, 8, '2026-11-22T22:20:54.258Z');
INSERT INTO "schema_versions" VALUES (6, 9, '2026-11-22T22:20:54.268Z');
INSERT INTO "schema_versions" VALUES (7, 10, '2026-11-22T22:20:54.269Z');
INSERT INTO "schema_versions" VALUES (8, 11, '2026-11-22T22:20:54.270Z');
INSERT INTO "schema_versions" VALUES (9, 16, '2026-11-22T22:20:54.270Z');
INSERT INTO "schema_versions" VALUES (10, 17, '2026-11-22T22:20:54.270Z');
INSERT INTO "schema_versions" VALUES (11, 20, '2026-11-22T22:20:54.271Z');
INSERT INTO "schema_versions" VALUES (12, 21, '2026-11-22T22:20:54.271Z');
INSERT INTO "schema_versions" VALUES (13, 22, '2026-11-22T22:20:54.271Z');
INSERT INTO "schema_versions" VALUES (14, 23, '2026-11-22T22:20:54.271Z');
INSERT INTO "schema_versions" VALUES (15, 24, '2026-11-22T22:20:54.282Z');
INSERT INTO "schema_versions" VALUES (16, 26, '2026-11-22T22:20:54.282Z');
INSERT INTO "schema_versions" VALUES (17, 27, '2026-11-22T22:20:54.283Z');
INSERT INTO "schema_versions" VALUES (18, 29, '2026-11-22T22:20:54.290Z');
INSERT INTO "schema_versions" VALUES (19, 30, '2026-11-22T22:20:54.291Z');
INSERT INTO "schema_versions" VALUES (20, 31, '2026-11-22T22:20:54.292Z');
INSERT INTO "schema_versions" VALUES (21, 28, '2026-11-22T22:20:54.292Z');
INSERT INTO "schema_versions" VALUES (22, 32, '2026-11-22T22:20:54.302Z');
INSERT INTO "schema_versions" VALUES (23, 33, '2026-11-22T22:20:54.302Z');
INSERT INTO "schema_versions" VALUES (24, 34, '2026-11-22T22:20:54.304Z');
INSERT INTO "schema_versions" VALUES (25, 35, '2026-11-22T22:20:54.320Z');
INSERT INTO "schema_versions" VALUES (26, 39, '2026-11-22T22:20:54.322Z');
INSERT INTO "schema_versions" VALUES (27, 41, '2026-11-22T22:20:54.323Z');
INSERT INTO "schema_versions" VALUES (28, 42, '2026-11-22T22:20:54.324Z');
INSERT INTO "schema_versions" VALUES (29, 44, '2026-11-22T22:20:54.324Z');
INSERT INTO "schema_versions" VALUES (30, 45, '2026-11-22T22:20:54.324Z');
INSERT INTO "schema_versions" VALUES (31, 46, '2026-11-22T22:20:54.325Z');
INSERT INTO "schema_versions" VALUES (32, 47, '2026-11-22T22:20:54.325Z');
INSERT INTO "schema_versions" VALUES (33, 48, '2026-11-22T22:20:54.325Z');
INSERT INTO "schema_versions" VALUES (34, 49, '2026-11-22T22:20:54.326Z');
INSERT INTO "schema_versions" VALUES (35, 50, '2026-11-22T22:20:54.326Z');
INSERT INTO "schema_versions" VALUES (36, 51, '2026-11-22T22:20:54.327Z');
INSERT INTO "schema_versions" VALUES (37, 52, '2026-11-22T22:20:54.327Z');
CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        content_session_id TEXT NOT NULL,
        memory_session_id TEXT UNIQUE,
        project TEXT NOT NULL,
        platform_source TEXT NOT NULL DEFAULT 'claude',
        user_prompt TEXT,
        started_at TEXT NOT NULL,
        started_at_epoch INTEGER NOT NULL,
        completed_at TEXT,
        completed_at_epoch INTEGER,
        status TEXT CHECK(status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active'
      , worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT, observed_model TEXT, observed_billing TEXT);
INSERT INTO "sdk_sessions" VALUES (1, 'content-1', 'memory-1', 'shop', 'claude', 'Fix the basket', '2026-11-22T22:20:54.328Z', 1795386054328, NULL, NULL, 'active', NULL, 0, NULL, NULL, NULL);
INSERT INTO "sdk_sessions" VALUES (2, 'content-2', 'memory-2', 'ドキュメント', 'cursor', 'Опиши выпуск', '2026-11-22T22:20:54.329Z', 1795386054329, NULL, NULL, 'active', NULL, 0, NULL, NULL, NULL);
CREATE TABLE "session_summaries" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        request TEXT,
        investigated TEXT,
        learned TEXT,
        completed TEXT,
        next_steps TEXT,
        files_read TEXT,
        files_edited TEXT,
        notes TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO "session_summaries" VALUES (1, 'memory-1', 'shop', 'Fix the basket', 'cart.ts', 'Two places rounded', 'One is left', 'Add a test', '[]', '[]', NULL, 2, '2026-01-06T09:30:01.000Z', 1767691801000, 9, NULL, NULL, NULL, NULL, '1');
CREATE TABLE "observations" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        text TEXT,
        type TEXT NOT NULL,
        title TEXT,
        subtitle TEXT,
        facts TEXT,
        narrative TEXT,
        concepts TEXT,
        files_read TEXT,
        files_modified TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT, agent_id TEXT, metadata TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO "observations" VALUES (1, 'memory-1', 'shop', NULL, 'bugfix', 'Basket total was rounded twice', 'Totals of 3 items were off by a cent', '["round() was called in cart.ts and in total.ts","cart.ts keeps cents"]', 'Rounding moved to total.ts.', '["problem-solution","gotcha"]', '["src/cart.ts"]', '["src/total.ts"]', 1, '2026-01-05T09:30:00.000Z', 1767605400000, 42, '4c806041c29ed0f5', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO "observations" VALUES (2, 'memory-1', 'shop', NULL, 'decision', 'Keep money in cents', NULL, '[]', 'Integers avoid rounding.', '["trade-off"]', '[]', '[]', 2, '2026-01-06T09:30:00.000Z', 1767691800000, 0, 'd759b7b41e7bbbcf', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO "observations" VALUES (3, 'memory-2', 'ドキュメント', NULL, 'discovery', 'リリース手順 – выпуск по вторникам', '', '["الإصدار يوم الثلاثاء"]', '🚀 Releases go out on Tuesdays', '["how-it-works"]', '[]', '[]', 1, '2026-01-07T09:30:00.000Z', 1767778200000, 7, '1b7983e5092648ba', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
CREATE TABLE pending_messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_db_id INTEGER NOT NULL,
        content_session_id TEXT NOT NULL,
        message_type TEXT NOT NULL CHECK(message_type IN ('observation', 'summarize')),
        tool_name TEXT,
        tool_input TEXT,
        tool_response TEXT,
        cwd TEXT,
        last_user_message TEXT,
        last_assistant_message TEXT,
        prompt_number INTEGER,
        status TEXT NOT NULL DEFAULT 'pending' CHECK(status IN ('pending', 'processing')),
        created_at_epoch INTEGER NOT NULL, agent_type TEXT, agent_id TEXT, tool_use_id TEXT,
        FOREIGN KEY (session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE
      );
CREATE TABLE "user_prompts" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_db_id INTEGER,
        content_session_id TEXT NOT NULL,
        prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE
      );
INSERT INTO "user_prompts" VALUES (1, 1, 'content-1', 1, 'Fix the basket', '2026-11-22T22:20:54.329Z', 1795386054329, NULL, NULL, NULL, '1');
INSERT INTO "user_prompts" VALUES (2, 2, 'content-2', 1, 'Опиши выпуск', '2026-11-22T22:20:54.330Z', 1795386054330, NULL, NULL, NULL, '1');
CREATE TABLE sync_state (
        k TEXT PRIMARY KEY,
        v TEXT
      );
CREATE TABLE sync_outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        op_uuid TEXT NOT NULL UNIQUE,
        rev TEXT NOT NULL DEFAULT '1',
        body TEXT NOT NULL,
        canonical_body TEXT,
        operation_sha256 TEXT,
        created_at_epoch INTEGER NOT NULL
      );
CREATE TABLE sync_entity_heads (
        entity_id TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt')),
        origin_device_id TEXT NOT NULL,
        origin_local_id TEXT NOT NULL,
        entity_rev TEXT NOT NULL,
        operation_sha256 TEXT NOT NULL,
        deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
        updated_at_epoch INTEGER NOT NULL
      );
CREATE TABLE sync_content_outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        entity_id TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt')),
        origin_local_id TEXT NOT NULL,
        entity_rev TEXT NOT NULL,
        body TEXT NOT NULL,
        operation_sha256 TEXT NOT NULL,
        deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
        created_at_epoch INTEGER NOT NULL,
        UNIQUE(entity_id, entity_rev)
      );
CREATE TABLE sync_dead_letter (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        lane TEXT NOT NULL CHECK (lane IN ('content', 'mutation')),
        queue_key TEXT NOT NULL,
        kind TEXT,
        origin_local_id TEXT,
        entity_rev TEXT,
        reason TEXT NOT NULL,
        raw_body TEXT,
        created_at_epoch INTEGER NOT NULL,
        UNIQUE(lane, queue_key, entity_rev, reason)
      );
CREATE TABLE sync_launch_exclusions (
        kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt')),
        origin_local_id TEXT NOT NULL,
        through_rev TEXT NOT NULL,
        PRIMARY KEY (kind, origin_local_id)
      );
CREATE TABLE tool_uses (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      tool_use_id TEXT NOT NULL,
      content_session_id TEXT NOT NULL,
      memory_session_id TEXT,
      session_db_id INTEGER,
      project TEXT NOT NULL,
      platform_source TEXT NOT NULL DEFAULT 'claude',
      tool_name TEXT NOT NULL,
      tool_input TEXT,
      tool_response TEXT,
      cwd TEXT,
      prompt_number INTEGER,
      agent_type TEXT,
      agent_id TEXT,
      observation_id INTEGER,
      or_generation_id TEXT,
      or_session_id TEXT,
      content_hash TEXT,
      created_at TEXT NOT NULL,
      created_at_epoch INTEGER NOT NULL,
      UNIQUE(content_session_id, tool_use_id)
    );
CREATE TABLE telegram_wrapups (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        platform_source TEXT NOT NULL,
        content_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        route_key TEXT NOT NULL,
        summary_created_at_epoch INTEGER NOT NULL,
        status TEXT NOT NULL CHECK(status IN ('claimed', 'sent')),
        claimed_at_epoch INTEGER NOT NULL,
        sent_at_epoch INTEGER,
        UNIQUE(platform_source, content_session_id, project, route_key)
      );
