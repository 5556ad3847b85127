"""The values that pass between the parts of the core. No I/O, no clock, no defaults that depend on where one is."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, get_args

__all__ = [
    "DEFAULT_TIER",
    "KINDS",
    "SCOPES",
    "TIERS",
    "Activity",
    "Filter",
    "JsonValue",
    "Match",
    "Memory",
    "Revision",
    "Store",
]

type_JsonScalar = str | int | float | bool | None
JsonValue = type_JsonScalar | list["JsonValue"] | dict[str, "JsonValue"]

Kind = Literal[
    "decision",
    "preference",
    "instruction",
    "fact",
    "project",
    "task",
    "skill",
    "snippet",
    "workflow",
    "troubleshooting",
    "relationship",
    "personality",
    "note",
]
Scope = Literal["project", "global", "session", "shared"]
