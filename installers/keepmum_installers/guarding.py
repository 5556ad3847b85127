"""Put the guard in front of a server in a client's settings, and remove it again.

Only the server's entry is changed. The journal keeps its old content, so that removing the guard, or uninstalling,
restores the bytes of the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from keepmum_installers import apply, files, formats, local_plugin
from keepmum_installers.app import layout
from keepmum_installers.clients import CLIENTS
from keepmum_installers.clients.client import Scope, ServerList
from keepmum_installers.console import Console
from keepmum_installers.errors import FileChanged, InstallError
from keepmum_installers.guard_entry import guarded, is_guarded, is_keepmum, unguarded
from keepmum_installers.journal import Edited, Journal
from keepmum_installers.locking import locked
from keepmum_installers.machine import Machine
from keepmum_installers.naming import unknown_client
from keepmum_installers.plan import Change, edit_keys
from keepmum_installers.product import bundle_root

__all__ = ["Target", "add", "remove", "show"]

_ATTEMPTS = 20  # the client writes the same file, but reading and writing it takes milliseconds
_BY_NAME = "keepmum"
_NEXT_SESSION = "It takes effect in the client's next session."


@dataclass(frozen=True, slots=True)
class Target:
    """A server of a client; the scope is needed only when several lists have that name."""

    client: str
    server: str
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class _ServerEntry:
    """A server's entry, and the list that it is in."""

    servers: ServerList
    server: str
    entry: Mapping[str, Any]

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.servers.keys, self.server)


def add(target: Target, machine: Machine, console: Console, *, dry_run: bool = False) -> int:
    """Put the guard in front of a server; the exit status is 0, also when it was there before.

    Raises: InstallError when there is no such server, or the guard does not support it.
    """
    change = _plan(target, machine)
    if change is None:
        console.say(f"{target.server} is behind the guard already.")
        return 0
    console.say(f"  {change}")
    if dry_run:
        console.say("Nothing was changed: this was a dry run.")
        return 0
    files.private_folder(machine.home)
    with locked(machine.home):
        _retry(lambda: _carry_out(target, machine))
    console.say(f"{target.server} is behind the guard. {_NEXT_SESSION}")
    if machine.find("keepmum") is None and _find(target, machine).entry.get("command") == _BY_NAME:
        console.say("`keepmum` is not on PATH here: put it there, or the server will not start.")
    return 0


def remove(target: Target, machine: Machine, console: Console, *, dry_run: bool = False) -> int:
    """Remove the guard from a server; the exit status is 0, also when there was none.

    Raises: InstallError when there is no such server, or its former entry cannot be derived.
    """
    found = _find(target, machine)
    if not is_guarded(found.entry):
        console.say(f"{target.server} is not behind the guard.")
        return 0
    if dry_run:
        console.say(f"  restore {target.server} in {found.servers.path}")
        console.say("Nothing was changed: this was a dry run.")
        return 0
    files.private_folder(machine.state())
    with locked(machine.home):
        _retry(lambda: _restore(target, machine))
    console.say(f"{target.server} is as it was, without the guard. {_NEXT_SESSION}")
    return 0


def show(client: str | None, machine: Machine, console: Console) -> int:
    """Print a line for each server that applies here; the exit status is 0.

    Raises: InstallError when there is no such client.
    """
    lines = [
        f"{name}  {found.servers.scope:<7}  {found.server}  {_state(found.entry)}"
        for name in ([_known(client)] if client else CLIENTS)
        for found in _servers(name, machine)
    ]
    for line in lines or ["No client here has a server in its settings; those of plugins are not listed."]:
        console.say(line)
    return 0


def _state(entry: object) -> str:
    if is_keepmum(entry):
        return "is Keepmum, which scans every write"
    return "guarded" if is_guarded(entry) else "not guarded"


def _plan(target: Target, machine: Machine) -> Change | None:
    found = _find(target, machine)
    if is_guarded(found.entry):
        return None
    after = guarded(
        found.entry, _call(target.client, found.servers.scope, machine), url_is_http=found.servers.url_is_http
    )
    comments = CLIENTS[target.client].comments
    return edit_keys(
        found.servers.path, _edits(found, after), f"put the guard in front of {found.server}", comments=comments
    )


def _carry_out(target: Target, machine: Machine) -> None:
    change = _plan(target, machine)
    if change is not None:
        apply.carry_out([change], Journal(machine.home), machine)


