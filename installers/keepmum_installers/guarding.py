"""Put the guard in front of a server that a client knows, and take it away again.

Only the server's own entry is touched. What it was is kept in the journal, so that taking the guard away, or
uninstalling, gives the file its bytes back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from keepmum_installers import apply, files, formats, handover
from keepmum_installers.clients.claude import servers as claude_servers
from keepmum_installers.clients.claude_desktop import servers as claude_desktop_servers
from keepmum_installers.clients.client import Scope
from keepmum_installers.clients.codex import servers as codex_servers
from keepmum_installers.clients.copilot import servers as copilot_servers
from keepmum_installers.clients.cursor import servers as cursor_servers
from keepmum_installers.clients.gemini import servers as gemini_servers
from keepmum_installers.clients.opencode import servers as opencode_servers
from keepmum_installers.clients.vscode import servers as vscode_servers
from keepmum_installers.errors import FileChanged, InstallError, NotPlainJson
from keepmum_installers.guard_entry import ServerList, guarded, is_guarded, unguarded
from keepmum_installers.journal import Edited, Journal
from keepmum_installers.locking import locked
from keepmum_installers.machine import Machine
from keepmum_installers.merge import is_blank
from keepmum_installers.plan import Change, edit_keys
from keepmum_installers.product import bundle_root
from keepmum_installers.voice import Voice

__all__ = ["CLIENTS", "Wanted", "add", "remove", "show"]

# Where each client keeps its servers: one module and one line for another client.
CLIENTS: Mapping[str, Callable[[Machine], Iterator[ServerList]]] = {
    "claude-code": claude_servers.server_lists,
    "codex": codex_servers.server_lists,
    "cursor": cursor_servers.server_lists,
    "copilot-cli": copilot_servers.server_lists,
    "gemini-cli": gemini_servers.server_lists,
    "vscode": vscode_servers.server_lists,
    "opencode": opencode_servers.server_lists,
    "claude-desktop": claude_desktop_servers.server_lists,
}

_ATTEMPTS = 20  # the client writes the same file; between a look and a write lie milliseconds
_BY_NAME = "keepmum"
_NEXT_SESSION = "It holds from the client's next session on."


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which server of which client; the scope only where one name stands in several places."""

    client: str
    server: str
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """A server's entry, and where it stands."""

    where: ServerList
    server: str
    entry: Mapping[str, Any]

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.where.keys, self.server)


def add(wanted: Wanted, machine: Machine, voice: Voice, *, dry_run: bool = False) -> int:
    """Exit status 0 when the server is behind the guard, as it may have been before.

    Raises: InstallError when there is no such server, or the guard could not stand in front of it.
    """
    change = _plan(wanted, machine)
    if change is None:
        voice.say(f"{wanted.server} is behind the guard already.")
        return 0
    voice.say(f"  {change}")
    if dry_run:
        voice.say("Nothing was changed: this was a dry run.")
        return 0
    files.private_folder(machine.home)
    with locked(machine.home):
        _repeated(lambda: _carry_out(wanted, machine))
    voice.say(f"{wanted.server} is behind the guard. {_NEXT_SESSION}")
    if machine.find("keepmum") is None and _find(wanted, machine).entry.get("command") == _BY_NAME:
        voice.say("`keepmum` is not on PATH here: put it there, or the server will not start.")
    return 0


def remove(wanted: Wanted, machine: Machine, voice: Voice, *, dry_run: bool = False) -> int:
    """Exit status 0 when no guard stands in front of the server, as none may have stood there before.

    Raises: InstallError when there is no such server, or what it was does not show.
    """
    found = _find(wanted, machine)
    if not is_guarded(found.entry):
        voice.say(f"{wanted.server} is not behind the guard.")
        return 0
    if dry_run:
        voice.say(f"  restore {wanted.server} in {found.where.path}")
        voice.say("Nothing was changed: this was a dry run.")
        return 0
    files.private_folder(machine.state())
    with locked(machine.home):
        _repeated(lambda: _restore(wanted, machine))
    voice.say(f"{wanted.server} is as it was, without the guard. {_NEXT_SESSION}")
    return 0


def show(client: str | None, machine: Machine, voice: Voice) -> int:
    """Exit status 0 after a line for each server that a client has here.

    Raises: InstallError when there is no such client.
    """
    lines = [
        f"{name}  {found.where.scope:<7}  {found.server}  {'guarded' if is_guarded(found.entry) else 'not guarded'}"
        for name in ([_known(client)] if client else CLIENTS)
        for found in _servers(name, machine)
    ]
    for line in lines or ["No client here has a server of its own; those of plugins are not listed."]:
        voice.say(line)
    return 0


def _plan(wanted: Wanted, machine: Machine) -> Change | None:
    found = _find(wanted, machine)
    if is_guarded(found.entry):
        return None
    after = guarded(found.entry, _call(found.where.scope, machine), url_is_http=found.where.url_is_http)
    edits = _edits(found, after)
    return edit_keys(found.where.path, edits, f"put the guard in front of {found.server}")


