"""`keepmum dashboard`: the memory in the browser, for as long as the command runs."""

from __future__ import annotations

import argparse
import contextlib
import html
import os
import sys
import threading
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from keepmum.cli import console
from keepmum.cli.installation import Probes
from keepmum.core.errors import KeepmumError
from keepmum.dashboard.base import Check
from keepmum.dashboard.http import IDLE_SECONDS, DashboardServer
from keepmum.dashboard.opening import open_desk
from keepmum.dashboard.sessions import TOKEN_SECONDS
from keepmum.dashboard.worker import Worker
from keepmum.system.private_files import make_folder, replacement
from keepmum.workspace import allowlist
from keepmum.workspace.resolve import resolve

__all__ = ["register"]

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_REMOTE = ("SSH_CONNECTION", "SSH_TTY")
_LOOKS_EVERY = 5.0  # seconds between two looks at whether someone still uses it
_LARGEST_PORT = 65_535


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    command = commands.add_parser("dashboard")
    command.add_argument("--no-open", action="store_true", help="print the address, and open no browser")
    command.add_argument("--port", type=_port, default=0, metavar="N", help="listen on this port; default: a free one")
    command.set_defaults(run=_dashboard)


def _dashboard(arguments: argparse.Namespace) -> int:
    with Worker(lambda: open_desk(_Facts())) as worker:
        try:
            server = DashboardServer(worker, arguments.port)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise KeepmumError(f"port {arguments.port} cannot be used: {why}; choose another --port") from None
        with server:
            _serve(server, opens=not arguments.no_open)
    return 0


def _serve(server: DashboardServer, *, opens: bool) -> None:
    """Answer until Ctrl-C, or until nobody has used the page for half an hour."""
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    ended = threading.Event()
    try:
        with _opened(server, opens=opens):
            console.out(f"The dashboard is at {server.address}")
            _advise(server.server_port)
            if sys.stdin.isatty():
                threading.Thread(target=_more_addresses, args=(server,), daemon=True).start()
            while not ended.wait(_LOOKS_EVERY):
                if server.idle > IDLE_SECONDS:
                    console.out("Nobody has used the dashboard for 30 minutes; it is closed.")
                    return
    except KeyboardInterrupt:
        console.out("The dashboard is closed.")
    finally:
        server.shutdown()
        serving.join()


def _advise(port: int) -> None:
    """What to know about the address that was printed."""
    if any(os.environ.get(name) for name in _REMOTE):
        console.out(f"You are connected by SSH: on your own machine run  ssh -L {port}:127.0.0.1:{port} HOST")
        console.out("(HOST as you named it to connect), then open the address there.")
    again = "; Enter prints another" if sys.stdin.isatty() else ""
    console.out(f"An address works once, within two minutes{again}. Ctrl-C closes the dashboard.")
    sys.stdout.flush()


def _more_addresses(server: DashboardServer) -> None:
    """Print a new address for each line on standard input."""
    for _ in sys.stdin:
        console.out(server.address)
        sys.stdout.flush()


@contextlib.contextmanager
def _opened(server: DashboardServer, *, opens: bool) -> Iterator[None]:
    """Inside the block the page is open in the user's browser, if this machine has one.

    The browser is given a file that only this user can read, since the arguments of a program are seen by all users.
    """
    if not (opens and _has_browser(os.environ)):
        yield
        return
    path = Path(console.state_home()) / "state" / f"dashboard-{os.getpid()}.html"
    try:
        _write_redirect(path, server.address)
    except OSError as error:
        console.err(f"no browser was opened: {path}: {error.strerror}")
        yield
        return
    threading.Thread(target=_open, args=(path.as_uri(),), daemon=True).start()
    unused = threading.Timer(TOKEN_SECONDS, path.unlink, kwargs={"missing_ok": True})
    unused.daemon = True
    unused.start()
    try:
        yield
    finally:
        unused.cancel()
        path.unlink(missing_ok=True)


def _has_browser(environ: Mapping[str, str]) -> bool:
    """Whether a browser can be opened where the user sees it."""
    if any(environ.get(name) for name in _REMOTE):
        return False
    return sys.platform in {"darwin", "win32"} or any(environ.get(name) for name in (*_DISPLAYS, "BROWSER"))


def _write_redirect(path: Path, address: str) -> None:
    make_folder(str(path.parent))
    with replacement(str(path)) as file:
        file.write(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Keepmum</title>'
            f'<meta http-equiv="refresh" content="0;url={html.escape(address)}">'.encode()
        )


def _open(address: str) -> None:
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(address)


def _port(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if not 1 <= number <= _LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"must be a port from 1 to {_LARGEST_PORT}")
    return number


class _Facts:
    """What the doctor, the settings and the allowlist say about this installation."""

    def checks(self) -> Sequence[Check]:
        from keepmum_installers import report  # here, since only one screen needs it

        return [Check(each.level, each.about, each.says, each.next_step) for each in report.findings(Probes())]

    def settings(self) -> Sequence[tuple[str, str, str]]:
        return Probes().settings()

    def allowed(self) -> int:
        return len(allowlist.Allowlist(console.state_home()).entries())

    def off(self) -> str:
        chosen = resolve(os.environ).settings
        if chosen.enabled:
            return ""
        return f"Keepmum is switched off here ({chosen.source_of('enabled')}); `keepmum on` switches it on."
