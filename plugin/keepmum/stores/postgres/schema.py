"""Roles and tables of the PostgreSQL store; the tables as an append-only list of named migrations.

A migration that was released is never edited.

A tenant is one project of one organisation; its number has the organisation in the upper 32 bits, so that a grant for
a whole organisation is one comparison. Every table with a tenant has forced row-level security: a transaction sees and
writes only what `access.acting` granted to it, also where a query has no condition.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import NamedTuple

import psycopg
import psycopg.sql

from keepmum.core.errors import StoreBusy, StoreError

__all__ = ["APP_ROLE", "MIGRATIONS", "OWNER_ROLE", "check", "create_roles", "migrate", "missing", "size_of"]

OWNER_ROLE = "keepmum_owner"  # owns the tables and migrates them
APP_ROLE = "keepmum_app"  # serves requests: no DDL, and bound by row-level security
_LOCK = 0x6B65_6570  # of migrations, for pg_advisory_xact_lock
_PARTITIONS = 16
_WITH_NEEDS = 5  # the step from which on the table of migrations says what a program must know
_LOCK_MS = 1_000  # of a step, for a table; less than a request waits
_ATTEMPTS = 20
_PAUSE = 0.1  # seconds after the first attempt; each further pause is longer

_TABLES: str = """
CREATE TABLE migrations (number int PRIMARY KEY, name text NOT NULL, digest text NOT NULL, applied_at bigint NOT NULL);
CREATE TABLE tenants (
    id bigint PRIMARY KEY, organisation int NOT NULL, name text COLLATE "C" NOT NULL,
    UNIQUE (organisation, name)
);
CREATE TABLE memories (
    tenant bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, id text COLLATE "C" NOT NULL,
    space text COLLATE "C" NOT NULL, key text COLLATE "C",
    title text NOT NULL, text text NOT NULL, why text, identifiers text NOT NULL, digest text NOT NULL,
    kind text NOT NULL, tags text NOT NULL, tag_list text[] NOT NULL, scope text NOT NULL,
    project text COLLATE "C", session text COLLATE "C", "user" text COLLATE "C", agent text NOT NULL,
    tier text NOT NULL, importance double precision NOT NULL, confidence double precision NOT NULL,
    data text, git text, source text, source_kind text, origin text NOT NULL,
    status text NOT NULL, supersedes text, superseded_by text,
    created_at bigint NOT NULL, updated_at bigint NOT NULL, accessed_at bigint, access_count bigint NOT NULL,
    expires_at bigint, trashed_at bigint, created_by text NOT NULL, updated_by text NOT NULL, revision bigint NOT NULL,
    trust text NOT NULL, confirmed_at bigint, confirmed_by text, pinned boolean NOT NULL, citations text,
    context text NOT NULL DEFAULT '', words int NOT NULL DEFAULT 0,
    PRIMARY KEY (id, tenant)
) PARTITION BY HASH (tenant);
CREATE UNIQUE INDEX memories_key ON memories(space, key, tenant) WHERE key IS NOT NULL AND status = 'active';
CREATE INDEX memories_seq ON memories(tenant, seq);
CREATE INDEX memories_words ON memories(tenant, words);
CREATE INDEX memories_digest ON memories(tenant, space, digest);
CREATE INDEX memories_recent ON memories(tenant, status, updated_at, id);
CREATE INDEX memories_session ON memories(tenant, session, space, status, seq) WHERE session IS NOT NULL;
CREATE TABLE postings (
    tenant bigint NOT NULL, word text COLLATE "C" NOT NULL, seq bigint NOT NULL,
    weight real NOT NULL, places int[] NOT NULL,
    PRIMARY KEY (tenant, word, seq)
) PARTITION BY HASH (tenant);
CREATE INDEX postings_seq ON postings(tenant, seq);
CREATE TABLE models (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, dimensions int NOT NULL
);
CREATE TABLE vectors (
    tenant bigint NOT NULL, seq bigint NOT NULL, model int REFERENCES models(id),
    own halfvec, mixed halfvec, awaited boolean NOT NULL DEFAULT TRUE,
    PRIMARY KEY (tenant, seq)
) PARTITION BY HASH (tenant);
CREATE INDEX vectors_awaited ON vectors(tenant) WHERE awaited;
CREATE TABLE history (
    tenant bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, memory text COLLATE "C" NOT NULL,
    revision bigint NOT NULL, at bigint NOT NULL, agent text NOT NULL, action text NOT NULL, before text NOT NULL,
    PRIMARY KEY (tenant, seq)
) PARTITION BY HASH (tenant);
CREATE INDEX history_memory ON history(tenant, memory, seq);
CREATE TABLE activity (
    tenant bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, at bigint NOT NULL, agent text NOT NULL,
    action text NOT NULL, memory text COLLATE "C", key text, project text COLLATE "C", detail text NOT NULL,
    PRIMARY KEY (tenant, seq)
) PARTITION BY HASH (tenant);
CREATE INDEX activity_time ON activity(tenant, at);
CREATE INDEX activity_memory ON activity(tenant, memory) WHERE memory IS NOT NULL;
CREATE TABLE wrong (
    tenant bigint NOT NULL, memory text COLLATE "C" NOT NULL, space text COLLATE "C" NOT NULL, digest text NOT NULL,
    at bigint NOT NULL, by text NOT NULL, reason text NOT NULL, model text, vector bytea,
    PRIMARY KEY (tenant, memory)
);
CREATE INDEX wrong_digest ON wrong(tenant, digest);
CREATE TABLE postponed (
    tenant bigint NOT NULL, item text COLLATE "C" NOT NULL, until bigint, PRIMARY KEY (tenant, item)
);
CREATE TABLE changes (
    tenant bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, memory text NOT NULL,
    transaction xid8 NOT NULL DEFAULT pg_current_xact_id(), PRIMARY KEY (tenant, seq)
);
"""

# What a transaction may read and write is in its settings. They hold numbers, so no name can break the list.
# The role of requests reads and writes the tables of tenants and models through functions only.
_FUNCTIONS: str = """
CREATE FUNCTION granted(setting text) RETURNS bigint[] LANGUAGE sql STABLE PARALLEL SAFE AS
    $$ SELECT string_to_array(current_setting(setting, true), ',')::bigint[] $$;
