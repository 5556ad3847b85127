"""Cited code that changed, and secrets in what was stored before."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepmum.core.errors import ConfirmationNeeded, InvalidInput
from keepmum.core.memory import Change, Citation
from keepmum.dashboard.auditing import Auditor
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.desk import Desk
from keepmum.service import MemoryService
from unit.core.service_parts import OpenService
from unit.core.test_service_citations import FORGED, LOGIN, NOTE, Open, commit, open_in, project  # noqa: F401 - fixtures

_LIMIT = 60.0  # seconds


def _desk(service: MemoryService) -> Desk:
    return Desk(Dashboard(service, "page"))


def test_the_change_of_cited_code_is_shown_line_by_line(open_in: Open, project: Path) -> None:  # noqa: F811
    service = open_in(project)
    memory = service.remember(NOTE).memory
    commit(project, "second", auth=LOGIN.replace("    log(token)\n", "    send(token)\n"))
    desk = _desk(service)
    end = time.monotonic() + _LIMIT
    cited: list[Any] = []
    while {each["verdict"] for each in cited} <= {"unknown"} and time.monotonic() < end:
        cited = desk.ask("memory", {"id": memory.id})["data"]["citations"]
    assert [(each["path"], each["symbol"], each["verdict"]) for each in cited] == [("src/auth.py", "login", "changed")]
    shown = desk.ask("code", {"id": memory.id, "path": "src/auth.py"})["data"]
    assert [line for line in shown["lines"] if line[0] != " "] == [["-", "    log(token)"], ["+", "    send(token)"]]


def test_a_forged_citation_shows_no_other_file(open_in: Open, project: Path) -> None:  # noqa: F811
    (project.parent / "outside.py").write_text("OUTSIDE = 1\n")
    service = open_in(project)
    memory = service.remember(NOTE).memory
    forged = tuple(Citation(path=path, commit="0" * 40, blob="0" * 40) for path in FORGED)
    service.store.commit([Change(memory, replace(memory, revision=2, citations=forged))])
    desk, shown = _desk(service), ""
    for path in FORGED:
        with contextlib.suppress(InvalidInput):
            shown += json.dumps(desk.ask("code", {"id": memory.id, "path": path}))
    assert "OUTSIDE" not in shown
    assert "root:" not in shown


def test_secrets_that_were_stored_before_are_found_and_taken_out(
    open_memory: OpenService, agent: MemoryService
) -> None:
    key = "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    memory = agent.remember("how staging is reached").memory
    agent.store.commit([Change(memory, replace(memory, revision=2, text=f"with {key}"))])
    person = open_memory("you, in the dashboard", trust="person", quiet=True)
    desk = Desk(Dashboard(person, "page", auditor=Auditor(lambda: open_memory("you, in the dashboard", quiet=True))))

    def audited(**args: Any) -> Any:
        return desk.ask("audit", args)["data"]

    assert audited()["state"] == "none"
    shown, end = audited(start=True), time.monotonic() + _LIMIT
    while shown["state"] == "running" and time.monotonic() < end:
        shown = audited()
    assert [(each["memory"], each["field"], each["rule"]) for each in shown["places"]] == [
        (memory.id, "text", "github.token")
    ]
    assert key not in json.dumps(shown)
    with pytest.raises(ConfirmationNeeded):
        desk.change("take_out", {"confirmation": "0"})
    said = desk.change("take_out", {"confirmation": shown["confirmation"]})["data"]["said"]
    assert said.startswith("Took out what was found in 1 place")
    assert agent.store.get([memory.id])[0].text == "with [github.token removed]"
    assert audited()["state"] == "none"
