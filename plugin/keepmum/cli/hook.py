"""`keepmum hook EVENT --client NAME`: run one hook, for shared hook files that cannot contain a path.

The `keepmum` command made by the installer starts the hook directly; this module serves the other installations.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from keepmum_hooks import event, main

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from keepmum.cli import console

__all__ = ["register", "run"]

_USAGE = f"usage: keepmum hook {'|'.join(event.KINDS)} --client NAME"


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add what clients start to a parser, for help and documentation; `main` runs them without a parser."""
    commands.add_parser("mcp")
    hook = commands.add_parser("hook")
    hook.add_argument("event", metavar="EVENT", help="stop, session-start or guard")
    hook.add_argument("--client", metavar="NAME", help="the client that starts it", required=True)


def run(words: Sequence[str]) -> int:
    """Run the hook; the exit status is always 0, because a hook must not break a turn."""
    if words[:1] in (["-h"], ["--help"]):
        sys.stdout.write(f"{_USAGE}\n\nClients start this.\n")
        return 0
    if not (words and words[0] in event.KINDS and "--client" in words):
        kinds = ", ".join(event.KINDS)
        named = words and words[0] in event.KINDS
        missing = "--client NAME is missing" if named else f"EVENT is missing, or none of {kinds}"
        sys.stderr.write(f"keepmum: {missing}. Clients start this.\n{_USAGE}\n")
        return 0
    try:
        sys.stdout.write(main.main(words, os.environ))
    except Exception as error:  # noqa: BLE001 - report to the user, never to the client
        sys.stderr.write(f"keepmum: the hook failed ({type(error).__name__})\n")
    return 0
