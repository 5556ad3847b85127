"""Reports in SARIF, the format that code hosts show next to the source lines."""

from __future__ import annotations

import os
from urllib.parse import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["document"]

# Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json, read 2026-11-21
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://github.com/keepmum/keepmum"


def document(reports: Sequence[Mapping[str, object]], problems: Sequence[tuple[str, str]]) -> dict[str, object]:
    """One SARIF run with a result for each report; `problems` are (input name, reason it was not scanned)."""
    rules = sorted({str(report["rule"]) for report in reports})
    notes = [{"level": "error", "message": {"text": f"{name}: {reason}"}} for name, reason in problems]
    run = {
        "tool": {"driver": {"name": "keepmum", "informationUri": _HOME, "rules": [{"id": rule} for rule in rules]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not notes, "toolExecutionNotifications": notes}],
        "results": [_result(report, rules) for report in reports],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(report: Mapping[str, object], rules: list[str]) -> dict[str, object]:
    rule = str(report["rule"])
    region = {"startLine": report["line"], "startColumn": report["column"]}
    location = {"artifactLocation": {"uri": _uri(str(report["file"]))}, "region": region}
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": "error",
        "message": {"text": f"This looks like a secret ({rule})."},
        "locations": [{"physicalLocation": location}],
    }


def _uri(name: str) -> str:
    path = quote(name.replace(os.sep, "/"), errors="replace")
    return f"file://{path}" if path.startswith("/") else path
