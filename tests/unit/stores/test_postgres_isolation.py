"""Projects and organisations in one PostgreSQL: nobody reads, changes or infers what belongs to others."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

import postgres_server
from contract.stores import NOW, a_memory, an_event, wanted
from keepmum.core.errors import StoreBusy, StoreError
from keepmum.core.memory import Change, Filter, Memory
from keepmum.stores import StaleWrite
from keepmum.stores.postgres import Grant, Pool, PostgresStore, access, migrate, schema

TABLES = ("memories", "postings", "vectors", "history", "activity", "wrong", "postponed", "changes")
_ORGANISATIONS = itertools.count(1_001)  # no other test uses these; 1 is that of the servers


@pytest.fixture
def organisation() -> int:
    return next(_ORGANISATIONS)


@pytest.fixture
def whole(organisation: int) -> PostgresStore:
    """All projects of an organisation, with a memory in each of two."""
    store = PostgresStore(postgres_server.pool(), Grant(organisation))
    for project in ("alpha", "beta"):
        memory = a_memory(f"a zebra in {project}", project=project, key="animal", session=f"s-{project}")
        store.commit([Change(None, memory)], [an_event(memory)])
        store.commit([Change(memory, replace(memory, why="asked", revision=2))])
    return store


def granted(organisation: int, *projects: str) -> PostgresStore:
    names = frozenset(projects)
    return PostgresStore(postgres_server.pool(), Grant(organisation, names, names))


@pytest.fixture
def application() -> Iterator[psycopg.Connection[Any]]:
    """A connection as the role of requests, past all of our code."""
    with psycopg.connect(postgres_server.server().app, autocommit=True) as db:
        yield db


EVERYTHING = Filter(now=NOW, everywhere=True)

# -- through the store


def test_a_grant_for_one_project_reads_nothing_of_another(whole: PostgresStore, organisation: int) -> None:
    others = {memory.project: memory for memory in whole.browse(EVERYTHING)}
    store = granted(organisation, "alpha")
    foreign = others["beta"]
    assert [memory.project for memory in store.browse(EVERYTHING)] == ["alpha"]
    assert store.count(EVERYTHING) == 1
    assert store.get([foreign.id]) == []
    assert store.between("", "~", 9) == [others["alpha"]]
    assert store.by_key(foreign.space, "animal") is store.last_by_key(foreign.space, "animal") is None
    assert store.same_text(foreign.space, foreign.text) is None
    assert [memory.project for memory, _ in store.search(["zebra"], EVERYTHING, 9)] == ["alpha"]
    assert store.search(["zebra"], wanted(project="beta"), 9) == []
    assert store.history(foreign.id) == []
    assert {event.project for event in store.activity(9)} == {"alpha"}
    assert store.uncited("beta", 9) == []
    assert sum(store.facets(EVERYTHING).kinds.values()) == len(store.outlines(EVERYTHING)) == 1
    assert store.health()["memories"] == 1


def test_a_grant_for_one_project_changes_nothing_of_another(whole: PostgresStore, organisation: int) -> None:
    (foreign,) = whole.browse(wanted(project="beta"))
    before = [event.project for event in whole.activity(9, "beta")]
    store = granted(organisation, "alpha")
    for change in (
        Change(foreign, replace(foreign, text="changed", revision=3)),
        Change(foreign, None),
        Change(None, a_memory("planted", project="beta")),
    ):
        with pytest.raises(StoreError):
            store.commit([change])
    store.reinforce([foreign.id], NOW)
    assert store.cite([(foreign, ())]) == 0
    store.log([an_event(project="beta")])
    assert [event.project for event in whole.activity(9, "beta")] == before
    assert whole.browse(wanted(project="beta")) == [foreign]


def test_a_search_of_everything_is_corrected_from_readable_words_only(whole: PostgresStore, organisation: int) -> None:
    whole.commit([Change(None, a_memory("Crocodiles drink", project="beta"))])
    found = [len(store.search(["crocodle"], EVERYTHING, 10)) for store in (whole, granted(organisation, "alpha"))]
    assert found == [1, 0]


def test_a_project_is_read_once_another_process_has_created_it(organisation: int) -> None:
    stores = [granted(organisation, "alpha", "late") for _ in range(2)]  # each with its own numbers of projects
    before = stores[0].browse(EVERYTHING)
    stores[1].commit([Change(None, a_memory("a zebra", project="late"))])
    assert (before, [memory.project for memory in stores[0].browse(EVERYTHING)]) == ([], ["late"])


def test_reads_in_a_block_are_one_transaction_of_this_thread(
    whole: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    acting = Pool.acting

    def counted(pool: Pool, *grant: Any) -> Any:
        begun.append(threading.get_ident())
        return acting(pool, *grant)

    monkeypatch.setattr(Pool, "acting", counted)
    with whole.reading():
        first = whole.search(["zebra"], EVERYTHING, 10)
        whole.get([memory.id for memory, _ in first])
        other = threading.Thread(target=whole.browse, args=[EVERYTHING])
        other.start()
        other.join()
        mine = begun.count(threading.get_ident())
    whole.browse(EVERYTHING)
    assert (len(first), mine, len(begun)) == (2, 1, 3)


def test_a_failure_in_a_block_of_reads_leaves_the_store_usable(whole: PostgresStore) -> None:
    def too_long() -> None:
        with whole.reading(), whole._acting() as db:
            db.run("SET LOCAL statement_timeout = 1")
            db.query("SELECT pg_sleep(1)")

    with pytest.raises(StoreBusy):
        too_long()
    assert len(whole.browse(EVERYTHING)) == 2


def test_a_memory_cannot_be_moved_out_of_the_grant(whole: PostgresStore, organisation: int) -> None:
    (own,) = whole.browse(wanted(project="alpha"))
    with pytest.raises(StoreError):
        granted(organisation, "alpha").commit([Change(own, replace(own, project="beta", revision=3))])


def test_a_memory_moves_with_all_that_belongs_to_it(whole: PostgresStore, organisation: int) -> None:
    (own,) = whole.browse(wanted(project="alpha"))
    moved = replace(own, project="gamma", key="other", revision=3)
    whole.commit([Change(own, moved)])
    there = granted(organisation, "gamma")
    assert [memory for memory, _ in there.search(["zebra"], wanted(project="gamma"), 9)] == [moved]
    assert [past.revision for past in there.history(own.id)] == [2, 1]
    assert granted(organisation, "alpha").search(["zebra"], EVERYTHING, 9) == []


def test_a_reader_writes_nothing(whole: PostgresStore, organisation: int) -> None:
    reader = PostgresStore(postgres_server.pool(), Grant(organisation, None, frozenset()))
    (memory,) = reader.browse(wanted(project="alpha"))
    for change in (Change(memory, None), Change(None, a_memory("planted"))):
        with pytest.raises(StoreError):
            reader.commit([change])
    reader.reinforce([memory.id], NOW)
    assert whole.get([memory.id]) == [memory]


def test_another_organisation_sees_nothing(whole: PostgresStore) -> None:
    other = PostgresStore(postgres_server.pool(), Grant(next(_ORGANISATIONS)))
    assert other.browse(EVERYTHING) == []
    assert other.get([memory.id for memory in whole.browse(EVERYTHING)]) == []
    assert other.activity(9) == []


def test_the_same_id_and_key_in_two_projects_collide_with_nobody(whole: PostgresStore, organisation: int) -> None:
    """An insert must not tell that another tenant has an id."""
    (foreign,) = whole.browse(wanted(project="beta"))
    planted = a_memory("mine", id=foreign.id, project="alpha")
    store = granted(organisation, "alpha")
    store.commit([Change(None, planted)])
    assert store.get([foreign.id]) == [planted]


@pytest.mark.parametrize("name", ["a,b", "1,2", "0", "*", "'; DROP TABLE memories; --", "\x1f", "ü" * 200])
@pytest.mark.usefixtures("whole")
def test_no_project_name_opens_another_project(organisation: int, name: str) -> None:
    store = granted(organisation, name)
    assert store.browse(EVERYTHING) == []
    memory = a_memory("own", project=name)
    store.commit([Change(None, memory)])
    assert store.browse(EVERYTHING) == [memory]


# -- past the store: what row-level security holds where code forgets a condition


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.usefixtures("whole")
def test_without_a_grant_no_row_is_seen(application: psycopg.Connection[Any], table: str) -> None:
    assert application.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,)


@pytest.mark.parametrize("number", range(16))
def test_the_partitions_cannot_be_read_by_name(application: psycopg.Connection[Any], number: int) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        application.execute(f"SELECT * FROM memories_{number}".encode())


@pytest.mark.parametrize(
    "statement",
    [
        "SET ROLE keepmum_owner",
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE memories NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY reads ON memories",
        "TRUNCATE memories",
        "CREATE TABLE public.mine (a int)",
        "SELECT * FROM tenants",
        "INSERT INTO models(name, dimensions) VALUES ('x', 1)",
        "UPDATE migrations SET digest = ''",
    ],
)
def test_the_role_of_requests_cannot_lift_its_limits(application: psycopg.Connection[Any], statement: str) -> None:
    with pytest.raises(psycopg.errors.Error):
        application.execute(statement.encode())


@pytest.mark.usefixtures("whole")
def test_a_grant_ends_with_its_transaction(organisation: int) -> None:
    pool = Pool(postgres_server.server().app, size=1)
    try:
        with pool.acting(None, None, organisation) as db:
            assert db.query("SELECT count(*) FROM memories") == [(2,)]
        with pool.acting((), (), organisation) as db:
            assert db.query("SELECT count(*) FROM memories") == [(0,)]
    finally:
        pool.close()


@pytest.mark.usefixtures("whole")
def test_a_cheap_function_in_a_query_sees_no_foreign_row(organisation: int) -> None:
    """PostgreSQL must apply the policy before a function that could leak its argument."""
    tenant = granted(organisation, "alpha")
    tenant.browse(EVERYTHING)
    with postgres_server.pool().acting([tenant._tenants["alpha"]], (), organisation) as db:
        db.run(
            "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS"
            " $$ BEGIN RAISE EXCEPTION 'leaked %%', $1; END $$"
        )
        with pytest.raises(psycopg.errors.RaiseException, match="alpha"):
            db.query("SELECT id FROM memories WHERE pg_temp.leak(text)")


@pytest.mark.usefixtures("whole")
def test_the_owner_is_bound_too() -> None:
    with psycopg.connect(postgres_server.server().owner) as db:
        assert db.execute("SELECT count(*) FROM memories").fetchone() == (0,)


@pytest.mark.parametrize("role", ["admin", "owner"])
def test_a_role_that_is_not_bound_is_refused(role: str) -> None:
    with pytest.raises(StoreError, match="not bound by row-level security"):
        Pool(getattr(postgres_server.server(), role))


# -- migrations


def test_migrations_are_applied_once() -> None:
    done: list[list[str]] = []
    threads = [threading.Thread(target=lambda: done.append(migrate(postgres_server.server().owner))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert done == [[]] * 4


def test_a_migration_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = (schema.Migration("m001_memories", "SELECT 1"), *schema.MIGRATIONS[1:])
    monkeypatch.setattr(schema, "MIGRATIONS", changed)
    with pytest.raises(StoreError, match="not the one of this version"):
        migrate(postgres_server.server().owner)


def test_a_newer_database_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", ())
    with pytest.raises(StoreError, match="newer version"):
        Pool(postgres_server.server().app)


def test_an_older_database_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, schema.Migration("m999_later", "SELECT 1")))
    with pytest.raises(StoreError, match="older version"):
        Pool(postgres_server.server().app)


def test_a_database_that_cannot_be_reached_is_named() -> None:
    with pytest.raises(StoreError, match="cannot be reached"):
        migrate("postgresql://nobody@127.0.0.1:1/none")


def test_why_no_connection_is_made_is_said_without_the_address(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(access, "_WAIT", 0.5)
    running = postgres_server.server().app
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        nobody = f"postgresql://keepmum_app:pass-word@127.0.0.1:{bound.getsockname()[1]}/keepmum"
        for dsn, reason in (
            (nobody, "nothing listens there"),
            (running.replace("/postgres?", "/no_such?"), "it has no such database or role"),
        ):
            with pytest.raises(StoreError, match=reason) as caught:
                Pool(dsn)
            assert "pass-word" not in str(caught.value)
    printed = "".join(capfd.readouterr())
    assert "pass-word" not in printed
    assert "127.0.0.1" not in printed


# -- writers at the same time


def _race(store: PostgresStore, changes: list[Change]) -> list[str]:
    """What became of changes that were written at the same time; on a busy machine some have to be tried again."""
    outcomes: list[str] = []

    def write(change: Change) -> None:
        try:
            store.commit([change])
            outcomes.append("stored")
        except StaleWrite:
            outcomes.append("stale")
        except StoreBusy:
            write(change)

    threads = [threading.Thread(target=write, args=(change,)) for change in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return sorted(outcomes)


def test_of_changes_of_one_revision_one_is_stored(whole: PostgresStore) -> None:
    (memory,) = whole.browse(wanted(project="alpha"))
    changes = [Change(memory, replace(memory, text=f"text {number}", revision=3)) for number in range(20)]
    assert _race(whole, changes) == ["stale"] * 19 + ["stored"]


def test_of_memories_with_one_key_one_is_stored(whole: PostgresStore) -> None:
    assert _race(whole, [Change(None, a_memory(str(number), key="k")) for number in range(20)]) == [
        *["stale"] * 19,
        "stored",
    ]


def test_concurrent_writers_in_one_session_leave_a_right_context(whole: PostgresStore) -> None:
    memories: list[Memory] = [a_memory(f"word{number}", session="s") for number in range(12)]
    assert _race(whole, [Change(None, memory) for memory in memories]) == ["stored"] * 12
    with postgres_server.pool().acting(None, (), whole._grant.organisation) as db:
        rows = db.query("SELECT text, context FROM memories WHERE session = 's' ORDER BY seq")
    texts = [text for text, _ in rows]
    assert [context for _, context in rows] == [
        "\n".join([*texts[max(place - 1, 0) : place], *texts[place + 1 : place + 2]]) for place in range(12)
    ]
