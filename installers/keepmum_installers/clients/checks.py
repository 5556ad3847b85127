"""Checks that the doctor makes for every client: an interpreter that starts, hooks that ran, a server that was used."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping

from keepmum_hooks.event import GUARD
from keepmum_hooks.places import heartbeat_file
from keepmum_installers import files
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, note, ok, problem
from keepmum_installers.machine import Machine, Outcome

__all__ = ["dotted", "interpreter", "json_list", "last_runs", "server"]

_OLDEST = (3, 9)  # for the hooks; the server finds a newer interpreter itself
_PRINT_VERSION = "import sys; print(*sys.version_info[:2], sep='.')"
_SECONDS = 20
_WEEK = 7 * 24 * 3600
_FIRST_USE = "Start the client in a folder that you trust, and send a message."


def dotted(version: tuple[int, ...]) -> str:
    """A version with dots: 2.1.163."""
    return ".".join(map(str, version))


def json_list(command: str, done: Outcome, next_step: str, key: str = "") -> list[dict[str, object]]:
    """The objects in the JSON list that a command of the client printed, or in the list at that key of an object.

    Raises: InstallError when it printed no JSON.
    """
    try:
        value = json.loads(done.out)
    except ValueError:
        raise InstallError(f"`{command}` gave no list: {done.sentence}", next_step) from None
    found = value.get(key) if isinstance(value, dict) else value
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def interpreter(client: str, machine: Machine, path: str | None = None) -> Finding:
    """Whether the interpreter that starts hooks and server runs: the one at `path`, else `python3` on PATH.

    Committed manifests name no path, since they are the same on every machine.
    """
    about, found = f"{client} python3", path or machine.find("python3")
    if found is None:
        return problem(about, "hooks and server start as `python3`, which is not on PATH", "Put python3 on PATH.")
    done = machine.run((found, "-I", "-S", "-c", _PRINT_VERSION), _SECONDS)
    version = re.fullmatch(r"(\d+)\.(\d+)", done.out.strip())
    if done.code or not version:
        return problem(about, f"{found} does not run: {done.sentence}", "Put a Python that works first on PATH.")
    if (int(version[1]), int(version[2])) < _OLDEST:
        return problem(about, f"{found} is {version[0]}, too old for the hooks", "Put 3.9 or newer first on PATH.")
    return ok(about, f"{version[0]} at {found}")


def last_runs(client: str, events: Mapping[str, str], machine: Machine, when_old: str) -> Iterator[Finding]:
    """When each hook last ran, and who last used the server; `events` maps the client's event names to ours."""
    for name, event in events.items():
        yield _hook(client, name, event, machine, when_old)
    yield server(client, machine)


def server(client: str, machine: Machine) -> Finding:
    """When the client last connected to the server, and its name and version."""
    about, path = f"{client} server", heartbeat_file(machine.home, client, "server")
    age = _age(path)
    if age is None:
        return note(about, "has not been used yet", _FIRST_USE)
    try:
        info = json.loads(files.read(path) or b"{}")
        who = f"{info['name']} {info['version']}".strip()
    except (ValueError, KeyError, TypeError):
        who = "a client that did not send its name"
    return ok(about, f"last used {_ago(age)}, by {who}")


def _hook(client: str, name: str, event: str, machine: Machine, when_old: str) -> Finding:
    """When the hook last ran; `when_old` is the next step after a week without a run."""
    about, age = f"{client} {name} hook", _age(heartbeat_file(machine.home, client, event))
    if age is None and event == GUARD:  # it writes its heartbeat only for a call that it checks, which may never come
        return note(about, "has met no write to another memory yet")
    if age is None:
        return note(about, "has not run yet", _FIRST_USE)
    if age > _WEEK and event != GUARD:
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
