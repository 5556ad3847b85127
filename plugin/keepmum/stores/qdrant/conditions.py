"""A filter as Qdrant's conditions. A field that a point lacks has its default value."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Sequence

from qdrant_client import models

from keepmum.core.memory import STATUSES, Filter, Memory
from keepmum.stores.qdrant.layout import DENSE
from keepmum.stores.qdrant.payload import DEFAULT_TRUST, OURS, written_time

__all__ = [
    "DEFAULT_MODEL",
    "Condition",
    "all_of",
    "any_of",
    "has_text",
    "has_vector",
    "in_space",
    "is_missing",
    "none_of",
    "of_model",
    "one_of",
    "passes",
    "searched",
    "with_ids",
]

DEFAULT_MODEL = "all-MiniLM-L6-v2"  # of a shared-agent-memory server; models whose names start so are comparable
Condition = models.Condition
_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Memory)} | {"trust": DEFAULT_TRUST}


def passes(wanted: Filter) -> list[Condition]:
    """The conditions that all hold for the points that pass the filter; key patterns and places are not among them."""
    found = [
        any_of(*map(_has_status, wanted.statuses)),
        any_of(_field("expires_at", above=wanted.now), *(_has_status(one) for one in STATUSES if one != "active")),
        one_of("user", [wanted.user]),
        _place(wanted),
    ]
    if wanted.projects is not None:
        found.append(_match("project", wanted.projects))
    for name, values in (("scope", wanted.scopes), ("kind", wanted.kinds), ("trust", wanted.trusts)):
        if values:
            found.append(one_of(name, values))
    if wanted.tier is not None:
        found.append(one_of("tier", [wanted.tier]))
    if wanted.agent is not None:
        found.append(_match("agent", [wanted.agent]))
    if wanted.since is not None or wanted.until is not None:
        found.append(_updated(wanted.since, wanted.until))
    if wanted.tags:
        found += [_match("tags", [tag]) for tag in wanted.tags] if wanted.all_tags else [_match("tags", wanted.tags)]
    return found


def searched(wanted: Filter) -> list[Condition]:
    """The conditions of the points among which a search counts how rare a word is: those of its projects."""
    if wanted.projects is not None:
        return [_match("project", wanted.projects)]
    return [] if wanted.everywhere else [_match("project", [wanted.project or ""])]


def one_of(name: str, values: Sequence[str | None]) -> Condition:
    """A field of ours has one of these values."""
    given = [value for value in values if value is not None]
    found = [_match(f"{OURS}.{name}", given)]
    if _DEFAULTS.get(name) in values:
        found.append(_empty(f"{OURS}.{name}"))
    return any_of(*found)


def in_space(space: str) -> Condition:
    """The memory is of this namespace of keys."""
    scope, _, rest = space.partition("\x1f")
    project, _, user = rest.rpartition("\x1f")
    found = [_match(f"{OURS}.space", [space])]
    if scope == "project" and not user:
        found.append(all_of(_empty(OURS), _match("project", [project])))
    return any_of(*found)


def of_model(model: str) -> Condition:
    """The point has a vector of this model."""
    named = [_match(f"{OURS}.model", [model])]
    if model.startswith(DEFAULT_MODEL):
        named.append(_empty(f"{OURS}.model"))
    return all_of(has_vector(), any_of(*named))


def has_vector(name: str = DENSE) -> Condition:
    """The point has a vector of this name."""
    return models.HasVectorCondition(has_vector=name)


def has_text(text: str) -> Condition:
    """The text is exactly this one."""
    return _match("text", [text])


def is_missing(name: str) -> Condition:
    """The memory lacks a field of ours."""
    return _empty(f"{OURS}.{name}")


def with_ids(uuids: Sequence[str]) -> Condition:
    """The point has one of these ids."""
    return models.HasIdCondition(has_id=list(uuids))


def any_of(*conditions: Condition) -> Condition:
    """At least one holds; none does when there are none."""
    return models.Filter(should=list(conditions)) if conditions else with_ids([])


def all_of(*conditions: Condition) -> models.Filter:
    """All hold."""
    return models.Filter(must=list(conditions))


def none_of(*conditions: Condition) -> models.Filter:
    """None holds."""
    return models.Filter(must_not=list(conditions))


def _place(wanted: Filter) -> Condition:
    session = one_of("scope", ["session"])
    own_session = all_of(session, one_of("session", [wanted.session]))
    if wanted.everywhere:
        return any_of(none_of(session), own_session)
    of_project = all_of(one_of("scope", ["project", "shared"]), _match("project", [wanted.project or ""]))
    return any_of(one_of("scope", ["global"]), of_project, own_session)


def _has_status(status: str) -> Condition:
    """The status, with regard to what a shared-agent-memory server has forgotten since."""
    forgotten = all_of(none_of(_empty("tombstoned_at"), _match(f"{OURS}.hidden", [True])))
    stated = one_of("status", [status])
    if status == "active":
        return all_of(stated, none_of(forgotten))
    return any_of(stated, all_of(one_of("status", ["active"]), forgotten)) if status == "tombstoned" else stated


def _updated(since: int | None, until: int | None) -> Condition:
    limits = models.DatetimeRange(gte=_at(since), lt=_at(until))
    never = all_of(_empty("updated_at"), models.FieldCondition(key="created_at", range=limits))
    return any_of(models.FieldCondition(key="updated_at", range=limits), never)


def _at(moment_ms: int | None) -> dt.datetime | None:
    return None if moment_ms is None else dt.datetime.fromisoformat(written_time(moment_ms))


def _field(name: str, *, above: int) -> Condition:
    """A number of ours is missing, or above a limit."""
    key = f"{OURS}.{name}"
    return any_of(_empty(key), models.FieldCondition(key=key, range=models.Range(gt=above)))


def _match(key: str, values: Sequence[str | bool]) -> Condition:
    if not values:
        return any_of()
    if len(values) == 1:
        return models.FieldCondition(key=key, match=models.MatchValue(value=values[0]))
    return models.FieldCondition(key=key, match=models.MatchAny(any=[str(value) for value in values]))


def _empty(key: str) -> Condition:
    return models.IsEmptyCondition(is_empty=models.PayloadField(key=key))