def _restore(target: Target, machine: Machine) -> None:
    """Restore the entry from the journal; derive it from the entry itself if that was changed or is not ours."""
    found = _find(target, machine)
    journal = Journal(machine.home)
    for record in journal:
        if isinstance(record, Edited) and record.path == found.servers.path:
            _undo(record, found, journal, machine)
    found = _find(target, machine)
    if is_guarded(found.entry):
        _rewrite(found, comments=CLIENTS[target.client].comments)


def _undo(record: Edited, found: _ServerEntry, journal: Journal, machine: Machine) -> None:
    ours = [step for step in record.undo if step.path[: len(found.keys)] == found.keys]
    others = tuple(step for step in record.undo if step not in ours)
    if not ours:
        return
    if not others:
        for done in apply.undo(journal, machine, lambda each: each == record):
            if done.problem is not None:
                raise done.problem
        return
    before = files.read(record.path) or b""
    text = before.decode("utf-8")
    for step in reversed(ours):
        text = formats.of(record.path).strip(text, step)
    _put(record.path, before, text)
    journal.remove(record)
    journal.add(replace(record, undo=others))


def _rewrite(found: _ServerEntry, *, comments: bool) -> None:
    plain = unguarded(found.entry)
    if plain is None:
        raise InstallError(
            f"the entry of {found.server} in {found.servers.path} does not show what it was before", "Fix it by hand."
        )
    before = files.read(found.servers.path) or b""
    text = before.decode("utf-8")
    for keys, value in _edits(found, plain):
        text, _ = formats.of(found.servers.path, comments=comments).merge(text, keys, value)
    _put(found.servers.path, before, text)


def _edits(found: _ServerEntry, after: Mapping[str, Any]) -> list[tuple[tuple[str, ...], object]]:
    """The edits that turn the entry into `after`: two members of a command, or the whole entry of an address."""
    if "command" not in found.entry or "command" not in after:
        return [(found.keys, after)]
    return [((*found.keys, name), after[name]) for name in ("command", "args") if name in after]


def _put(path: str, before: bytes, text: str) -> None:
    if text.encode() != before:
        files.replace(path, files.digest(before), text.encode(), 0o600)


def _retry(step: Callable[[], None]) -> None:
    """Run the step, and again while another program changes the file meanwhile."""
    for _ in range(_ATTEMPTS):
        try:
            step()
        except FileChanged:
            continue
        return
    step()


def _call(client: str, scope: Scope, machine: Machine) -> list[str]:
    """The arguments that start the guard; for a team as the client can name the command, since its path differs.

    Raises: InstallError when the command is not found.
    """
    if scope == "project":
        return [CLIENTS[client].team_command, "guard"]
    own = os.path.join(machine.home, "bin", "keepmum")
    if os.name == "posix" and os.access(own, os.X_OK):
        return [own, "guard"]
    root = bundle_root()
    if root is not None:
        launch = os.path.join(layout.for_clients(root, machine.home), "plugin", "launch.py")
        return [local_plugin.interpreter(), "-I", "-S", launch, "guard"]
    found = machine.find("keepmum")
    if found is None:
        raise InstallError("the keepmum command is not on PATH", "Install it first: keepmum install.")
    return [found, "guard"]


def _find(target: Target, machine: Machine) -> _ServerEntry:
    """The entry of the target.

    Raises: InstallError when there is none, or more than one.
    """
    servers = list(_servers(_known(target.client), machine))
    found = [each for each in servers if each.server == target.server and target.scope in {None, each.servers.scope}]
    if len(found) == 1:
        return found[0]
    if found:
        scopes = " or ".join(f"--scope {each.servers.scope}" for each in found)
        raise InstallError(f"{target.client} has {target.server} in several places", f"Choose one: {scopes}.")
    names = ", ".join(sorted({each.server for each in servers}))
    known = f"It has {names}." if names else "Its settings name no server."
    raise InstallError(
        f"{target.client} has no server of that name here", f"{known} Servers of plugins are not in its settings."
    )


def _known(client: str) -> str:
    if client not in CLIENTS:
        says, instead = unknown_client(client)
        raise InstallError(says, f"{instead[0].upper()}{instead[1:]}")
    return client


def _servers(client: str, machine: Machine) -> Iterator[_ServerEntry]:
    for servers in CLIENTS[client].server_lists(machine):
        comments = CLIENTS[client].comments
        entries: object = formats.editable_values(servers.path, "Fix it and run this again.", comments=comments)
        for key in servers.keys:
            entries = entries.get(key) if isinstance(entries, dict) else None
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if isinstance(entry, dict):
                yield _ServerEntry(servers, name, entry)
