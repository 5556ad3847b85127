"""`keepmum install`, `uninstall`, `status` and `doctor`: their options, and what they print."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from keepmum_installers import doctor, install, uninstall
from keepmum_installers.clients import CLIENTS
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.product import bundle_root, installed
from keepmum_installers.voice import Voice

if TYPE_CHECKING:
    _Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - argparse has no public name for it

__all__ = ["register", "register_installation"]

_SCOPES = ("user", "project", "local")
_SIGNS = {"ok": "ok     ", "note": "note   ", "problem": "problem"}


def register(subparsers: _Subparsers, probes: doctor.Probes) -> None:
    """Adds the four commands; each sets `run`, which takes the parsed arguments and gives the exit code."""
    register_installation(subparsers)
    status = subparsers.add_parser("status", help="what is installed, and how much is remembered")
    status.set_defaults(run=lambda arguments: _guarded(lambda: _status(probes, arguments)))
    check = subparsers.add_parser("doctor", help="find what is wrong, and say what to do about it")
    check.add_argument("--json", action="store_true", help="one JSON object, for programs")
    check.set_defaults(run=lambda arguments: _guarded(lambda: _doctor(probes, arguments)))


def register_installation(subparsers: _Subparsers) -> None:
    """Adds `install` and `uninstall`, which need nothing of the core."""
    add = subparsers.add_parser("install", help="put Keepmum into the coding agents on this machine")
    add.add_argument(
        "--scope",
        choices=_SCOPES,
        default="user",
        help="for you everywhere (default), for the team of the repository around this folder, or for you in it",
    )
    add.add_argument(
        "--source", metavar="WHERE", help="a folder, owner/repository or git address to take the plugin from"
    )
    add.add_argument(
        "--client", action="append", choices=tuple(CLIENTS), dest="clients", help="only this client; may be repeated"
    )
    add.add_argument("--no-runtime", action="store_false", dest="runtime", help="install no packages")
    add.add_argument("--dry-run", action="store_true", help="show what would be done")
    add.set_defaults(run=lambda arguments: _guarded(lambda: _install(arguments)))
    remove = subparsers.add_parser("uninstall", help="undo what `install` did; memories stay")
    remove.add_argument("--scope", choices=_SCOPES, help="only what this scope has; default: everything")
    remove.add_argument("--purge", action="store_true", help="remove memories, backups and settings too")
    remove.add_argument("--yes", action="store_true", help="do not ask")
    remove.add_argument("--dry-run", action="store_true", help="show what would be done")
    remove.set_defaults(run=lambda arguments: _guarded(lambda: _uninstall(arguments)))


def _guarded(command: Callable[[], int]) -> int:
    """The command's exit code; a failure that was foreseen is told with its next step, and gives 1."""
    try:
        return command()
    except InstallError as error:
        Voice().problem(error)
        return 1


def _install(arguments: argparse.Namespace) -> int:
    options = install.Options(
        scope=arguments.scope,
        source=arguments.source,
        clients=tuple(arguments.clients or CLIENTS),
        runtime=arguments.runtime,
        dry_run=arguments.dry_run,
    )
    root = bundle_root()
    return install.install(options, installed(root), root, Machine.this(), Voice())


def _uninstall(arguments: argparse.Namespace) -> int:
    if arguments.purge and arguments.scope in {"project", "local"}:
        raise InstallError("memories belong to no scope of a repository", "Use --purge without --scope.")
    options = uninstall.Options(arguments.scope, purge=arguments.purge, yes=arguments.yes, dry_run=arguments.dry_run)
    return uninstall.uninstall(options, Machine.this(), Voice())


def _status(probes: doctor.Probes, _: argparse.Namespace) -> int:
    voice, root = Voice(), bundle_root()
    machine, product = Machine.this(), installed(root)
    facts = probes.store()
    name, folder, source = probes.project()[1:]
    voice.say(f"Keepmum {product.version}")
    voice.say(f"  memories  {facts.get('memories')}, in {facts.get('path')}")
    voice.say(f"  project   {name}, at {folder} (known from {source})")
    for client in CLIENTS.values():
        findings = list(client.checks(machine, product))
        worst = next((each for level in ("problem", "note") for each in findings if each.level == level), None)
        voice.say(f"  {client.title}: {worst.says if worst else 'all is well'}")
    for setting, value, place in probes.settings():
        if place != "default":
            voice.say(f"  {setting} = {value}, from {place}")
    return 0


def _doctor(probes: doctor.Probes, arguments: argparse.Namespace) -> int:
    root = bundle_root()
    findings = doctor.examine(installed(root), root, Machine.this(), probes)
    well = all(finding.level != "problem" for finding in findings)
    if arguments.json:
        value = {"ok": well, "findings": [asdict(finding) for finding in findings]}
        Voice().say(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        _print(findings)
    return 0 if well else 1


def _print(findings: Sequence[Finding]) -> None:
    voice = Voice()
    for finding in findings:
        voice.say(f"{_SIGNS[finding.level]}  {finding.about}: {finding.says}")
        if finding.next_step:
            voice.say(f"         → {finding.next_step}")
    count = sum(finding.level == "problem" for finding in findings)
    voice.say("No problems." if not count else f"{count} problem{'s' if count > 1 else ''}.")
