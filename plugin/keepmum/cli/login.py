"""`keepmum login`, `logout` and `whoami`: the keys for team servers."""

from __future__ import annotations

import argparse
import os
import sys

from keepmum.cli import console
from keepmum.core.errors import InvalidInput, KeepmumError
from keepmum.core.memory import JsonValue
from keepmum.service import opening
from keepmum.stores import outbox
from keepmum.workspace import allowlist, credentials, settings
from keepmum.workspace.resolve import backend_kind, key_for, resolve, server_of

__all__ = ["refuse_in_session", "register"]

_LONGEST = 5_000  # characters read from standard input


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    login = commands.add_parser("login")
    login.add_argument("server", metavar="URL", help="the address of the server, such as https://memory.example")
    login.set_defaults(run=_login)
    logout = commands.add_parser("logout")
    logout.add_argument("server", metavar="URL", nargs="?", help="default: the configured server")
    logout.set_defaults(run=_logout)
    whoami = commands.add_parser("whoami")
    whoami.add_argument("--json", action="store_true", help="print JSON")
    whoami.set_defaults(run=_whoami)


def refuse_in_session() -> None:
    """Check that this is not a client's session.

    Raises: KeepmumError in one: only a person decides which server is trusted.
    """
    session = allowlist.session_of(os.environ)
    if session:
        raise KeepmumError(
            f"nothing was changed: this is a client's session ({session} is set), and only a person decides "
            "which server is trusted; run the command in your own terminal"
        )


def _login(arguments: argparse.Namespace) -> int:
    refuse_in_session()
    origin = settings.origin_of(arguments.server)
    former = credentials.find(console.state_home(), {}, origin, approved=False)
    credentials.store(console.state_home(), origin, _asked_for(origin))
    facts = _facts(origin)
    if facts.get("key_refused"):
        if former is None:
            credentials.remove(console.state_home(), origin)
        else:
            credentials.store(console.state_home(), origin, former.secret)
        raise KeepmumError(f"{facts['problem']}. The key was not stored.")
    box = outbox.Outbox(outbox.file_of(console.state_home()))
    box.resume(origin)
    box.close()
    console.out(f"The key for {origin} is stored in {credentials.path_of(console.state_home())}.")
    if not facts["reached"]:
        console.err(f"the key could not be checked: {facts['problem']}")
    chosen = resolve(os.environ).settings
    if backend_kind(chosen) != "rest" or server_of(chosen, os.environ).origin != origin:
        console.err(f"`keepmum backend use {origin}` stores your memories there")
    return 0


def _logout(arguments: argparse.Namespace) -> int:
    chosen = resolve(os.environ).settings
    if not arguments.server and backend_kind(chosen) != "rest" and chosen.backend.origin is None:
        stored = f"keys are stored for: {', '.join(_origins())}" if _origins() else "no key is stored for any server"
        raise InvalidInput("URL", f"is missing, and no team server is configured; {stored}")
    named = arguments.server or server_of(chosen, os.environ).origin
    origin = settings.origin_of(named)
    if not credentials.remove(console.state_home(), origin):
        raise KeepmumError(f"no key is stored for {origin}; stored are: {', '.join(_origins()) or 'none'}")
    console.out(f"The key for {origin} was removed here; it is still valid on the server.")
    return 0


def _whoami(arguments: argparse.Namespace) -> int:
    chosen = resolve(os.environ).settings
    if arguments.json:
        return _print_whoami(chosen)
    if backend_kind(chosen) != "rest":
        console.out("Memories are stored on this machine; no server is configured.")
        for origin in _origins():
            console.out(f"A key is stored for {origin}.")
        return 0
    server = server_of(chosen, os.environ)
    key = key_for(chosen, os.environ, server.origin)
    console.out(f"server: {server.origin} (from {chosen.source_of('backend.origin')})")
    console.out(f"key: {f'from {key.source}' if key else server.no_key}")
    if key is None:
        return 1
    facts = _facts(server.origin)
    if not facts["reached"]:
        raise KeepmumError(str(facts["problem"]))
    console.out(f"collection: {facts['collection']}; model {'ready' if facts['model_ready'] else 'not ready'}")
    console.out(f"queued: {facts['queued']}; refused: {facts['refused']}")
    return 0


def _print_whoami(chosen: settings.Settings) -> int:
    """Print as JSON which server is configured, where its key is from, and what it answers."""
    server = server_of(chosen, os.environ) if backend_kind(chosen) == "rest" else None
    key = key_for(chosen, os.environ, server.origin) if server else None
    facts = _facts(server.origin) if server and key else {}
    console.print_json(
        {
            "server": server.origin if server else None,
            "key_source": key.source if key else None,
            "keys_for": _origins(),
            **{
                name: facts.get(name)
                for name in ("reached", "problem", "collection", "model_ready", "queued", "refused")
            },
        }
    )
    return 0 if server is None or facts.get("reached") else 1


def _facts(origin: str) -> dict[str, JsonValue]:
    """Health facts of a server, with the key stored for it."""
    named = {**os.environ, "MEMORY_API_BASE_URL": origin, "KEEPMUM_BACKEND": "rest"}
    with opening.open_session(named, "cli", upkeep=False) as memory:
        return memory.health()


def _asked_for(origin: str) -> str:
    """The key, read from the terminal without echo or from a pipe; never an argument, which other users can see."""
    if not sys.stdin.isatty():
        return credentials.check_key(sys.stdin.readline(_LONGEST).strip())
    import getpass

    try:
        return credentials.check_key(getpass.getpass(f"Key for {origin} (it is not shown): ").strip())
    except EOFError:
        raise KeepmumError("no key was given; nothing was stored") from None


def _origins() -> list[str]:
    return credentials.origins(console.state_home())
