"""`keepmum on` and `off`."""

from __future__ import annotations

import argparse
import os

from keepmum.cli import console, switching

__all__ = ["register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    for word, what in (("off", "switch Keepmum off: no tools, no hooks, no briefing"), ("on", "switch it on again")):
        switch = commands.add_parser(word, help=what)
        where = switch.add_mutually_exclusive_group()
        where.add_argument("--project", action="store_true", help="for this project, in its .keepmum.toml")
        where.add_argument("--session", action="store_true", help="for the session of the client that runs this")
        switch.set_defaults(run=_switch, enabled=word == "on")


def _switch(arguments: argparse.Namespace) -> int:
    where = "session" if arguments.session else "project" if arguments.project else "everywhere"
    word = "on" if arguments.enabled else "off"
    place = switching.SWITCHES[where](os.environ, arguments.enabled)
    console.say(f"Keepmum is switched {word} ({where}: {place}).")
    overruled = switching.overruled_by(os.environ, arguments.enabled)
    if overruled:
        console.tell(f"here that changes nothing yet: {overruled} says otherwise, and is stronger")
    console.tell("hooks obey at once; the tools come or go when a client starts its next session")
    return 0