def _carry_out(wanted: Wanted, machine: Machine) -> None:
    change = _plan(wanted, machine)
    if change is not None:
        apply.carry_out([change], Journal(machine.home), machine)


def _restore(wanted: Wanted, machine: Machine) -> None:
    """By the journal, to the byte; what was changed since, or put there by somebody else, by what it says itself."""
    found = _find(wanted, machine)
    journal = Journal(machine.home)
    for record in journal:
        if isinstance(record, Edited) and record.path == found.where.path:
            _undo(record, found, journal, machine)
    found = _find(wanted, machine)
    if is_guarded(found.entry):
        _rewrite(found)


def _undo(record: Edited, found: _Found, journal: Journal, machine: Machine) -> None:
    ours = [step for step in record.undo if step.path[: len(found.keys)] == found.keys]
    others = tuple(step for step in record.undo if step not in ours)
    if not ours:
        return
    if not others:
        for done in apply.undo(journal, machine, lambda _: None, lambda each: each == record):
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


def _rewrite(found: _Found) -> None:
    plain = unguarded(found.entry)
    if plain is None:
        raise InstallError(
            f"what {found.server} was before the guard does not show in {found.where.path}", "Mend its entry by hand."
        )
    before = files.read(found.where.path) or b""
    text = before.decode("utf-8")
    for keys, value in _edits(found, plain):
        text, _ = formats.of(found.where.path).merge(text, keys, value)
    _put(found.where.path, before, text)


def _edits(found: _Found, after: Mapping[str, Any]) -> list[tuple[tuple[str, ...], object]]:
    """What makes the entry say `after`: of a command its members change, an address becomes another kind of entry."""
    if "command" not in found.entry or "command" not in after:
        return [(found.keys, after)]
    return [((*found.keys, name), after[name]) for name in ("command", "args") if name in after]


def _put(path: str, before: bytes, text: str) -> None:
    if text.encode() != before:
        files.replace(path, files.digest(before), text.encode(), 0o600)


def _repeated(step: Callable[[], None]) -> None:
    """Does the step; once more as long as somebody else writes the file meanwhile."""
    for _ in range(_ATTEMPTS):
        try:
            step()
        except FileChanged:
            continue
        return
    step()


def _call(scope: Scope, machine: Machine) -> list[str]:
    """The words that start the guard; for a team by its name, since each has it elsewhere.

    Raises: InstallError when there is no telling where the command lies.
    """
    if scope == "project":
        return [_BY_NAME, "guard"]
    own = os.path.join(machine.home, "bin", "keepmum")
    if os.name == "posix" and os.access(own, os.X_OK):
        return [own, "guard"]
    root = bundle_root()
    if root is not None:
        return [handover.python(), "-I", "-S", os.path.join(root, "plugin", "launch.py"), "guard"]
    found = machine.find("keepmum")
    if found is None:
        raise InstallError("the keepmum command is not on PATH", "Install it first: keepmum install.")
    return [found, "guard"]


def _find(wanted: Wanted, machine: Machine) -> _Found:
    """The one entry that was meant.

    Raises: InstallError when there is none, or more than one.
    """
    servers = list(_servers(_known(wanted.client), machine))
    found = [each for each in servers if each.server == wanted.server and wanted.scope in {None, each.where.scope}]
    if len(found) == 1:
        return found[0]
    if found:
        scopes = " or ".join(f"--scope {each.where.scope}" for each in found)
        raise InstallError(f"{wanted.client} has {wanted.server} in several places", f"Say which: {scopes}.")
    names = ", ".join(sorted({each.server for each in servers})) or "none"
    raise InstallError(
        f"{wanted.client} has no server of that name here", f"It has: {names}. Those of plugins are not among them."
    )


def _known(client: str) -> str:
    if client not in CLIENTS:
        raise InstallError("there is no such client", f"There are: {', '.join(CLIENTS)}.")
    return client


def _servers(client: str, machine: Machine) -> Iterator[_Found]:
    for where in CLIENTS[client](machine):
        at: object = _read(where.path)
        for key in where.keys:
            at = at.get(key) if isinstance(at, dict) else None
        for name, entry in at.items() if isinstance(at, dict) else ():
            if isinstance(entry, dict):
                yield _Found(where, name, entry)


def _read(path: str) -> dict[str, object]:
    """What the file says; nothing where there is none.

    Raises: InstallError when it could not be edited without harm.
    """
    try:
        text = (files.read(path) or b"").decode("utf-8")
        return {} if is_blank(text) else formats.of(path).parse(text)
    except UnicodeDecodeError:
        raise InstallError(f"{path} was left alone: not UTF-8 text", "Mend it and run this again.") from None
    except NotPlainJson as error:
        raise InstallError(f"{path} was left alone: {error}", "Mend it and run this again.") from None
