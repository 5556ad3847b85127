"""Starts Keepmum with limits of time that no busy machine reaches: `python3 -I tests/patient_launch.py LAUNCH ...`.

The product stops waiting for another program after some seconds, and then answers without it. On a machine that stops a
process for longer it is right to do so, but a test that expects the other program's answer would fail. Tests of the
limits themselves start `launch.py`, or set short limits in their own process. `install` does it in this process.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

__all__ = ["command", "install"]

_LONG = 600  # seconds
_LIMITS: dict[str, dict[str, object]] = {  # by module
    "keepmum.cli.outbox": {"_TIMEOUT": _LONG},
    "keepmum.dashboard.views.detail": {"_CODE_SECONDS": _LONG},
    "keepmum.dashboard.views.queue": {"_CODE_SECONDS": _LONG},
    "keepmum.embedding.openai_compatible": {"_TIMEOUT_ONE": _LONG},
    "keepmum.guard.remote": {"_GRACE": _LONG},
    "keepmum.server.people.oidc.fetch": {"SECONDS": _LONG},
    "keepmum.service.citations": {"IN_AN_ANSWER": _LONG},
    "keepmum.service.review.queue": {"_CODE_SECONDS": _LONG, "_PAGE_SECONDS": _LONG},
    "keepmum.stores.markdown.registry": {"_LOCK_TIMEOUT": _LONG},
    "keepmum.stores.postgres.access": {
        "_SETTINGS": f"-c statement_timeout={_LONG}s -c lock_timeout={_LONG}s",
        "_WAIT": _LONG,
    },
    "keepmum.stores.qdrant.collection": {"_TIMEOUT": _LONG},
    "keepmum.stores.rest.http_client": {"_SECONDS": 50},  # less than the pause that a busy server may ask for
    "keepmum.stores.sqlite.vector_index": {"_SEARCH_TIMEOUT": _LONG},
    "keepmum.stores.sqlite.vector_search": {"_TIMEOUT": _LONG},
    "keepmum.workspace.git.history": {"_TIMEOUT": _LONG},
    "keepmum.workspace.git.process": {"_TIMEOUT": _LONG, "_STATUS_TIMEOUT": _LONG},
}


def command(launch: Path, *arguments: str, python: Sequence[str] = (sys.executable, "-I")) -> list[str]:
    """The command that starts this `launch.py` patiently."""
    return [*python, __file__, str(launch), *arguments]


def install() -> None:
    """Replace the limits of modules that are imported from now on."""
    plain = SourceFileLoader.exec_module

    def exec_module(self: SourceFileLoader, module: ModuleType) -> None:
        plain(self, module)
        for name, value in _LIMITS.get(module.__name__, {}).items():
            assert name in vars(module), f"{module.__name__} has no {name}"
            setattr(module, name, value)

    SourceFileLoader.exec_module = exec_module  # type: ignore[assignment, method-assign]


if __name__ == "__main__":
    install()
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
