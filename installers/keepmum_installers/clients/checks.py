"""What the doctor asks of every client: an interpreter that starts, hooks that ran, a server that was used."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping

from keepmum_hooks.event import GUARD
from keepmum_hooks.places import heartbeat_file
from keepmum_installers import files
from keepmum_installers.finding import Finding, note, ok, problem
from keepmum_installers.machine import Machine

__all__ = ["interpreter", "lately", "server"]

_OLDEST = (3, 9)  # what the hooks run on; the server finds a newer one by itself
_SAY_VERSION = "import sys; print(*sys.version_info[:2], sep='.')"
_SECONDS = 20
_WEEK = 7 * 24 * 3600


def interpreter(client: str, machine: Machine, named: str | None = None) -> Finding:
    """Whether `python3` starts: the manifests can name no path, since they are the same on every machine.

    `named` is the path in a plugin that was made for this machine.
    """
    about, path = f"{client} python3", named or machine.find("python3")
    if path is None:
        return problem(about, "hooks and server start as `python3`, which is not on PATH", "Put python3 on PATH.")
    done = machine.run((path, "-I", "-S", "-c", _SAY_VERSION), _SECONDS)
    found = re.fullmatch(r"(\d+)\.(\d+)", done.out.strip())
    if done.code or not found:
        return problem(about, f"{path} does not run: {done.sentence}", "Put a Python that works first on PATH.")
    if (int(found[1]), int(found[2])) < _OLDEST:
        return problem(about, f"{path} is {found[0]}, too old for the hooks", "Put 3.9 or newer first on PATH.")
    return ok(about, f"{found[0]} at {path}")


def lately(client: str, events: Mapping[str, str], machine: Machine, when_old: str) -> Iterator[Finding]:
    """When each hook last ran, and who used the server last; `events` are the client's names of them, and ours."""
    for event, word in events.items():
        yield _heartbeat(client, event, word, machine, when_old)
    yield server(client, client, machine)


def server(client: str, agent: str, machine: Machine) -> Finding:
    """When the client, which the memory knows as `agent`, last opened it, and by what name and version."""
    about, path = f"{client} server", heartbeat_file(machine.home, agent, "server")
    age = _age(path)
    if age is None:
        return note(about, "has not been used yet", "Start the client, and look whether it lists the server.")
    try:
        said = json.loads(files.read(path) or b"{}")
        who = f"{said['name']} {said['version']}".strip()
    except (ValueError, KeyError, TypeError):
        who = "a client that did not say who it is"
    return ok(about, f"last used {_ago(age)}, by {who}")


def _heartbeat(client: str, event: str, word: str, machine: Machine, when_old: str) -> Finding:
    """When the hook last ran; `event` is the client's name of it, `word` ours, `when_old` what to do after a week."""
    about, age = f"{client} {event} hook", _age(heartbeat_file(machine.home, client, word))
    if age is None and word == GUARD:  # it leaves its sign where it has something to judge, which may be never
        return note(about, "has met no write to another memory yet")
    if age is None:
        return note(about, "has not run yet", "Start the client in a folder that you trust, and say something.")
    if age > _WEEK and word != GUARD:
        return note(about, f"last ran {_ago(age)}", when_old)
    return ok(about, f"last ran {_ago(age)}")


def _age(path: str) -> float | None:
    """The seconds since the file was written; None when there is none."""
    try:
        return max(0.0, time.time() - os.stat(path).st_mtime)
    except OSError:
        return None


def _ago(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now" if seconds < 60 else "a minute ago"
