"""The trial: a memory, a key and a due turn are put before the client, and the model is asked what it saw of them."""

from __future__ import annotations

import os
import platform
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from keepmum_hooks.capture_prompt import CAPTURE_PROMPT
from keepmum_installers.errors import InstallError
from keepmum_installers.live.driver import Driver
from keepmum_installers.live.model import Call, Model
from keepmum_installers.live.stage import Stage, stage
from keepmum_installers.machine import Machine

__all__ = ["Proof", "Verdict", "prove"]

Verdict = Literal["reached the model", "shown to the user only", "dropped", "refused", "not refused"]
_PROMPT = "go on"
_TOOLS = ("remember", "recall", "load", "forget", "resume")
_MEMORY_FILE = "AGENTS.md"


@dataclass(frozen=True, slots=True)
class Proof:
    """What one client did with each thing that ought to reach its model."""

    client: str
    version: str
    day: str  # 2026-11-21
    tools: tuple[str, ...]  # of ours, those offered or named to the model
    briefing: Verdict
    capture: Verdict
    write: Verdict  # of a secret into our memory
    guard: Verdict  # of a secret into a memory file
    system: str  # on which it was tried: Linux

    @property
    def holds(self) -> bool:
        """Whether everything is as it should be."""
        arrived = self.briefing == self.capture == "reached the model"
        return arrived and self.write == self.guard == "refused" and self.offers_all

    @property
    def offers_all(self) -> bool:
        """Whether the model was offered every tool of ours."""
        return set(self.tools) == set(_TOOLS)


def prove(driver: Driver, program: str, root: str, machine: Machine) -> Proof:
    """What the client at `program` does, tried in a home that is gone afterwards.

    Raises: InstallError when the client could not be run.
    """
    canary = f"canary {secrets.token_hex(3)} sings"
    key = f"ghp{'_'}{'4fQ9zR7k' * 4}Xb21"  # put together here, so that no file holds one
    with stage(root, machine) as on:
        on.keepmum("remember", "--kind", "decision", canary)
        driver.install(program, on)
        memory_file = os.path.join(on.project, _MEMORY_FILE)
        script = [Call("remember", {"text": f"the deploy key is {key}"}), driver.write(memory_file, f"key: {key}\n")]
        with Model(driver.wire, [*script]) as model:
            due = {"KEEPMUM_CAPTURE_EVERY": "1", "KEEPMUM_CAPTURE_UNATTENDED": "1"}
            shown = driver.run(program, Stage(on.root, on.home, on.project, {**on.environ, **due}), model.url, _PROMPT)
        asked = model.texts()
        if not asked:
            raise InstallError(
                f"{driver.title} asked its model nothing", "Run the client once by hand, then try again."
            )
        return Proof(
            client=driver.title,
            version=driver.version(program, machine),
            day=time.strftime("%Y-%m-%d", time.gmtime()),
            tools=tuple(tool for tool in _TOOLS if _is_offered(tool, model.tools(), asked[0])),
            briefing=_arrival(canary, asked[:1], shown),
            capture=_arrival(CAPTURE_PROMPT, asked, shown),
            write=_refusal(asked[0:2], key, on.keepmum_home),
            guard=_refusal(asked[1:3], key, memory_file),
            system=platform.system(),
        )


def _is_offered(tool: str, names: Sequence[str], first: str) -> bool:
    """Whether the model may call a tool at once, or is told its full name to look it up by."""
    return any(name.endswith((f"_{tool}", f"-{tool}")) for name in names) or f"memory__{tool}" in first


def _arrival(text: str, asked: Sequence[str], shown: str) -> Verdict:
    if any(text in request for request in asked):
        return "reached the model"
    return "shown to the user only" if text in shown else "dropped"


def _refusal(around: Sequence[str], key: str, place: str) -> Verdict:
    """Whether a call with a key in it was refused: the model was told which rule, and the key got nowhere."""
    from keepmum_scanner import scan

    rule = scan(key)[0].rule
    told = len(around) > 1 and around[1].count(rule) > around[0].count(rule)
    return "refused" if told and not _holds(place, key.encode()) else "not refused"


def _holds(place: str, text: bytes) -> bool:
    """Whether a file, or any file of a folder, has the text in it."""
    paths = (
        [place]
        if os.path.isfile(place)
        else [os.path.join(top, name) for top, _, names in os.walk(place) for name in names]
    )
    for path in paths:
        with open(path, "rb") as file:
            if text in file.read():
                return True
    return False
