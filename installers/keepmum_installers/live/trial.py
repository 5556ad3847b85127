"""One live trial: the client gets a memory, a secret and a due capture; a scripted model records what it receives."""

from __future__ import annotations

import os
import platform
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from keepmum_hooks.capture_prompt import CAPTURE_PROMPT
from keepmum_installers.errors import InstallError
from keepmum_installers.live.model import Call, Model, ModelApi
from keepmum_installers.live.sandbox import Sandbox, sandbox, version_of
from keepmum_installers.machine import Machine

__all__ = ["Driver", "TrialResult", "Verdict", "run_trial"]

Verdict = Literal["reached the model", "shown to the user only", "dropped", "refused", "not refused"]
_PROMPT = "go on"
_TOOLS = ("remember", "recall", "load", "forget", "resume")
_MEMORY_FILE = "AGENTS.md"


class Driver(Protocol):
    """How to install into one client, and how to run it unattended."""

    @property
    def api(self) -> ModelApi:
        """The API in which the client talks to its model."""

    def install(self, program: str, box: Sandbox) -> None:
        """Install the bundle by the client's own commands.

        Raises: InstallError when a command fails.
        """

    def run(self, program: str, box: Sandbox, model: str, prompt: str) -> str:
        """The output for the user of one unattended run with that prompt, against the model at that address.

        Raises: InstallError when the client does not end.
        """

    def write(self, path: str, text: str) -> Call:
        """The tool call by which the client's model writes a file."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What one client did with each part of the trial."""

    client: str
    version: str
    day: str  # 2026-11-21
    tools: tuple[str, ...]  # those of our tools that the model was offered
    briefing: Verdict
    capture: Verdict
    write: Verdict  # of a secret into our memory
    guard: Verdict  # of a secret into a memory file
    system: str  # the operating system: Linux

    @property
    def passed(self) -> bool:
        """Whether every part had the wanted verdict."""
        arrived = self.briefing == self.capture == "reached the model"
        return arrived and self.write == self.guard == "refused" and self.offers_all

    @property
    def offers_all(self) -> bool:
        """Whether the model was offered every tool of ours."""
        return set(self.tools) == set(_TOOLS)


def run_trial(title: str, driver: Driver, program: str, root: str, machine: Machine) -> TrialResult:
    """The result of a trial of the client at `program`, which its users call by that title.

    Raises: InstallError when the client could not be run.
    """
    canary = f"canary {secrets.token_hex(3)} sings"
    key = f"ghp{'_'}{'4fQ9zR7k' * 4}Xb21"  # assembled here, so that no file holds one
    with sandbox(root, machine) as box:
        box.keepmum("remember", "--kind", "decision", canary)
        driver.install(program, box)
        memory_file = os.path.join(box.project, _MEMORY_FILE)
        script = [Call("remember", {"text": f"the deploy key is {key}"}), driver.write(memory_file, f"key: {key}\n")]
        with Model(driver.api, [*script]) as model:
            due = {"KEEPMUM_CAPTURE_EVERY": "1", "KEEPMUM_CAPTURE_UNATTENDED": "1"}
            due_box = Sandbox(box.root, box.home, box.project, {**box.environ, **due})
            shown = driver.run(program, due_box, model.url, _PROMPT)
        requests = model.texts()
        if not requests:
            raise InstallError(f"{title} asked its model nothing", "Run the client once by hand, then try again.")
        return TrialResult(
            client=title,
            version=version_of(program, machine),
            day=time.strftime("%Y-%m-%d", time.gmtime()),
            tools=tuple(tool for tool in _TOOLS if _is_offered(tool, model.tools(), requests[0])),
            briefing=_arrival(canary, requests[:1], shown),
            capture=_arrival(CAPTURE_PROMPT, requests, shown),
            write=_refusal(requests[0:2], key, box.keepmum_home),
            guard=_refusal(requests[1:3], key, memory_file),
            system=platform.system(),
        )


def _is_offered(tool: str, names: Sequence[str], first: str) -> bool:
    """Whether the model may call a tool at once, or is given its full name to search for."""
    return any(name.endswith((f"_{tool}", f"-{tool}")) for name in names) or f"memory__{tool}" in first


def _arrival(text: str, requests: Sequence[str], shown: str) -> Verdict:
    if any(text in request for request in requests):
        return "reached the model"
    return "shown to the user only" if text in shown else "dropped"


def _refusal(around: Sequence[str], key: str, path: str) -> Verdict:
    """Whether a call with a key was refused: the next request names the rule, and nothing at `path` holds the key."""
    from keepmum_scanner import scan

    rule = scan(key)[0].rule
    named = len(around) > 1 and around[1].count(rule) > around[0].count(rule)
    return "refused" if named and not _holds(path, key.encode()) else "not refused"


def _holds(path: str, text: bytes) -> bool:
    """Whether the file at `path`, or any file of that folder, contains the text."""
    paths = (
        [path]
        if os.path.isfile(path)
        else [os.path.join(top, name) for top, _, names in os.walk(path) for name in names]
    )
    for each in paths:
        with open(each, "rb") as file:
            if text in file.read():
                return True
    return False
