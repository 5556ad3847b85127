"""`keepmum allow`: a person accepts a finding as harmless, at their own terminal."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from typing import NoReturn

from keepmum.cli import console
from keepmum.core import validation
from keepmum.core.errors import InvalidInput, KeepmumError
from keepmum.workspace import allowlist

__all__ = ["register"]

_WHY = 500  # characters


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    allow = commands.add_parser("allow")
    allow.add_argument("fingerprint", nargs="?", metavar="FINGERPRINT", help="the fingerprint in the refusal")
    allow.add_argument("--why", metavar="TEXT", help="the reason, shown in the list")
    how = allow.add_mutually_exclusive_group()
    how.add_argument("--list", action="store_true", help="list accepted findings")
    how.add_argument("--revoke", action="store_true", help="remove it from the list")
    allow.add_argument("--json", action="store_true", help="with --list: print JSON")
    allow.set_defaults(run=_allow, usage_error=allow.error)


def _allow(arguments: argparse.Namespace) -> int:
    _check(arguments)
    allowed = allowlist.Allowlist(console.state_home())
    if arguments.list:
        return _list(allowed, as_json=arguments.json)
    _refuse_unless_person()
    if arguments.revoke:
        return _revoke(allowed, arguments.fingerprint)
    why = validation.clean("--why", arguments.why, _WHY, one_line=True)
    validation.refuse_secrets({"--why": why}, allowlist.AllowlistScanner(None))
    entry = allowlist.Allowed(arguments.fingerprint, why, time.strftime("%Y-%m-%d", time.gmtime()))
    console.out("allowed" if allowed.add(entry) else "allowed already")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Check the combination of arguments; on an error, print the usage and exit with status 2."""
    refuse = arguments.usage_error
    if arguments.json and not arguments.list:
        refuse("--json needs --list")
    if arguments.list:
        if arguments.fingerprint or arguments.why:
            refuse("--list takes no other argument")
        return
    if arguments.fingerprint is None:
        refuse("FINGERPRINT is missing; a refusal ends with it")
    if not allowlist.is_fingerprint(arguments.fingerprint):
        refuse("FINGERPRINT must be the 32 hexadecimal digits in the refusal")
    if bool(arguments.revoke) == bool((arguments.why or "").strip()):
        refuse("--why is missing; give the reason" if not arguments.revoke else "--revoke takes no --why")


def _refuse_unless_person() -> None:
    """Check that a person runs this at their own terminal.

    Raises: KeepmumError elsewhere: an agent must not be able to accept its own text.
    """
    session = allowlist.session_of(os.environ)
    if session:
        _refuse(f"this is a client's session ({session} is set)")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        _refuse("standard input or output is not a terminal")


def _refuse(reason: str) -> NoReturn:
    raise KeepmumError(f"nothing was changed: {reason}, and only a person at their own terminal can change the list")


def _list(allowed: allowlist.Allowlist, *, as_json: bool) -> int:
    entries = allowed.entries()
    if as_json:
        console.print_json([dataclasses.asdict(entry) for entry in entries])
        return 0
    for entry in entries:
        console.out(f"{entry.fingerprint}  {entry.added}  {entry.why}")
    if not entries:
        console.err("the list is empty")
    return 0


def _revoke(allowed: allowlist.Allowlist, fingerprint: str) -> int:
    if not allowed.revoke(fingerprint):
        raise InvalidInput("FINGERPRINT", "is not on the list; `keepmum allow --list` shows it")
    console.out("revoked")
    return 0
