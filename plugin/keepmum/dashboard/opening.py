"""Opens the memory of a folder for a person at the dashboard."""

from __future__ import annotations

import os
from collections.abc import Mapping

from keepmum.core.memory import Trust
from keepmum.dashboard.auditing import Auditor
from keepmum.dashboard.base import Dashboard, Facts
from keepmum.dashboard.desk import Desk
from keepmum.service import MemoryService, opening
from keepmum.workspace.entry import is_agents

__all__ = ["AGENT", "open_desk"]

AGENT = "you, in the dashboard"  # as the log and the history name who wrote


def open_desk(facts: Facts, environ: Mapping[str, str] = os.environ) -> Desk:
    """The desk of this machine's dashboard, over the memory of the working folder.

    What is written here is a person's, since only a session of the page gets to it, unless an agent started this
    process: then it can read the address that opens a session.

    Raises: SettingsError, StoreError.
    """
    trust: Trust = "agent" if is_agents(environ) else "person"

    def open_service(*, drains: bool = False) -> MemoryService:
        return opening.open_session(
            environ, AGENT, origin=opening.DASHBOARD, trust=trust, upkeep=False, drains=drains, quiet=True
        )

    service = open_service(drains=True)
    service.warm()
    return Desk(Dashboard(service, "page", facts, Auditor(open_service)))
