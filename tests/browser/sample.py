"""The memory of a sample project, written by four agents over 40 days: for tests in a browser and for pictures."""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from keepmum.core.errors import SecretFound
from keepmum.service import MemoryService, open_service
from keepmum.service.handoffs import Handoffs
from keepmum.service.opening import open_session
from keepmum.stores import SqliteSpec
from keepmum_scanner import scan

__all__ = ["Agents", "Sample", "environment", "fill"]

_HOUR, _DAY = 3_600_000, 86_400_000
_ROUTER = "export function switchRouter(pool) {\n  wait(0);\n  route(pool);\n}\n"
_RETRY = "export const retries = 5;\n"


_SAID: list[dict[str, Any]] = json.loads(Path(__file__).with_name("sample.json").read_text(encoding="utf-8"))
_USES = (
    (10, "claude-code", "deploy.rollback"),
    (8, "cursor", "deploy.rollback"),
    (2, "claude-code", "deploy.rollback"),
    (5, "cursor", "payments.retry"),
    (4, "claude-code", "payments.retry"),
    (1, "codex", "deploy.order"),
)  # days ago, by whom, what


class Sample(NamedTuple):
    """Where the sample is."""

    home: Path  # HOME of its user
    root: Path  # the project


def environment(sample: Sample) -> dict[str, str]:
    """The variables of a process that reads the sample."""
    return {
        "HOME": str(sample.home),
        "KEEPMUM_HOME": str(sample.home / ".keepmum"),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "KEEPMUM_PROJECT": "checkout",  # also where the sample is a copy
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Agents:
    """Services of several agents over one store, at times of the past."""

    def __init__(self, sample: Sample) -> None:
        self.now = time.time_ns() // 1_000_000
        self._sample = sample
        environ = environment(sample)
        first = open_session(environ, "claude-code", [str(sample.root)], upkeep=False)
        self._options = first.context.options._replace(
            clock=lambda: self.now, resolves_citations=True, quiet=False, embedder=None
        )
        first.close()

    @contextlib.contextmanager
    def at(self, ago: int, agent: str, **options: Any) -> Iterator[MemoryService]:
        """A service of an agent whose clock is `ago` milliseconds behind."""
        present, self.now = self.now, self.now - ago
        path = str(self._sample.home / ".keepmum" / "memory.db")
        service = open_service(SqliteSpec(path), scan, self._options._replace(agent=agent, **options))
        try:
            yield service
        finally:
            service.close()
            self.now = present


def fill(sample: Sample) -> None:
    """Write the sample: a repository, and memories that agents learnt, used, disputed and were refused."""
    _repository(sample)
    agents = Agents(sample)
    for ago, agent, act in sorted(_events(), key=lambda event: -event[0]):
        with agents.at(ago, agent) as service:
            act(service)
    with agents.at(5 * _HOUR, "you, in the dashboard", trust="person", origin="dashboard") as service:
        service.pin("money.units")
    with agents.at(0, "claude-code") as service:
        service.freshness([service.find("deploy.rollback")], 30.0)  # what it cites is resolved before it changes
    _change_code(sample)


_Event = tuple[int, str, Callable[[MemoryService], object]]


def _events() -> Iterator[_Event]:
    """What agents did, and how long ago."""
    for said in _SAID:
        yield said["hours_ago"] * _HOUR, said["agent"], functools.partial(_learn, said)
    better = _SAID[2] | {"text": _SAID[2]["text"].replace("two minutes", "zero sessions")}
    yield 11 * _DAY - _HOUR, "codex", functools.partial(_learn, better)
    for ago, agent, key in _USES:
        yield ago * _DAY, agent, functools.partial(MemoryService.load, references=[key])
    yield 4 * _HOUR, "claude-code", lambda service: service.recall("which pool gets a deploy first")
    yield 4 * _HOUR - 1, "claude-code", functools.partial(MemoryService.load, references=["deploy.order"])
    yield _DAY, "cursor", _archive
    yield _DAY - 1, "claude-code", _hand_over
    for ago, agent in ((3 * _HOUR - 1, "codex"), (7 * _DAY, "claude-code"), (12 * _DAY, "codex")):
        yield ago, agent, _leak


def _learn(said: dict[str, Any], service: MemoryService) -> None:
    fields = {name: value for name, value in said.items() if name not in {"agent", "hours_ago", "text"}}
    service.remember(said["text"], **fields)


def _archive(service: MemoryService) -> None:
    service.forget([service.recall("npm for installs")[0].memory.id], mode="archive")


def _hand_over(service: MemoryService) -> None:
    Handoffs(service, "project").create(
        "Webhook handler: idempotency key done, tests missing",
        "cover the duplicate-delivery case in `webhook.spec.ts`",
        stuck_reason="the fixture server drops the second request",
        context_keys=("payments.retry", "db.orders"),
    )


def _leak(service: MemoryService) -> None:
    with contextlib.suppress(SecretFound):
        service.remember("the deploy key is " + "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8")


def _git(sample: Sample, *words: str) -> None:
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=sample",
            "-c",
            "user.email=sample@example.org",
            "-c",
            "init.defaultBranch=main",
            *words,
        ],
        cwd=sample.root,
        check=True,
        capture_output=True,
        env=environment(sample),
    )


def _repository(sample: Sample) -> None:
    sample.root.mkdir(parents=True)
    for name, text in (("deploy/router.ts", _ROUTER), ("src/payments/retry.ts", _RETRY)):
        (sample.root / name).parent.mkdir(parents=True, exist_ok=True)
        (sample.root / name).write_text(text, encoding="utf-8")
    _git(sample, "init", "-q")
    _git(sample, "add", ".")
    _git(sample, "commit", "-q", "-m", "Start")


def _change_code(sample: Sample) -> None:
    (sample.root / "deploy/router.ts").write_text(_ROUTER.replace("wait(0)", "wait(5)"), encoding="utf-8")
    _git(sample, "commit", "-q", "-a", "-m", "Do not wait")
