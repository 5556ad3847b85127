"""The projects of a key: how much each holds, and how much it may."""

from __future__ import annotations

from keepmum.core.memory import JsonValue
from keepmum.server.call import Answer, Call
from keepmum.server.people.roles import EVERY_PROJECT
from keepmum.server.routes import Route, Schema
from keepmum.service.team import ORGANISATION, Usage

__all__ = ["ROUTES"]

_NUMBER: Schema = {"type": "integer", "minimum": 0}
_PROJECT: Schema = {
    "type": "object",
    "properties": {
        "project": {"type": "string"}, "role": {"type": "string"}, "memories": _NUMBER, "active": _NUMBER,
        "bytes": _NUMBER, "changed_at": {"type": ["integer", "null"]},
    },
    "required": ["project", "role", "memories", "active", "bytes", "changed_at"],
}  # fmt: skip
_LIMITS: Schema = {
    "type": "object",
    "properties": {"memories": _NUMBER, "bytes": _NUMBER},
    "required": ["memories", "bytes"],
}
_PROJECTS: Schema = {
    "type": "object",
    "properties": {"data": {"type": "array", "items": _PROJECT}, "limits": _LIMITS},
    "required": ["data", "limits"],
}


def list_projects(call: Call) -> Answer:
    """The projects that the key may read, with what each stores, and the most that one may store (0: no limit).

    `memories` and `bytes` include the trash. The project "" holds what belongs to no project.
    """
    usage = call.team.shared.usage(call.principal.grant(ORGANISATION))
    names = {*usage, *call.principal.roles} - {EVERY_PROJECT}
    limits = call.team.shared.limits
    return Answer(
        200,
        {
            "data": [_shown(call, name, usage.get(name)) for name in sorted(names)],
            "limits": {"memories": limits.project_memories, "bytes": limits.project_bytes},
        },
    )


def _shown(call: Call, project: str, used: Usage | None) -> JsonValue:
    stored: dict[str, JsonValue] = {"memories": 0, "active": 0, "bytes": 0, "changed_at": None}
    return {"project": project, "role": call.principal.role_in(project), **stored, **(used._asdict() if used else {})}


ROUTES = (
    Route("GET", "/api/v2/projects", list_projects, "reader", "List projects with what they store", "projects",
          {200: _PROJECTS}),
)  # fmt: skip
