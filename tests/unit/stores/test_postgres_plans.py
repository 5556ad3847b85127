"""What PostgreSQL's planner makes of a filter in a project with thousands of memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

import postgres_server
from contract.stores import NOW, a_memory
from keepmum.core.memory import Change, Filter
from keepmum.stores.postgres import rows
from keepmum.stores.postgres.access import Database
from keepmum.stores.postgres.store import _LAST_CHANGE

MEMORIES = 2_000
_FAR = 1_000_000_000  # no row of other tests has such a number
# More rows like those of one memory; `%s` is its id.
_MEMORIES = f"""
INSERT INTO memories OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(m, jsonb_build_object('id', m.id || n, 'seq', m.seq + n))).*
FROM memories m, generate_series({_FAR}, {_FAR + MEMORIES}) n WHERE m.id = %s
"""


def test_the_planner_expects_the_memories_that_a_filter_lets_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it expects one instead, a search compares each memory with each posting: seconds for 4,000 memories."""
    expected: list[int] = []
    query = Database.query_named

    def explained(db: Database, statement: str, named: dict[str, Any]) -> list[tuple[Any, ...]]:
        ((plans,),) = query(db, f"EXPLAIN (FORMAT JSON) {statement}", named)
        expected.append(plans[0]["Plan"]["Plan Rows"])
        return query(db, statement, named)

    memory = a_memory("Deploys go through the blue pool")
    store = postgres_server.open_at(tmp_path)
    store.commit([Change(None, memory)], [])
    with psycopg.connect(postgres_server.server().admin) as admin:
        admin.execute(_MEMORIES, [memory.id])
        admin.execute("ANALYZE memories")
    monkeypatch.setattr(Database, "query_named", explained)
    found = len(store.outlines(Filter(now=NOW, project="alpha")))
    assert (found, expected[-1] > MEMORIES / 4) == (MEMORIES + 2, True)


def test_a_prepared_statement_opens_the_partitions_of_its_projects_only() -> None:
    """Opening all of them takes longer than a search among a few hundred memories."""
    scope = rows.condition(Filter(now=NOW, project="alpha"), [1, 2]).scope
    for place, name in enumerate(("tenant_0", "tenant_1"), start=1):
        scope = scope.replace(f"%({name})s", f"${place}")
    with postgres_server.pool().acting(None, None, 1) as db:
        db.run("SET LOCAL plan_cache_mode = force_generic_plan")
        db.run(f"PREPARE opened(bigint, bigint) AS SELECT count(*) FROM memories m WHERE {scope}")
        plan = "\n".join(line for (line,) in db.query("EXPLAIN EXECUTE opened(1, 2)"))
        db.run("DEALLOCATE opened")
    assert "Subplans Removed" in plan


@pytest.mark.parametrize("read", [[7], None], ids=["project", "organisation"])
def test_the_last_change_is_the_first_row_of_an_index(read: list[int] | None) -> None:
    """Every view of a dashboard asks for it, and 100,000 numbers are kept."""
    with postgres_server.pool().acting(read, [], 1) as db:
        db.run("SET LOCAL enable_seqscan = off")  # which is faster while there are few
        plan = "\n".join(line for (line,) in db.query(f"EXPLAIN {_LAST_CHANGE}"))
    assert "Limit" in plan
    assert "Index Scan Backward using changes_last" in plan


def test_a_block_of_reads_reuses_plans_and_nothing_else_does(tmp_path: Path) -> None:
    store = postgres_server.open_at(tmp_path)

    def mode() -> Any:
        with store._acting() as db:
            return db.query("SHOW plan_cache_mode")[0][0]

    with store.reading():
        inside = mode()
    assert (inside, mode()) == ("force_generic_plan", "auto")


@pytest.mark.parametrize("count", [0, 1, 3, 8, 9])
def test_a_filter_searches_each_of_its_tenants(count: int) -> None:
    _, _, named = rows.condition(Filter(now=NOW, everywhere=True), range(count))
    listed = named.get("tenants", [value for name, value in named.items() if name.startswith("tenant_")])
    assert isinstance(listed, list)
    assert {*listed} == {*range(count)}
