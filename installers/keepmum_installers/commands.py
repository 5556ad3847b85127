"""The options of `keepmum install`, `upgrade`, `uninstall`, `status` and `doctor`.

Every `keepmum` command registers these parsers, and few runs use them. So each imports its modules when it is run,
which saves 40 ms of a `keepmum recall`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from keepmum_installers.errors import InstallError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_installers.doctor import Probes

    _Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - argparse has no public name for it

__all__ = ["register", "register_installation"]

_SCOPES = ("user", "project", "local")


def register(subparsers: _Subparsers, probes: Probes) -> None:
    """Add the five commands; each sets `run`, which maps the parsed arguments to the exit code."""
    register_installation(subparsers)
    _register_upgrade(subparsers)
    status = subparsers.add_parser("status", help="show what is installed, and how much is remembered")
    status.set_defaults(run=lambda _: _guarded(lambda: _status(probes)))
    check = subparsers.add_parser("doctor", help="find problems, and say what to do about them")
    check.add_argument("--json", action="store_true", help="one JSON object, for programs")
    check.add_argument("-v", "--verbose", action="store_true", help="every check of every client")
    check.add_argument(
        "--live",
        nargs="*",
        type=_client,
        metavar="CLIENT",
        help="run the clients (or these) in a temporary home, and check what reaches their model",
    )
    check.set_defaults(run=lambda arguments: _guarded(lambda: _doctor(probes, arguments)))


def _register_upgrade(subparsers: _Subparsers) -> None:
    change = subparsers.add_parser("upgrade", help="install a newer version, or go back to the one before")
    which = change.add_mutually_exclusive_group()
    which.add_argument("--to", metavar="VERSION", default="", help="this version, also an older one")
    which.add_argument("--check", action="store_true", help="only say whether there is a newer one")
    which.add_argument("--back", action="store_true", help="make the version before this one current again")
    where = "a folder, a .tar.gz file or address, a git address, or a mirror; default: where this version came from"
    change.add_argument("--from", dest="source", metavar="WHERE", default="", help=where)
    change.set_defaults(run=lambda arguments: _guarded(lambda: _upgrade(arguments)))


def register_installation(subparsers: _Subparsers) -> None:
    """Add `install` and `uninstall`, which do not need the core."""
    _register_install(subparsers)
    remove = subparsers.add_parser("uninstall", help="undo what `install` did; memories stay")
    remove.add_argument("--scope", choices=_SCOPES, help="only what this scope has; default: everything")
    remove.add_argument("--purge", action="store_true", help="remove memories, backups and settings too")
    remove.add_argument("--yes", action="store_true", help="do not ask")
    remove.add_argument("--dry-run", action="store_true", help="show what would be done")
    remove.set_defaults(run=lambda arguments: _guarded(lambda: _uninstall(arguments)))


def _register_install(subparsers: _Subparsers) -> None:
    where = "a folder, owner/repository or git address to take the plugin from"
    whose = "for you everywhere (default), for the team of the repository around this folder, or for you in it"
    add = subparsers.add_parser("install", help="install Keepmum in the coding agents on this machine")
    add.add_argument("--scope", choices=_SCOPES, default="user", help=whose)
    add.add_argument("--source", metavar="WHERE", help=where)
    add.add_argument(
        "--client",
        action="append",
        type=_client,
        dest="clients",
        metavar="NAME",
        help="only this client instead of every one that is found; may be repeated",
    )
    add.add_argument(
        "--set",
        action="append",
        dest="settings",
        metavar="NAME=VALUE",
        help="with --scope project: a setting for everybody, in .keepmum.toml; may be repeated",
    )
    add.add_argument(
        "--share-key",
        action="store_true",
        help="with --scope project: put the key for the team's server into the repository, for all who read it",
    )
    add.add_argument("--no-runtime", action="store_false", dest="runtime", help="install no packages")
    add.add_argument("--no-semantic", action="store_false", dest="semantic", help="lexical search only")
    add.add_argument("--server", action="store_true", help="also the packages of `keepmum serve`, a team's server")
    add.add_argument("--develop", action="store_true", help="run this clone, which has to stay, instead of a copy")
    add.add_argument("--origin", help=argparse.SUPPRESS)  # by install.sh: where upgrades come from
    add.add_argument("--dry-run", action="store_true", help="show what would be done")
    much = add.add_mutually_exclusive_group()
    much.add_argument("-v", "--verbose", action="store_true", help="name each file and command")
    much.add_argument("-q", "--quiet", action="store_true", help="only problems, and what you have to do")
    add.set_defaults(run=lambda arguments: _guarded(lambda: _install(arguments)))


def _client(name: str) -> str:
    """The name of a known client."""
    from keepmum_installers.clients import CLIENTS

    if name not in CLIENTS:
        from keepmum_installers.naming import unknown_client

        raise argparse.ArgumentTypeError("; ".join(unknown_client(name)))
    return name


def _guarded(command: Callable[[], int]) -> int:
    """The command's exit code; an InstallError is printed with its next step, and gives 1."""
    try:
        return command()
    except InstallError as error:
        import os

        from keepmum_installers.console import Console

        Console(home=os.path.expanduser("~")).problem(error)
        return 1


