"""Memories as rows of PostgreSQL, and filters as SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from keepmum.core import keys
from keepmum.core.memory import Filter, Memory
from keepmum.stores.sqlite import rows

__all__ = ["FIELDS", "Condition", "columns_of", "condition", "from_row", "to_row"]

_NAMES = tuple(f'"{name}"' for name in rows.COLUMNS)  # `user` is a reserved word
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
    return rows.from_values(row[: len(rows.COLUMNS)])


def condition(wanted: Filter, tenants: Sequence[int] | None) -> Condition:
    """The filter as SQL; `tenants` are those that it searches, None for all that may be read."""
    named: dict[str, object] = {
        "tenants": list(tenants or ()),
        "statuses": list(wanted.statuses),
        "now": wanted.now,
        "user": wanted.user,
        "session": wanted.session,
        "project": wanted.project,
    }
    clauses = [
        "m.status = ANY (%(statuses)s)",
        "(m.status != 'active' OR m.expires_at IS NULL OR m.expires_at > %(now)s)",
        'm."user" IS NOT DISTINCT FROM %(user)s',
        "(m.scope != 'session' OR m.session = %(session)s)"
        if wanted.everywhere
        else "(m.scope = 'global' OR (m.scope IN ('project', 'shared') AND m.project IS NOT DISTINCT FROM %(project)s)"
        " OR (m.scope = 'session' AND m.session = %(session)s))",
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
    return Condition("TRUE" if tenants is None else "m.tenant = ANY (%(tenants)s)", " AND ".join(clauses), named)
