"""One session of the Qdrant store, and the requests that it makes, in a form that is the same in each run.

    python tests/unit/stores/qdrant_conversation.py OPENAPI

compares each request with Qdrant's own description of its API (docs/redoc/master/openapi.json of
https://github.com/qdrant/qdrant; recorded with version 1.19.0, read 2026-11-23), and writes the record.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[3] / name) for name in ("plugin", "scanner", "hooks", "tests")]

from contract.stores import NOW, a_memory, an_event, wanted
from keepmum.core import ids
from keepmum.core.memory import Change, Citation, Embedding
from keepmum.embedding.fake import FakeEmbedder
from keepmum.stores.qdrant import QdrantStore, connect, create
from keepmum.stores.sqlite import SqliteStore
from keepmum.stores.vectors import pack
from qdrant_server import NAME, QdrantHttp

__all__ = ["RECORD", "recorded"]

RECORD = Path(__file__).with_name("qdrant_requests.json")
_KEY = "a-key-for-tests"
_ANY_UUID = "00000000-0000-4000-8000-000000000000"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIRST, _SECOND = (ids.from_uuid(f"0199f000-0000-7000-8000-00000000000{number}") for number in (1, 2))


def recorded() -> list[list[Any]]:
    """Method, path and body of each kind of request of a session, in order."""
    with tempfile.TemporaryDirectory() as folder, QdrantHttp(_KEY) as qdrant:
        create(qdrant.url, _KEY, NAME)
        store = QdrantStore(connect(qdrant.url, _KEY, NAME), SqliteStore(str(Path(folder) / "ledger.db")))
        _session(store)
        store.close()
        assert {asked.key for asked in qdrant.asked} == {_KEY}
        return [[asked.method, asked.path, _same_each_time(asked.body)] for asked in qdrant.asked]


def _session(store: QdrantStore) -> None:
    vector = Embedding("all-MiniLM-L6-v2-test", pack(FakeEmbedder(384).embed(["slow"])[0]))
    one = a_memory("the database is slow", id=_FIRST, key="db", session="s1", tags=("db",), user="ada")
    two = a_memory("a zebra", id=_SECOND, data={"a": [1]}, expires_at=NOW + 5)
    store.commit([Change(None, one, vector), Change(None, two)], [an_event(one)])
    changed = replace(one, text="the database is fast", revision=2)
    store.commit([Change(one, changed)], [an_event(changed, action="updated")])
    vectors, versions = store.features.vector_search, store.features.versions
    assert vectors is not None
    assert versions is not None
    asked = wanted(user="ada", kinds=("note", "fact"), tags=("db",), since=NOW - 5, until=NOW + 5, projects=("alpha",))
    vectors.save([(changed, vector)])
    vectors.search(["fast"], lambda: vector, asked, 5)
    vectors.similar(vector, asked, 5)
    vectors.pending(vector.model, 5)
    vectors.is_ready(vector.model)
    store.search(["fast"], wanted(everywhere=True, scopes=("project",), trusts=("agent",), tier="mid"), 5)
    store.browse(wanted(keys="d*", user="ada", statuses=("active", "tombstoned")))
    store.same_text(one.space, "A zebra")
    versions.near([changed], asked, 0.9)
    store.count(wanted(agent="tester"))
    store.between(_FIRST, _SECOND, 2)
    store.uncited("alpha", 5)
    store.cite([(changed, (Citation(path="a.py", commit="a" * 40, blob="b" * 40),))])
    store.fading(NOW, NOW, 5)
    store.reinforce([_FIRST], NOW)
    store.health()
    store.cleanse([Change(two, None)], [], lambda _, fields: {**fields, "agent": "erased-1"})


def _same_each_time(value: Any, name: str = "") -> Any:
    """A body with random ids, places in a session and vectors replaced by one value of their type."""
    if isinstance(value, dict):
        return {each: _same_each_time(one, each) for each, one in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(one, float) for one in value):
            return [0.5]
        return [_same_each_time(one, name) for one in value]
    if name == "seq":
        return 1
    if name == "own":
        return "AAAA"
    return _ANY_UUID if isinstance(value, str) and name in {"id", "points"} and _is_random(value) else value


def _is_random(text: str) -> bool:
    return _UUID.fullmatch(text) is not None and ids.from_uuid(text) not in {_FIRST, _SECOND}


def _check(requests: list[list[Any]], document: Mapping[str, Any]) -> None:
    """Check that Qdrant's description has each request, with a body of this form.

    Raises: ValueError with the first one that it has not.
    """
    from jsonschema import Draft202012Validator

    for method, path, body in requests:
        place = (
            path.partition("?")[0]
            .replace(f"/{NAME}_audit", "/{collection_name}")
            .replace(f"/{NAME}", "/{collection_name}")
        )
        operation = document["paths"].get(place, {}).get(method.lower())
        if operation is None:
            raise ValueError(f"{method} {place} is not described")
        if body is not None:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            validator = Draft202012Validator({**_closed(schema), "components": _closed(document["components"])})
            for error in validator.iter_errors(body):
                raise ValueError(f"{method} {path}: {error.message[:500]}")


def _closed(schema: Any) -> Any:
    """A schema of OpenAPI 3.0 as JSON Schema: `nullable` allows null, and fields that are not described are errors."""
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _closed(value) for name, value in schema.items() if name != "nullable"}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return {"anyOf": [found, {"type": "null"}]} if schema.get("nullable") else found


if __name__ == "__main__":
    made = recorded()
    _check(made, json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    RECORD.write_text("[\n" + ",\n".join(json.dumps(one) for one in made) + "\n]\n", encoding="utf-8")