def _install(arguments: argparse.Namespace) -> int:
    from keepmum_installers.app import layout
    from keepmum_installers.app.bundle import own_bundle
    from keepmum_installers.console import Console
    from keepmum_installers.install import Options, install
    from keepmum_installers.machine import Machine
    from keepmum_installers.product import bundle_root, read

    options = Options(
        scope=arguments.scope,
        source=arguments.source,
        clients=tuple(dict.fromkeys(arguments.clients or ())),
        settings=tuple(arguments.settings or ()),
        runtime=arguments.runtime,
        semantic=arguments.semantic,
        server=arguments.server,
        dry_run=arguments.dry_run,
        share_key=arguments.share_key,
        origin=arguments.origin,
        verbose=arguments.verbose,
    )
    machine, code = Machine.this(), own_bundle()
    root, product = layout.current(machine.home), read(code.folder)
    console = Console(home=machine.user_home, quiet=arguments.quiet)
    if layout.for_clients(code.folder, machine.home) == root:  # this code was put there before
        return install(options, product, root, machine, console)
    if not arguments.develop:
        return install(options, product, root, machine, console, code)
    if bundle_root() is None:
        raise InstallError("--develop needs a clone, and this runs from a package", "Leave it out.")
    return install(options, product, code.folder, machine, console)


def _upgrade(arguments: argparse.Namespace) -> int:
    from keepmum_installers.console import Console
    from keepmum_installers.machine import Machine
    from keepmum_installers.upgrade import Options, upgrade

    machine = Machine.this()
    options = Options(arguments.to.removeprefix("v"), arguments.source, check=arguments.check, back=arguments.back)
    return upgrade(options, machine, Console(home=machine.user_home))


def _uninstall(arguments: argparse.Namespace) -> int:
    from keepmum_installers.console import Console
    from keepmum_installers.machine import Machine
    from keepmum_installers.uninstall import Options, uninstall

    if arguments.purge and arguments.scope in {"project", "local"}:
        raise InstallError("memories do not belong to the scope of a repository", "Use --purge without --scope.")
    options = Options(arguments.scope, purge=arguments.purge, yes=arguments.yes, dry_run=arguments.dry_run)
    machine = Machine.this()
    return uninstall(options, machine, Console(home=machine.user_home))


def _status(probes: Probes) -> int:
    from keepmum_installers.report import show_status

    return show_status(probes)


def _doctor(probes: Probes, arguments: argparse.Namespace) -> int:
    from keepmum_installers.report import show_findings, show_trials

    if arguments.live is not None:
        return show_trials(arguments.live, as_json=arguments.json)
    return show_findings(probes, as_json=arguments.json, verbose=arguments.verbose)
