CREATE TABLE history (
                        id           TEXT PRIMARY KEY,
                        memory_id    TEXT,
                        old_memory   TEXT,
                        new_memory   TEXT,
                        event        TEXT,
                        created_at   DATETIME,
                        updated_at   DATETIME,
                        is_deleted   INTEGER,
                        actor_id     TEXT,
                        role         TEXT
                    );
INSERT INTO "history" VALUES ('c0c84343-336b-424a-954b-8dedf2bffcf6', '42552f9f-e497-41b8-848e-a7a08d9df53a', NULL, 'Prefers tabs over spaces', 'ADD', '2026-11-22T22:22:01.010040+00:00', '2026-11-22T22:22:01.010040+00:00', 0, NULL, 'user');
INSERT INTO "history" VALUES ('6530f7ad-a5e3-4e1b-9dd6-c3cea28727fb', 'b0e50066-1da9-406e-8b2f-7e456605a795', NULL, 'Works on billing', 'ADD', '2026-11-22T22:22:01.014865+00:00', '2026-11-22T22:22:01.014865+00:00', 0, NULL, 'user');
INSERT INTO "history" VALUES ('dcd180e0-367b-489c-a0f3-dcf5b025df3a', 'c79d2105-697c-47f8-9c6c-26147358bc14', NULL, 'Живёт в Праге 🏰', 'ADD', '2026-11-22T22:22:01.018185+00:00', '2026-11-22T22:22:01.018185+00:00', 0, NULL, 'user');
INSERT INTO "history" VALUES ('b0cc7b6a-6a0d-46cf-b0dc-74799f8e6ed8', 'e2025d82-47e7-4ef4-bbb1-4ee2a8dd392d', NULL, 'Uses vim', 'ADD', '2026-11-22T22:22:01.023149+00:00', '2026-11-22T22:22:01.023149+00:00', 0, NULL, 'user');
INSERT INTO "history" VALUES ('fe6e14ff-e2b4-4fea-9db4-c595dbd362fe', 'b0e50066-1da9-406e-8b2f-7e456605a795', 'Works on billing', 'Works on billing and on search', 'UPDATE', '2026-11-22T22:22:01.014865+00:00', '2026-11-22T22:22:01.026680+00:00', 0, NULL, 'user');
INSERT INTO "history" VALUES ('b08c82d5-2c74-4e4c-8931-33ca0019f563', 'e2025d82-47e7-4ef4-bbb1-4ee2a8dd392d', 'Uses vim', NULL, 'DELETE', '2026-11-22T22:22:01.023149+00:00', '2026-11-22T22:22:01.029132+00:00', 1, NULL, 'user');
CREATE TABLE messages (
                        id TEXT PRIMARY KEY,
                        session_scope TEXT,
                        role TEXT,
                        content TEXT,
                        name TEXT,
                        created_at DATETIME
                    );
