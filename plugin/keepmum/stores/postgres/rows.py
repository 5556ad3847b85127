"""Memories as rows of PostgreSQL, and filters as SQL."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from keepmum.core import keys
from keepmum.core.memory import Filter, Memory
from keepmum.stores.sqlite import rows

__all__ = ["FIELDS", "Condition", "columns_of", "condition", "from_row", "to_row"]

_NAMES = tuple(f'"{name}"' for name in rows.COLUMNS)  # `user` is a reserved word
_LISTED = (1, 2, 4, 8)  # tenants
FIELDS = ", ".join(f"m.{name}" for name in _NAMES)


class Condition(NamedTuple):
    """A filter as SQL."""

    scope: str  # on any table `m` with tenants
    passes: str  # on `memories m`
    named: Mapping[str, object]  # parameters of both


def to_row(memory: Memory) -> dict[str, object]:
    """All columns of a memory but those that the database gives."""
    return {**rows.to_row(memory), "tag_list": list(dict.fromkeys(memory.tags))}


def columns_of(row: dict[str, object]) -> str:
    """The quoted names of a row's columns."""
    return ", ".join(f'"{name}"' for name in row)


def from_row(row: tuple[Any, ...]) -> Memory:
    """The memory in a row that begins with `FIELDS`."""
    return _memory(row[: len(rows.COLUMNS)])


@functools.lru_cache(maxsize=512)
def _memory(values: tuple[Any, ...]) -> Memory:
    """The memory with these values: each search reads some forty, mostly those that another one read."""
    return rows.from_values(values)


def condition(wanted: Filter, tenants: Sequence[int] | None) -> Condition:
    """The filter as SQL; `tenants` are those that it searches, None for all that may be read."""
    scope, named = _among(tenants)
    named |= {
        "statuses": list(wanted.statuses),
        "now": wanted.now,
        "user": wanted.user,
        "session": wanted.session,
        "project": wanted.project,
    }
    clauses = [
        "m.status = ANY (%(statuses)s)",
        "(m.status != 'active' OR m.expires_at IS NULL OR m.expires_at > %(now)s)",
        _equals('m."user"', "user", wanted.user),
        "(m.scope != 'session' OR m.session = %(session)s)"
        if wanted.everywhere
        else "(m.scope = 'global' OR (m.scope IN ('project', 'shared') AND "
        f"{_equals('m.project', 'project', wanted.project)}) OR (m.scope = 'session' AND m.session = %(session)s))",
    ]
    for name, condition, value in (
        (
            "projects",
            "coalesce(m.project, '') = ANY (%(projects)s)",
            None if wanted.projects is None else list(wanted.projects),
        ),
        ("scopes", "m.scope = ANY (%(scopes)s)", list(wanted.scopes)),
        ("kinds", "m.kind = ANY (%(kinds)s)", list(wanted.kinds)),
        ("trusts", "m.trust = ANY (%(trusts)s)", list(wanted.trusts)),
        ("agent", "m.agent = %(agent)s", wanted.agent),
        ("tier", "m.tier = %(tier)s", wanted.tier),
        ("since", "m.updated_at >= %(since)s", wanted.since),
        ("until", "m.updated_at < %(until)s", wanted.until),
        ("keys", "m.key LIKE %(keys)s", None if wanted.keys is None else keys.to_like(wanted.keys)),
        ("tags", f"m.tag_list {'@>' if wanted.all_tags else '&&'} %(tags)s", list(wanted.tags)),
    ):
        if value is not None and (value != [] or name == "projects"):
            clauses.append(condition)
            named[name] = value
    if wanted.after is not None:
        place = rows.position(wanted.after)
        names = [f"after_{number}" for number in range(len(place))]
        clauses.append(f"({', '.join(place)}) < ({', '.join(f'%({name})s' for name in names)})")
        named |= dict(zip(names, place.values(), strict=True))
    return Condition(scope, " AND ".join(clauses), named)


def _among(tenants: Sequence[int] | None) -> tuple[str, dict[str, object]]:
    """The condition that the tenant of `m` is one of these, with its parameters.

    A few are listed one by one: by an array, a prepared statement opens all partitions of a table instead of theirs.
    They are 1, 2, 4 or 8, the last one repeated, so that few statements differ.
    """
    if tenants is None:
        return "TRUE", {}
    count = next((size for size in _LISTED if len(tenants) <= size), 0)
    if not tenants or not count:
        return "m.tenant = ANY (%(tenants)s)", {"tenants": list(tenants)}
    listed = [*tenants, *[tenants[-1]] * (count - len(tenants))]
    named: dict[str, object] = {f"tenant_{place}": tenant for place, tenant in enumerate(listed)}
    return f"m.tenant IN ({', '.join(f'%({name})s' for name in named)})", named


def _equals(column: str, name: str, value: object) -> str:
    """The condition that a column has the value of a parameter, or none.

    `IS NOT DISTINCT FROM` would say so too, but the planner expects one row from it whatever the statistics say, and
    then compares each memory with each posting.
    """
    return f"{column} IS NULL" if value is None else f"{column} = %({name})s"