CREATE FUNCTION tenant_of(in_organisation int, called text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE number bigint;
BEGIN
    SELECT id INTO number FROM tenants WHERE organisation = in_organisation AND name = called;
    IF number IS NULL THEN
        PERFORM pg_advisory_xact_lock(in_organisation, 1);
        INSERT INTO tenants(id, organisation, name)
            SELECT coalesce(max(id) + 1, in_organisation::bigint << 32), in_organisation, called
            FROM tenants WHERE organisation = in_organisation
            ON CONFLICT DO NOTHING;
        SELECT id INTO number FROM tenants WHERE organisation = in_organisation AND name = called;
    END IF;
    RETURN number;
END $$;
CREATE FUNCTION known_tenants(in_organisation int, called text[]) RETURNS TABLE (id bigint, name text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT id, name FROM tenants WHERE organisation = in_organisation AND name = ANY (called)
$$;
CREATE FUNCTION model_of(called text, size int) RETURNS models
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO models(name, dimensions) VALUES (called, size) ON CONFLICT (name) DO NOTHING;
    SELECT * FROM models WHERE name = called
$$;
"""

# A team's records. `audit` and `names` are written by functions of the owner only, so that the role of requests cannot
# change what was logged, and cannot seal anything else than what is there.
_TEAM: str = """
CREATE TABLE people (
    organisation int NOT NULL, id text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, roles text NOT NULL,
    kind text NOT NULL, created_at bigint NOT NULL, removed_at bigint, PRIMARY KEY (organisation, id)
);
CREATE UNIQUE INDEX people_name ON people(organisation, name) WHERE removed_at IS NULL;
CREATE TABLE keys (
    organisation int NOT NULL, id text COLLATE "C" NOT NULL, person text COLLATE "C" NOT NULL, name text NOT NULL,
    digest bytea NOT NULL, role text NOT NULL, projects text, agent text NOT NULL, created_at bigint NOT NULL,
    expires_at bigint, used_at bigint, withdrawn_at bigint, PRIMARY KEY (organisation, id),
    FOREIGN KEY (organisation, person) REFERENCES people(organisation, id)
);
CREATE INDEX keys_person ON keys(organisation, person);
CREATE TABLE answers (
    organisation int NOT NULL, principal text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
    digest bytea NOT NULL, token text NOT NULL, answer text NOT NULL, at bigint NOT NULL,
    PRIMARY KEY (organisation, principal, key)
);
CREATE INDEX answers_time ON answers(organisation, at);
CREATE TABLE erasures (
    organisation int NOT NULL, at bigint NOT NULL, kind text NOT NULL, digest text NOT NULL, receipt text NOT NULL
);
CREATE TABLE names (
    organisation int NOT NULL, number bigint GENERATED BY DEFAULT AS IDENTITY, name text COLLATE "C" NOT NULL,
    salt bytea, digest bytea NOT NULL, PRIMARY KEY (organisation, number), UNIQUE (organisation, name)
);
CREATE TABLE audit (
    organisation int NOT NULL, id bigint GENERATED BY DEFAULT AS IDENTITY, at bigint NOT NULL, actor bigint NOT NULL,
    action text NOT NULL, subject text COLLATE "C", project bigint, number bigint, hash bytea,
    PRIMARY KEY (organisation, id), UNIQUE (organisation, number)
);
CREATE INDEX audit_unsealed ON audit(organisation, id) WHERE number IS NULL;
CREATE INDEX audit_subject ON audit(organisation, subject) WHERE subject IS NOT NULL;
CREATE FUNCTION name_of(in_organisation int, called text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE found bigint; new_salt bytea := uuid_send(gen_random_uuid());
BEGIN
    IF called IS NULL THEN RETURN NULL; END IF;
    SELECT number INTO found FROM names WHERE organisation = in_organisation AND name = called;
    IF found IS NULL THEN
        INSERT INTO names(organisation, name, salt, digest)
            VALUES (in_organisation, called, new_salt, sha256(new_salt || convert_to(called, 'UTF8')))
            ON CONFLICT (organisation, name) DO NOTHING;
        SELECT number INTO found FROM names WHERE organisation = in_organisation AND name = called;
    END IF;
    RETURN found;
END $$;
REVOKE EXECUTE ON FUNCTION name_of FROM PUBLIC;
CREATE FUNCTION append_audit(in_at bigint, actor text, action text, subject text, project text) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO audit(organisation, at, actor, action, subject, project)
    SELECT o, in_at, name_of(o, actor), action, subject, name_of(o, project)
    FROM (SELECT current_setting('keepmum.organisation')::int AS o) s
$$;
CREATE FUNCTION audit_activity() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO audit(organisation, at, actor, action, subject, project) VALUES (
        NEW.tenant >> 32, NEW.at, name_of((NEW.tenant >> 32)::int, NEW.agent), NEW.action, NEW.memory,
        name_of((NEW.tenant >> 32)::int, NEW.project));
    RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER INSERT ON activity FOR EACH ROW
    WHEN (NEW.action NOT IN ('recalled', 'loaded')) EXECUTE FUNCTION audit_activity();
CREATE FUNCTION seal_audit(most int) RETURNS TABLE (number bigint, hash bytea)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    o int := current_setting('keepmum.organisation')::int;
    head_number bigint := 0; head bytea := decode(repeat('00', 32), 'hex'); one record;
BEGIN
    IF pg_try_advisory_xact_lock(o, 2) THEN
        SELECT a.number, a.hash INTO one FROM audit a
            WHERE a.organisation = o AND a.number IS NOT NULL ORDER BY a.number DESC LIMIT 1;
        IF FOUND THEN head_number := one.number; head := one.hash; END IF;
        FOR one IN
            SELECT a.id, a.at, x.digest AS actor, a.action, a.subject, p.digest AS project
            FROM audit a JOIN names x ON x.organisation = o AND x.number = a.actor
                LEFT JOIN names p ON p.organisation = o AND p.number = a.project
            WHERE a.organisation = o AND a.number IS NULL ORDER BY a.id LIMIT most
        LOOP
            head_number := head_number + 1;
            head := sha256(head || convert_to(json_build_array(head_number, one.at, encode(one.actor, 'hex'),
                one.action, one.subject, encode(one.project, 'hex'))::text, 'UTF8'));
            UPDATE audit a SET number = head_number, hash = head WHERE a.organisation = o AND a.id = one.id;
        END LOOP;
    END IF;
    RETURN QUERY SELECT a.number, a.hash FROM audit a
        WHERE a.organisation = o AND a.number IS NOT NULL ORDER BY a.number DESC LIMIT 1;
END $$;
CREATE FUNCTION erase_name(called text) RETURNS text
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE names SET name = 'erased-' || number, salt = NULL
        WHERE organisation = current_setting('keepmum.organisation')::int AND name = called RETURNING name
$$;
"""
# A sealed row of another database joins the chain only where it continues it. Numbers of names are kept: the pseudonym
# of an erased name holds its number.
_ADOPTION: str = """
CREATE FUNCTION adopt_name(
    in_number bigint, called text, with_salt bytea, with_digest bytea
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE o int := current_setting('keepmum.organisation')::int; known bytea;
BEGIN
    SELECT n.digest INTO known FROM names n WHERE n.organisation = o AND n.number = in_number AND n.name = called;
    IF known IS NULL THEN
        INSERT INTO names(organisation, number, name, salt, digest)
            VALUES (o, in_number, called, with_salt, with_digest);
        PERFORM setval(pg_get_serial_sequence('names', 'number'),
            greatest(in_number, nextval(pg_get_serial_sequence('names', 'number'))));
    ELSIF known <> with_digest THEN
        RAISE EXCEPTION 'another name has this number' USING ERRCODE = 'unique_violation';
    END IF;
END $$;
CREATE FUNCTION adopt_audit(
    in_number bigint, in_at bigint, in_actor bigint, in_action text, in_subject text, in_project bigint, in_hash bytea
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    o int := current_setting('keepmum.organisation')::int;
    last bigint := 0; head bytea := decode(repeat('00', 32), 'hex'); one record; x bytea; p bytea;
BEGIN
    PERFORM pg_advisory_xact_lock(o, 2);
    SELECT a.number, a.hash INTO one FROM audit a
        WHERE a.organisation = o AND a.number IS NOT NULL ORDER BY a.number DESC LIMIT 1;
    IF FOUND THEN last := one.number; head := one.hash; END IF;
    SELECT n.digest INTO x FROM names n WHERE n.organisation = o AND n.number = in_actor;
    SELECT n.digest INTO p FROM names n WHERE n.organisation = o AND n.number = in_project;
    head := sha256(head || convert_to(json_build_array(in_number, in_at, encode(x, 'hex'), in_action, in_subject,
        encode(p, 'hex'))::text, 'UTF8'));
    IF in_number <> last + 1 OR head <> in_hash THEN
        RAISE EXCEPTION 'the row does not continue the audit log' USING ERRCODE = 'unique_violation';
    END IF;
    INSERT INTO audit(organisation, at, actor, action, subject, project, number, hash)
        VALUES (o, in_at, in_actor, in_action, in_subject, in_project, in_number, in_hash);
END $$;
"""
# The number of steps that a program must know to use the tables after a step. An activity log that is copied from
# another database makes no audit rows: the audit log is copied too.
_COPYING: str = """
ALTER TABLE migrations ADD COLUMN needs int;
CREATE OR REPLACE FUNCTION audit_activity() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF current_setting('keepmum.adopting', true) = 'on' THEN RETURN NULL; END IF;
    INSERT INTO audit(organisation, at, actor, action, subject, project) VALUES (
        NEW.tenant >> 32, NEW.at, name_of((NEW.tenant >> 32)::int, NEW.agent), NEW.action, NEW.memory,
        name_of((NEW.tenant >> 32)::int, NEW.project));
    RETURN NULL;
END $$;
"""
_SESSIONS: str = """
CREATE TABLE sessions (
    organisation int NOT NULL, digest bytea NOT NULL, person text NOT NULL, key text NOT NULL, roles text NOT NULL,
    project text NOT NULL, ends_at bigint NOT NULL, PRIMARY KEY (organisation, digest)
);
"""
_RECORDS = ("people", "keys", "answers", "erasures", "names", "audit")

_PARTITIONED = ("memories", "postings", "vectors", "history", "activity")
_ISOLATED = (*_PARTITIONED, "wrong", "postponed", "changes")


class Migration(NamedTuple):
    """One step, in a transaction of its own; a program of the version before goes on reading and writing after it."""

    name: str
    sql: str
    needs: int = 0  # how many steps a program must know to use the tables after this one; 0 for this one too

    @property
    def digest(self) -> str:
        """Shows that a migration that was applied is the one of this version."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def _isolation(table: str) -> str:
    """Row-level security of a table, which binds its owner too."""
    may_read, may_write = (
        # As subqueries they are computed once per statement, not once per row.
        f"(tenant = ANY ((SELECT granted('keepmum.{what}'))::bigint[])"
        f" OR tenant >> 32 = ANY ((SELECT granted('keepmum.{what}_organisations'))::bigint[]))"
        for what in ("read", "write")
    )
    return f"""
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON {table} FOR SELECT USING ({may_read});
CREATE POLICY inserts ON {table} FOR INSERT WITH CHECK ({may_write});
CREATE POLICY updates ON {table} FOR UPDATE USING ({may_write}) WITH CHECK ({may_write});
CREATE POLICY deletes ON {table} FOR DELETE USING ({may_write});
"""


def _records_isolation(table: str) -> str:
    """Row-level security of a table of records: all of one organisation.

    A grant for single projects reaches the kept answers only, which every request needs. What the role of requests may
    do is in its privileges; the functions of the owner see all.
    """
    whole = "organisation = ANY ((SELECT granted('keepmum.{}_organisations'))::bigint[])"
    if table == "answers":
        whole = "organisation = (SELECT nullif(current_setting('keepmum.organisation', true), ''))::int"
    return f"""
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY owned ON {table} TO {OWNER_ROLE} USING (true) WITH CHECK (true);
CREATE POLICY reads ON {table} FOR SELECT TO {APP_ROLE} USING ({whole.format("read")});
CREATE POLICY inserts ON {table} FOR INSERT TO {APP_ROLE} WITH CHECK ({whole.format("write")});
CREATE POLICY updates ON {table} FOR UPDATE TO {APP_ROLE} USING ({whole.format("write")});
CREATE POLICY deletes ON {table} FOR DELETE TO {APP_ROLE} USING ({whole.format("write")});
"""


def _partitions(table: str) -> str:
    return f"""
DO $$ BEGIN FOR part IN 0..{_PARTITIONS - 1} LOOP
    EXECUTE format('CREATE TABLE {table}_%s PARTITION OF {table} FOR VALUES WITH (MODULUS {_PARTITIONS}, REMAINDER %s)',
        part, part);
END LOOP; END $$;
"""


def _grants(tables: Sequence[str]) -> str:
    return "".join(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {APP_ROLE};\n" for table in tables)


MIGRATIONS = (
    Migration(
        "m001_memories",
        "\n".join(
            (
                _TABLES,
                _FUNCTIONS,
                *map(_partitions, _PARTITIONED),
                *map(_isolation, _ISOLATED),
                _grants(_ISOLATED),
                f"GRANT SELECT ON migrations, models TO {APP_ROLE};",
            )
        ),
    ),
    Migration(
        "m002_team",
        "\n".join(
            (
                _TEAM,
                *map(_records_isolation, _RECORDS),
                f"GRANT SELECT ON names, audit TO {APP_ROLE};",
                f"GRANT SELECT, INSERT, UPDATE ON people, keys TO {APP_ROLE};",
                f"GRANT SELECT, INSERT, UPDATE, DELETE ON answers TO {APP_ROLE};",
                f"GRANT SELECT, INSERT ON erasures TO {APP_ROLE};",
            )
        ),
    ),
    Migration("m003_adoption", _ADOPTION),
    Migration(
        "m004_secret",
        "\n".join(
            (
                "CREATE TABLE secrets (organisation int PRIMARY KEY, digest bytea NOT NULL);",
                _records_isolation("secrets"),
                f"GRANT SELECT, INSERT ON secrets TO {APP_ROLE};",
            )
        ),
    ),
    Migration("m005_copying", _COPYING, needs=4),
    Migration(
        "m006_sessions",
        "\n".join(
            (
                _SESSIONS,
                _records_isolation("sessions"),
                f"GRANT SELECT, INSERT, UPDATE, DELETE ON sessions TO {APP_ROLE};",
            )
        ),
        needs=4,
    ),
    # Every view of the dashboard asks for the last change: .2 ms of 100,000 instead of 12.
    Migration("m007_last_change", "CREATE INDEX changes_last ON changes(seq);", needs=4),
)


def create_roles(admin: str, owner_password: str, app_password: str) -> None:
    """Create the two roles and the extension for vectors; `admin` is the DSN of a superuser, used only here.

    Roles that exist get the passwords.

    Raises: StoreError.
    """
    with _connected(admin) as db:
        for role, password in ((OWNER_ROLE, owner_password), (APP_ROLE, app_password)):
            known = db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
            statement = psycopg.sql.SQL("{} ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD {}")
            db.execute(
                statement.format(
                    psycopg.sql.SQL("ALTER" if known else "CREATE"), psycopg.sql.Identifier(role), password
                )
            )
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        db.execute(f"GRANT CREATE, USAGE ON SCHEMA public TO {OWNER_ROLE}".encode())
        db.execute(f"GRANT USAGE ON SCHEMA public TO {APP_ROLE}".encode())


def migrate(owner: str) -> list[str]:
    """Apply the missing migrations, each in a transaction; returns their names. `owner` is the DSN of the owner.

    Processes that migrate at the same time wait for each other. Requests are served meanwhile: a step that waits for a
    table gives up after a second and is tried again, so that no request waits behind it for longer.

    Raises: StoreError when a migration that was applied is not the one of this version, or the schema is newer.
    """
    done = []
    with _connected(owner) as db:
        for number, step in enumerate(MIGRATIONS, start=1):
            if _apply(db, number, step):
                done.append(step.name)
    return done


def missing(dsn: str) -> list[str]:
    """The names of the migrations that a database lacks.

    Raises: StoreError as `migrate`.
    """
    with _connected(dsn) as db:
        return [step.name for step in MIGRATIONS[len(_applied(db)) :]]


def size_of(dsn: str) -> int:
    """Bytes of a database.

    Raises: StoreError.
    """
    with _connected(dsn) as db:
        found = db.execute("SELECT pg_database_size(current_database())").fetchone()
    return 0 if found is None else int(str(found[0]))


def _apply(db: psycopg.Connection[tuple[object, ...]], number: int, step: Migration) -> bool:
    """Apply a step unless it was applied; whether it was missing.

    Raises: StoreError as `migrate`, StoreBusy when requests hold a table for too long.
    """
    for attempt in range(_ATTEMPTS):
        try:
            with db.transaction():
                db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                if number <= len(_applied(db)):
                    return False
                db.execute(f"SET LOCAL lock_timeout = {_LOCK_MS}".encode())
                db.execute(step.sql.encode())
                db.execute(
                    "INSERT INTO migrations(number, name, digest, applied_at) VALUES (%s, %s, %s, %s)",
                    (number, step.name, step.digest, time.time_ns() // 1_000_000),
                )
                if number >= _WITH_NEEDS:
                    db.execute("UPDATE migrations SET needs = %s WHERE number = %s", (step.needs or number, number))
        except psycopg.errors.LockNotAvailable:
            time.sleep(_PAUSE * (attempt + 1))
        else:
            return True
    raise StoreBusy(f"the step {step.name} found no moment without a long transaction; nothing was changed by it")


def check(db: psycopg.Connection[tuple[object, ...]], *, outdated: bool = False) -> None:
    """Check that the connection is bound by row-level security, and the tables have all that this version needs.

    With `outdated`, tables of an older version are accepted.

    Raises: StoreError with what to do.
    """
    row = db.execute(
        "SELECT current_user, rolsuper, rolbypassrls,"
        " EXISTS (SELECT 1 FROM pg_class WHERE relname = 'memories' AND relowner = pg_roles.oid)"
        " FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if row is None or any(row[1:]):
        name = "" if row is None else row[0]
        raise StoreError(
            f"the database role {name} is not bound by row-level security, since it is a superuser, has BYPASSRLS or "
            f"owns the tables; connect as {APP_ROLE}"
        )
    known = len(_applied(db))
    if not known:
        raise StoreError(
            "the database has no tables of Keepmum; `keepmum serve init --database` makes them, or `restore --database`"
        )
    if known < len(MIGRATIONS) and not outdated:
        raise StoreError("the tables are of an older version; run `keepmum serve upgrade` first")


def _applied(db: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    """The names of the applied migrations that this version knows.

    Raises: StoreError when one is not the one of this version, or a newer one needs a newer version.
    """
    if db.execute("SELECT to_regclass('public.migrations')").fetchone() == (None,):
        return []
    rows = db.execute(
        "SELECT name, digest, coalesce((to_jsonb(m) ->> 'needs')::int, number) FROM migrations m ORDER BY number"
    ).fetchall()
    if any(int(str(needs)) > len(MIGRATIONS) for _, _, needs in rows):
        raise StoreError("the tables were made by a newer version of Keepmum; upgrade this one")
    for (name, digest, _), step in zip(rows, MIGRATIONS, strict=False):
        if (name, digest) != (step.name, step.digest):
            raise StoreError(f"the migration {name} of this database is not the one of this version of Keepmum")
    return [str(name) for name, _, _ in rows[: len(MIGRATIONS)]]


def _connected(dsn: str) -> psycopg.Connection[tuple[object, ...]]:
    try:
        return psycopg.connect(dsn, autocommit=True)
    except psycopg.OperationalError as error:
        raise StoreError(f"PostgreSQL cannot be reached: {str(error).strip().splitlines()[0]}") from None
