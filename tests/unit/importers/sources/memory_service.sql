CREATE TABLE metadata (
                key TEXT PRIMARY KEY,
                value TEXT NOT NULL
            );
INSERT INTO "metadata" VALUES ('distance_metric', 'cosine');
INSERT INTO "metadata" VALUES ('fts5_enabled', 'true');
INSERT INTO "metadata" VALUES ('schema_version', '19');
INSERT INTO "metadata" VALUES ('sync_hlc_physical', '0');
INSERT INTO "metadata" VALUES ('sync_hlc_logical', '0');
CREATE TABLE memories (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        content_hash TEXT UNIQUE NOT NULL,
                        content TEXT NOT NULL,
                        tags TEXT,
                        memory_type TEXT,
                        metadata TEXT,
                        created_at REAL,
                        updated_at REAL,
                        created_at_iso TEXT,
                        updated_at_iso TEXT,
                        deleted_at REAL DEFAULT NULL
                    , store TEXT DEFAULT 'default', parent_id TEXT, version INTEGER DEFAULT 1, confidence REAL DEFAULT 1.0, last_accessed INTEGER, superseded_by TEXT, embedding_pending INTEGER NOT NULL DEFAULT 0);
INSERT INTO "memories" VALUES (1, 'be0d703856eb2a82174860258d1f89cea8b4693f99f861c960686dbc9d41faaa', 'Chose PostgreSQL 16 for orders', 'db,proj:shop', 'decision', '{"source": "ada", "access_count": 4}', 1767605400.0, 1767605460.0, '2026-01-05T09:30:00Z', '2026-01-05T09:31:00Z', NULL, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO "memories" VALUES (2, '2b6896363a815d1f54c6e440f1146e28881759898d2254d75fc3e63f84219fa3', 'The queue drops messages above 256 KB', 'queue', 'bug', '{"ticket": 12, "superseded_by": "38275fb318c43deddb7c4a2ac6296356e7af75fd8a3bb5a9894c695545a2d951"}', 1767691800.0, 1767691860.0, '2026-01-06T09:30:00Z', '2026-01-06T09:31:00Z', NULL, 'default', NULL, 1, 1.0, NULL, '38275fb318c43deddb7c4a2ac6296356e7af75fd8a3bb5a9894c695545a2d951', 0);
INSERT INTO "memories" VALUES (3, '052add45fd5437f35445e13c9b94099229d998d0a32bc5456ecc6eb65e1a8707', 'Выпуски по вторникам – リリースは火曜日 🚀', 'release', 'reference', '{}', 1767778200.0, 1767778260.0, '2026-01-07T09:30:00Z', '2026-01-07T09:31:00Z', NULL, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO "memories" VALUES (4, '8a355eeeca754b8f57befe349d87aad19bce63ebd764284ba0dcfed114430977', 'Never force-push to main', 'untagged', 'best_practice', '{"quality_score": 0.9}', 1767864600.0, 1767864660.0, '2026-01-08T09:30:00Z', '2026-01-08T09:31:00Z', 1.79538618767371845248e+09, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO "memories" VALUES (5, '38275fb318c43deddb7c4a2ac6296356e7af75fd8a3bb5a9894c695545a2d951', 'The queue drops messages above 1 MB', 'queue', 'bug', '{"ticket": 12}', 1.79538618767268562314e+09, 1.79538618767268562314e+09, '2026-11-22T22:23:07.672686Z', '2026-11-22T22:23:07.672686Z', NULL, 'default', '2b6896363a815d1f54c6e440f1146e28881759898d2254d75fc3e63f84219fa3', 2, 1.0, NULL, NULL, 0);
CREATE TABLE migration_registry (
                version INTEGER PRIMARY KEY,
                name TEXT NOT NULL,
                filename TEXT NOT NULL,
                applied_at TEXT NOT NULL,
                checksum TEXT
            );
INSERT INTO "migration_registry" VALUES (8, 'add_graph_table', '008_add_graph_table.sql', '2026-11-22T22:23:07.614648+00:00', '2f9a9790446132e799e98216c8b63817370806f5f8cae6c07a1a2f72df2db526');
INSERT INTO "migration_registry" VALUES (9, 'add_relationship_type', '009_add_relationship_type.sql', '2026-11-22T22:23:07.614948+00:00', '1ac4592fe01144b1274de6a255661c40c4d1e80034a8521bc6e65bfdfaaf640a');
INSERT INTO "migration_registry" VALUES (10, 'fix_asymmetric_relationships', '010_fix_asymmetric_relationships.sql', '2026-11-22T22:23:07.615290+00:00', 'cfd32afb02e75faee4054eea5deb807c812bd9df95f09958f6a8e1e88da98a4f');
INSERT INTO "migration_registry" VALUES (11, 'memory_evolution_p1', '011_memory_evolution_p1.sql', '2026-11-22T22:23:07.615778+00:00', '0701f310c540c4d00df1cb1889315b729ea1c8e0a77db8561ceff96d848f5a43');
INSERT INTO "migration_registry" VALUES (12, 'add_belief_store', '012_add_belief_store.sql', '2026-11-22T22:23:07.616508+00:00', '7c8ba14e31023c3d8c94b74436c9160c76744066a0d4ffb3a5d7b3253d9df318');
INSERT INTO "migration_registry" VALUES (15, 'add_sync_events', '015_add_sync_events.sql', '2026-11-22T22:23:07.616808+00:00', 'e178451d72dde5cf414cebbfba5a8fa77c9a5a1781d6e2ebc371273605f315cb');
INSERT INTO "migration_registry" VALUES (16, 'add_hlc_to_sync_events', '016_add_hlc_to_sync_events.sql', '2026-11-22T22:23:07.617080+00:00', '50c08256872940e289fab24a56e9fa93c8f15261fdedc31ff6fefb3a666a1dd8');
INSERT INTO "migration_registry" VALUES (17, 'add_embedding_consistency', '017_add_embedding_consistency.sql', '2026-11-22T22:23:07.617505+00:00', 'ede2fa157a74ea4b232bac5b7cd09ea8dafaf6a0f1c5fc0e8fd781649cfb4e66');
INSERT INTO "migration_registry" VALUES (18, 'add_sync_cursor', '018_add_sync_cursor.sql', '2026-11-22T22:23:07.618120+00:00', '694dd8917ec1c7979cfe0c494a6f12070f3abcd8683745a5fe65aa275c23aac4');
INSERT INTO "migration_registry" VALUES (19, 'add_push_cursor', '019_add_push_cursor.sql', '2026-11-22T22:23:07.618308+00:00', 'df1886eb50d9de69784c8a0dc15fca81151689c1e1f22c656a7e8c417b459d76');
CREATE TABLE memory_graph (
    source_hash TEXT NOT NULL,
    target_hash TEXT NOT NULL,
    similarity REAL NOT NULL,
    connection_types TEXT NOT NULL,  -- JSON array: ["semantic", "temporal", "causal", "thematic"]
    metadata TEXT,                   -- JSON object: {discovery_date, confidence, context}
    created_at REAL NOT NULL, relationship_type TEXT DEFAULT 'related',
    PRIMARY KEY (source_hash, target_hash)
);
CREATE TABLE beliefs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    belief_hash TEXT UNIQUE NOT NULL,
    content TEXT NOT NULL,
    confidence REAL NOT NULL DEFAULT 0.5,
    status TEXT NOT NULL DEFAULT 'candidate',  -- candidate, active, disputed, superseded
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    derived_from TEXT NOT NULL DEFAULT '[]',  -- JSON array of observation content_hashes (provenance)
    contradicted_by TEXT NOT NULL DEFAULT '[]',  -- JSON array of observation content_hashes
    metadata TEXT DEFAULT '{}'
);
CREATE TABLE sync_events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    schema_version INTEGER NOT NULL DEFAULT 1,
    agent_id TEXT,
    event_id TEXT NOT NULL,
    op TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at REAL NOT NULL,
    created_at_iso TEXT, hlc_physical INTEGER, hlc_logical INTEGER, embedding_model TEXT, embedding_dim INTEGER,
    UNIQUE(agent_id, event_id)
);
CREATE TABLE sync_cursor (
    peer_id TEXT PRIMARY KEY,
    last_seq_seen INTEGER NOT NULL DEFAULT 0,
    last_hlc_physical INTEGER,
    last_hlc_logical INTEGER,
    updated_at REAL NOT NULL
);
CREATE TABLE push_cursor (
    peer_id TEXT PRIMARY KEY,
    last_seq_pushed INTEGER NOT NULL DEFAULT 0,
    updated_at REAL NOT NULL
);
