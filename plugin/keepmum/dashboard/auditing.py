"""Searches all stored memories for secrets, in a thread and with a service of its own, since it takes long."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from keepmum.core.errors import KeepmumError, report_unexpected
from keepmum.service import MemoryService

if TYPE_CHECKING:
    from keepmum.service.audit import Report

__all__ = ["AuditState", "Auditor"]


class AuditState(NamedTuple):
    """How far an audit is."""

    name: Literal["none", "running", "done", "failed"] = "none"
    looked_at: int = 0  # memories
    report: Report | None = None  # knows the secrets; only the places are shown
    said: str = ""  # why it failed

    @property
    def confirmation(self) -> str:
        """What must be sent back to remove exactly what was found; empty when there is nothing."""
        if self.report is None or not self.report.places:
            return ""
        return hashlib.blake2b("\n".join(map(str, self.report.places)).encode(), digest_size=6).hexdigest()


class Auditor:
    """Runs one audit at a time; without `open_service` there is none."""

    def __init__(self, open_service: Callable[[], MemoryService] | None = None) -> None:
        self._open_service = open_service
        self.state = AuditState()

    def start(self) -> None:
        """Start an audit, unless one runs."""
        if self._open_service is not None and self.state.name != "running":
            self.state = AuditState("running")
            threading.Thread(target=self._run, args=(self._open_service,), daemon=True).start()

    def forget(self) -> None:
        """Forget what was found, after it was removed."""
        self.state = AuditState()

    def _run(self, open_service: Callable[[], MemoryService]) -> None:
        try:
            with open_service() as service:
                report = service.audit(self._progress)
            self.state = AuditState("done", report.looked_at, report, report.incomplete)
        except KeepmumError as error:
            self.state = AuditState("failed", said=str(error))
        except Exception as error:  # noqa: BLE001 - the page must not wait for ever
            report_unexpected("an audit", error)
            self.state = AuditState("failed", said=f"internal error ({type(error).__name__})")

    def _progress(self, done: int, _: int) -> None:
        self.state = self.state._replace(looked_at=done)
