"""`keepmum backend`: show, choose and test where memories are stored."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import cast

from keepmum.cli import console
from keepmum.cli.login import refuse_in_session
from keepmum.cli.outbox import queued_elsewhere
from keepmum.core.errors import InvalidInput, KeepmumError
from keepmum.workspace import settings
from keepmum.workspace.resolve import backend_kind, resolve, server_of

__all__ = ["register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    command = commands.add_parser("backend")
    command.add_argument(
        "action", nargs="?", default="list", choices=("list", "use", "test"), help="what to do; default: list"
    )
    command.add_argument(
        "name", nargs="?", metavar="KIND|URL", help="for use: a kind of store, or the address of a server"
    )
    command.add_argument("--json", action="store_true", help="with list: print JSON")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.action == "use":
        if arguments.name is None:
            raise InvalidInput("KIND", f"is missing; choose {', '.join(_kinds())} or the address of a server")
        return _use(arguments.name)
    return _list(as_json=arguments.json) if arguments.action == "list" else _test()


def _list(*, as_json: bool) -> int:
    chosen = resolve(os.environ).settings
    used = backend_kind(chosen)
    if as_json:
        console.print_json([{"kind": kind, "used": kind == used, "place": _place(kind, chosen)} for kind in _kinds()])
        return 0
    for kind in _kinds():
        console.out(f"{'*' if kind == used else ' '} {kind:<10} {_place(kind, chosen)}".rstrip())
    return 0


def _use(name: str) -> int:
    if name in _kinds():
        path = settings.write_user_setting(console.state_home(), "backend.kind", name)
    elif ":" not in name:
        raise InvalidInput("KIND", f"must be one of {', '.join(_kinds())}, or an address that starts with https://")
    else:
        refuse_in_session()
        origin = settings.origin_of(name)
        path = settings.write_user_setting(console.state_home(), "backend.origin", origin)
        settings.write_user_setting(console.state_home(), "backend.kind", "rest")
    chosen = resolve(os.environ).settings
    used = backend_kind(chosen)
    where = f"at {server_of(chosen, os.environ).origin}" if used == "rest" else f"in {used}"
    console.out(f"Memories are now stored {where} ({path}).")
    if used == "rest" and (no_key := server_of(chosen, os.environ).no_key):
        console.err(no_key)
    console.err("clients use it from their next session on; memories in other stores stay there")
    for origin in queued_elsewhere(server_of(chosen, os.environ).origin if used == "rest" else ""):
        console.err(f"writes are still queued for {origin}: `keepmum outbox list`")
    if (source := chosen.source_of("backend.kind")) and not source.startswith(path):
        console.err(f"this has no effect here yet: {source} overrides it")
    return 0


def _test() -> int:
    """Check that the store can be read and written."""
    with console.Session(notices=False) as memory:
        facts = memory.health()
        capabilities, here = memory.store.capabilities, memory.context.place.project
    for name in ("server", "path", "memories", "integrity", "collection", "queued", "refused"):
        if facts.get(name) is not None:
            console.out(f"{name}: {facts[name]}")
    problem = facts.get("problem") or (capabilities.reason if not capabilities.writable else "")
    if problem or facts.get("integrity") not in {None, "ok"}:
        raise KeepmumError(str(problem or "the store is damaged; run `keepmum doctor`"))
    for promise, sentence in capabilities.cannot.items():
        console.out(f"without {promise}: {sentence}")
    roles = cast("Mapping[str, str]", facts.get("roles", {}))
    for project, role in sorted(roles.items()):
        console.out(f"role: {role} in {'every project' if project == '*' else project or 'no project'}")
    if "roles" in facts and not {here, "*"} & roles.keys():
        raise KeepmumError(f"the key has no role in the project {here}; ask an administrator of the server for one")
    console.out("readable" if roles and {*roles.values()} == {"reader"} else "readable and writable")
    return 0


def _kinds() -> tuple[str, ...]:
    return settings.SETTINGS["backend.kind"].choices


def _place(kind: str, chosen: settings.Settings) -> str:
    if kind == "rest":
        return chosen.backend.origin or "no server is configured"
    return ".memories in each project's folder" if kind == "markdown" else chosen.store.path or ""
