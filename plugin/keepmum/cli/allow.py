"""`keepmum allow`: a person says at their own terminal that a finding is no secret."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import NoReturn

from keepmum.cli import console
from keepmum.core import validation
from keepmum.core.errors import InvalidInput, KeepmumError
from keepmum.workspace import allowlist
from keepmum_hooks import places

__all__ = ["register"]

_WHY = 500  # characters


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    allow = commands.add_parser("allow", help="say that what was refused is no secret; for people, at a terminal")
    allow.add_argument("fingerprint", nargs="?", metavar="FINGERPRINT", help="the one that the refusal named")
    allow.add_argument("--why", metavar="TEXT", help="the reason, for whoever reads the list")
    how = allow.add_mutually_exclusive_group()
    how.add_argument("--list", action="store_true", help="show what is allowed")
    how.add_argument("--revoke", action="store_true", help="allow it no more")
    allow.set_defaults(run=_allow, usage_error=allow.error)


def _allow(arguments: argparse.Namespace) -> int:
    _check(arguments)
    home = places.home(os.environ)
    if home is None:
        raise KeepmumError("there is no home folder for the allow list; set HOME, or KEEPMUM_HOME to a folder")
    allowed = allowlist.Allowlist(home)
    if arguments.list:
        return _list(allowed)
    _refuse_unless_person()
    if arguments.revoke:
        return _revoke(allowed, arguments.fingerprint)
    why = validation.clean("--why", arguments.why, _WHY, one_line=True)
    validation.refuse_secrets({"--why": why}, allowlist.AllowlistScanner(None))
    entry = allowlist.Allowed(arguments.fingerprint, why, time.strftime("%Y-%m-%d", time.gmtime()))
    console.say("allowed" if allowed.add(entry) else "allowed already")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Nothing, when the words make sense; else the usage, and exit status 2."""
    refuse = arguments.usage_error
    if arguments.list:
        if arguments.fingerprint or arguments.why:
            refuse("--list takes nothing else")
        return
    if arguments.fingerprint is None:
        refuse("FINGERPRINT is missing")
    if not allowlist.is_fingerprint(arguments.fingerprint):
        refuse("FINGERPRINT is none: 32 hexadecimal digits, as the refusal named them")
    if bool(arguments.revoke) == bool((arguments.why or "").strip()):
        refuse("--why is missing; say why it is no secret" if not arguments.revoke else "--revoke takes no --why")


def _refuse_unless_person() -> None:
    """Nothing at a person's own terminal.

    Raises: KeepmumError elsewhere: an agent that is told to get a text past the scanner must not be able to.
    """
    session = allowlist.session_of(os.environ)
    if session:
        _refuse(f"this runs inside a client's session ({session} is set)")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        _refuse("standard input or output is no terminal")


def _refuse(reason: str) -> NoReturn:
    raise KeepmumError(
        f"nothing was changed: {reason}, and only a person at their own terminal decides what is allowed"
    )


def _list(allowed: allowlist.Allowlist) -> int:
    entries = allowed.entries()
    for entry in entries:
        console.say(f"{entry.fingerprint}  {entry.added}  {entry.why}")
    if not entries:
        console.tell("nothing is allowed")
    return 0


def _revoke(allowed: allowlist.Allowlist, fingerprint: str) -> int:
    if not allowed.revoke(fingerprint):
        raise InvalidInput("FINGERPRINT", "is not on the list; `keepmum allow --list` shows it")
    console.say("revoked")
    return 0
