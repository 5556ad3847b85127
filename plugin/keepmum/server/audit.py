"""The audit log by the API: who did what to which memory, person or key, in a chain that shows changes."""

from __future__ import annotations

from typing import cast

from keepmum.core import audit_chain
from keepmum.core.memory import JsonValue
from keepmum.server.call import Answer, Call, Forbidden
from keepmum.server.people.roles import EVERY_PROJECT
from keepmum.server.routes import Route, Schema
from keepmum.service.team import AuditFilter

__all__ = ["ROUTES"]

_PATH = "/api/v2/audit"
_MOST = 1_000  # rows of one answer
_NAMED: Schema = {"type": ["string", "null"]}
_ROW: Schema = {
    "type": "object",
    "properties": {
        "number": {"type": "integer"}, "at": {"type": "integer"}, "actor": {"type": "string"},
        "action": {"type": "string"}, "subject": _NAMED, "project": _NAMED,
    },
    "required": ["number", "at", "actor", "action", "subject", "project"],
}  # fmt: skip
_ROWS: Schema = {
    "type": "object",
    "properties": {"data": {"type": "array", "items": _ROW}, "head": {"type": "string"}},
    "required": ["data", "head"],
}
_VERDICT: Schema = {
    "type": "object",
    "properties": {"intact": {"type": "boolean"}, "head": {"type": "string"}, "problem": {"type": "string"}},
    "required": ["intact", "head", "problem"],
}


def rows(call: Call) -> Answer:
    """Rows of the projects that the key administers, with the head of the chain.

    They are in order from `after` on, or latest first below `before`.
    """
    own = call.principal
    whole = own.may("admin", EVERY_PROJECT)
    wanted = call.query.get("project")
    if wanted is not None and not own.may("admin", str(wanted)):
        raise Forbidden("this key is not an admin of that project")
    administered = None if whole else [name for name, role in own.roles.items() if role == "admin"]
    head = call.team.records.seal()
    found = call.team.records.audit(
        cast("int", call.query.get("after", 0)),
        cast("int", call.query.get("limit", 100)),
        projects=administered if wanted is None else [str(wanted)],
        wanted=AuditFilter(*(cast("str | None", call.query.get(name)) for name in AuditFilter._fields)),
        before=cast("int | None", call.query.get("before")),
    )
    listed: list[JsonValue] = [cast("dict[str, JsonValue]", row._asdict()) for row in found]
    return Answer(200, {"data": listed, "head": str(head)})


def verification(call: Call) -> Answer:
    """Whether the chain is intact, and has the row of a head that was kept elsewhere."""
    if not call.principal.may("admin", EVERY_PROJECT):
        raise Forbidden("this key is not an admin of every project")
    kept = audit_chain.read_head(str(call.query["head"])) if "head" in call.query else None
    verdict = audit_chain.verify(call.team.records.chain(), kept)
    return Answer(200, {"intact": not verdict.problem, "head": str(verdict.head), "problem": verdict.problem})


ROUTES = (
    Route("GET", _PATH, rows, "admin", "Read the audit log", "audit", {200: _ROWS}, query={
        "after": {"type": "integer", "minimum": 0}, "limit": {"type": "integer", "minimum": 1, "maximum": _MOST},
        "before": {"type": "integer", "minimum": 1},
        **{name: {"type": "string", "maxLength": 255} for name in ("project", *AuditFilter._fields)},
    }),
    Route("GET", f"{_PATH}/verification", verification, "admin", "Check the chain of the audit log", "audit",
          {200: _VERDICT}, query={"head": {"type": "string", "maxLength": 100}}),
)  # fmt: skip
