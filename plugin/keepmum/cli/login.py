"""`keepmum login`, `logout` and `whoami`: which server gets which key."""

from __future__ import annotations

import argparse
import os
import sys

from keepmum.cli import console
from keepmum.core.errors import KeepmumError
from keepmum.core.memory import JsonValue
from keepmum.service import opening
from keepmum.stores import outbox
from keepmum.workspace import allowlist, credentials, settings
from keepmum.workspace.resolve import backend_kind, key_for, resolve, server_of
from keepmum_hooks import places

__all__ = ["home", "refuse_in_session", "register"]

_LONGEST = 5_000  # characters read from standard input


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    login = commands.add_parser("login", help="store a key for a team's server; it is asked for, or read from a pipe")
    login.add_argument("server", metavar="URL", help="the server's address, as https://memory.example")
    login.set_defaults(run=_login)
    logout = commands.add_parser("logout", help="forget the key for a server")
    logout.add_argument("server", metavar="URL", nargs="?", help="the one in use when missing")
    logout.set_defaults(run=_logout)
    whoami = commands.add_parser("whoami", help="which server is in use, where its key is from, how it answers")
    whoami.set_defaults(run=_whoami)


def home() -> str:
    """The folder of Keepmum's state.

    Raises: KeepmumError when there is none.
    """
    found = places.home(os.environ)
    if found is None:
        raise KeepmumError("there is no home folder for keys; set HOME, or KEEPMUM_HOME to a folder")
    return found


def refuse_in_session() -> None:
    """Nothing outside a client's session.

    Raises: KeepmumError in one: which server is trusted is for a person to say, not for what an agent was told.
    """
    session = allowlist.session_of(os.environ)
    if session:
        raise KeepmumError(
            f"nothing was changed: this runs inside a client's session ({session} is set), and only a person says "
            "which server is trusted; run it in a terminal of your own"
        )


def _login(arguments: argparse.Namespace) -> int:
    refuse_in_session()
    origin = settings.origin_of(arguments.server)
    former = credentials.find(home(), {}, origin, approved=False)
    credentials.store(home(), origin, _asked_for(origin))
    facts = _facts(origin)
    if facts.get("key_refused"):
        if former is None:
            credentials.remove(home(), origin)
        else:
            credentials.store(home(), origin, former.secret)
        raise KeepmumError(f"{facts['problem']}. The key was not stored.")
    box = outbox.Outbox(outbox.file_of(home()))
    box.resume(origin)
    box.close()
    console.say(f"The key for {origin} is stored in {credentials.path_of(home())}.")
    if not facts["reached"]:
        console.tell(f"it could not be tried: {facts['problem']}")
    chosen = resolve(os.environ).settings
    if backend_kind(chosen) != "rest" or server_of(chosen, os.environ).origin != origin:
        console.tell(f"`keepmum backend use {origin}` makes it the place where your memories are kept")
    return 0


def _logout(arguments: argparse.Namespace) -> int:
    if not arguments.server:
        console.check_server("URL")
    named = arguments.server or server_of(resolve(os.environ).settings, os.environ).origin
    origin = settings.origin_of(named)
    if not credentials.remove(home(), origin):
        raise KeepmumError(f"no key is stored for {origin}; stored are: {', '.join(_origins()) or 'none'}")
    console.say(f"The key for {origin} is forgotten here; where it was issued it is still valid.")
    return 0


def _whoami(_: argparse.Namespace) -> int:
    chosen = resolve(os.environ).settings
    if backend_kind(chosen) != "rest":
        console.say("Memories are kept on this machine; no server is in use.")
        for origin in _origins():
            console.say(f"A key is stored for {origin}.")
        return 0
    server = server_of(chosen, os.environ)
    key = key_for(chosen, os.environ, server.origin)
    console.say(f"server: {server.origin} (from {chosen.source_of('backend.origin')})")
    console.say(f"key: {f'from {key.source}' if key else server.no_key}")
    if key is None:
        return 1
    facts = _facts(server.origin)
    if not facts["reached"]:
        raise KeepmumError(str(facts["problem"]))
    console.say(f"collection: {facts['collection']}; model {'ready' if facts['model_ready'] else 'not ready'}")
    console.say(f"waiting to be sent: {facts['queued']}; refused: {facts['refused']}")
    return 0


def _facts(origin: str) -> dict[str, JsonValue]:
    """How a server answers to the key that is stored for it."""
    named = {**os.environ, "MEMORY_API_BASE_URL": origin, "KEEPMUM_BACKEND": "rest"}
    with opening.open_session(named, "cli", upkeep=False) as memory:
        return memory.health()


def _asked_for(origin: str) -> str:
    """A key, from a terminal without showing it, or from a pipe; never from the command line, which others can see."""
    if not sys.stdin.isatty():
        return credentials.check_key(sys.stdin.readline(_LONGEST).strip())
    import getpass

    try:
        return credentials.check_key(getpass.getpass(f"Key for {origin} (it is not shown): ").strip())
    except EOFError:
        raise KeepmumError("no key was given; nothing was stored") from None


def _origins() -> list[str]:
    return credentials.origins(home())
