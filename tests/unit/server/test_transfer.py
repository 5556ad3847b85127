"""Exports and imports that are running when their key is withdrawn, or gives less than before."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from keepmum.core import ids, serialization
from keepmum.core.memory import Memory
from keepmum.server.call import Call, HttpError
from keepmum.server.people.roles import Principal
from keepmum.server.v2.transfer import export_memories, import_memories
from keepmum.service.team import Team, TeamSqliteSpec, open_team
from keepmum.workspace.allowlist import AllowlistScanner

ADA = Principal("p", "ada", "k", {"api": "writer"})
LINES = [
    json.dumps(serialization.to_json(Memory(id=ids.new_id(), text=f"Rule {n}", title="r", created_at=1, updated_at=1)))
    for n in range(300)
]


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with contextlib.closing(open_team(TeamSqliteSpec(str(tmp_path / "m.db")), AllowlistScanner(None))) as opened:
        yield opened


def _call(team: Team, changes_after: int, then: Principal | None, body: str = "") -> Call:
    """A call whose key is another one after it was looked at some times."""
    looks = iter([ADA] * changes_after)
    return Call(
        team=team, principal=ADA, query={"project": "api"}, raw=io.BytesIO(body.encode()),
        current_principal=lambda: next(looks, then),
    )  # fmt: skip


def _exported(call: Call) -> list[bytes]:
    return list(cast("Iterator[bytes]", export_memories(call).body))


@pytest.mark.parametrize("then", [None, ADA._replace(roles={"web": "writer"})])
def test_an_import_ends_when_its_key_changes(team: Team, then: Principal | None) -> None:
    with pytest.raises(HttpError, match="what is stored stays") as refused:
        import_memories(_call(team, 5, then, "\n".join(LINES[:9])))
    assert refused.value.status == 401
    assert len(_exported(_call(team, 9, ADA))) == 5 + 1


def test_an_export_ends_without_its_last_line_when_its_key_is_withdrawn(team: Team) -> None:
    import_memories(_call(team, 0, ADA, "\n".join(LINES)))
    lines = _exported(_call(team, 2, None))
    assert len(LINES) > len(lines) > 0
    assert b"exported" not in lines[-1]
