"""Replaces the current version: puts the new one into the home, tries it, then switches a link.

Whenever this is interrupted, `current` names one complete version; running it again completes the rest.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

from keepmum_installers import files, local_plugin, runtime, shell_command, trial
from keepmum_installers.app import layout, placing
from keepmum_installers.app.bundle import bundle_at
from keepmum_installers.clients import CLIENTS
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.journal import Called, Journal
from keepmum_installers.locking import locked
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.product import install_script, own_folder, read

__all__ = ["Options", "upgrade"]

_FETCH_SECONDS = 900
_REFRESH_SECONDS = 1800
_LOCK_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Options:
    """What to upgrade to."""

    to: str = ""
    """A version, also an older one; empty for the newest."""
    source: str = ""
    """Where to get it, as KEEPMUM_SOURCE of `install.sh`; empty for where the current one came from."""
    check: bool = False
    """Whether to report only whether there is a newer one."""
    back: bool = False
    """Whether to go back to the version before the current one."""


def upgrade(options: Options, machine: Machine, console: Console) -> int:
    """The exit code: 0 when the wanted version is the current one and every client uses it.

    Raises: InstallError; the current version is then unchanged.
    """
    now = _current(machine)
    if options.check:
        return _check(options, now, machine, console)
    with tempfile.TemporaryDirectory(prefix="keepmum-upgrade-") as folder:
        bundle = None if options.back else _fetch(options, folder, machine)
        with locked(layout.folder(machine.home), _LOCK_SECONDS):
            now = layout.target(layout.current(machine.home)) or now
            new = _previous(now, machine) if bundle is None else _place(bundle, now, options, machine)
            try:
                _switch(now, new, machine, console)
            finally:
                placing.prune(machine.home)
    return _refresh(new, machine, console)


def _current(machine: Machine) -> str:
    """The folder of the current version.

    Raises: InstallError when there is none, or when this is the command of a clone.
    """
    now, (own, is_wheel) = layout.target(layout.current(machine.home)), own_folder()
    if not is_wheel and not layout.is_link(layout.for_clients(own, machine.home)):
        raise InstallError(
            f"this runs the clone {own}, which `git pull` upgrades",
            f"To install a copy of it instead: {install_script(own)}",
        )
    if now is None:
        raise InstallError(f"there is no version in {layout.folder(machine.home)} to upgrade", "Run `keepmum install`.")
    return now


def _check(options: Options, now: str, machine: Machine, console: Console) -> int:
    newest, typed = _run_script(options, machine, "--newest"), shell_command.invocation(machine)
    if layout.sort_key(newest) > layout.sort_key(layout.version_of(now)):
        console.say(f"Version {newest} is available, this is {layout.version_of(now)}: {typed} upgrade")
    else:
        console.say(f"Version {layout.version_of(now)} is the newest.")
    return 0


def _fetch(options: Options, folder: str, machine: Machine) -> str:
    """Download the wanted version into a folder; returns the folder with its files."""
    return _run_script(options, machine, "--unpack", folder)


def _run_script(options: Options, machine: Machine, *arguments: str) -> str:
    """What `install.sh` of the current version prints; it downloads and verifies.

    Raises: InstallError with its message.
    """
    shell, own = machine.find("sh"), os.path.join(layout.current(machine.home), "installers", "install.sh")
    if shell is None:
        raise InstallError("`sh` was not found, which fetches new versions", "On Windows, use Git Bash.")
    origin = (files.read(layout.origin(machine.home)) or b"").decode("utf-8", "replace")
    source = os.path.join(machine.cwd, options.source) if os.path.exists(options.source) else options.source
    # Set here, not inherited: a project's settings for a client could set them, and so choose what is run.
    environ = {"KEEPMUM_SOURCE": source or origin, "KEEPMUM_SHA256": "", "KEEPMUM_PYTHON": local_plugin.interpreter()}
    version = ("--version", options.to) if options.to else ()
    done = machine.run((shell, own, *version, *arguments), _FETCH_SECONDS, environ)
    if done.code:
        raise _failure(done)
    return done.out.strip()


def _failure(done: Outcome) -> InstallError:
    """The error that one of our scripts printed, with its next step."""
    first, _, rest = done.err.strip().partition("\n  next: ")
    return InstallError((first or done.sentence).removeprefix("keepmum: "), rest)


def _previous(now: str, machine: Machine) -> str:
    """The folder of the version before the current one.

    Raises: InstallError when there is none.
    """
    found = layout.target(layout.previous(machine.home))
    if found is None or found == now:
        raise InstallError("there is no version to go back to", "`keepmum upgrade --to VERSION` fetches any.")
    return found


def _place(bundle: str, now: str, options: Options, machine: Machine) -> str:
    """Copy the new version into the home; returns its folder.

    Raises: InstallError when it is not the wanted version, or older than the current one.
    """
    version, installed = read(bundle).version, layout.version_of(now)
    if options.to not in {"", version}:
        raise InstallError(f"what was fetched is version {version}, not {options.to}", "Check --to and --from.")
    if not options.to and layout.sort_key(version) < layout.sort_key(installed):
        raise InstallError(
            f"the newest version there is {version}, which is older than {installed}",
            f"To install it all the same: keepmum upgrade --to {version}",
        )
    return os.path.realpath(placing.place(bundle_at(bundle), version, machine.home))


def _switch(now: str, new: str, machine: Machine, console: Console) -> None:
    """Back up the memories, try the version on a copy of them, and make it the current one."""
    before, product = layout.version_of(now), read(new)
    if new == now:
        return
    console.say(f"Keepmum {before} → {product.version}")
    backup = trial.back_up(machine)
    if backup:
        console.say(f"Memories are backed up: {backup}")
    trial.check(new, product, backup, machine)
    console.say(f"Version {product.version} works here, with a copy of them.")
    placing.switch(new, machine.home)


def _refresh(new: str, machine: Machine, console: Console) -> int:
    """Run the new version's `install`, which rewrites what clients read; returns the exit code."""
    packages = [] if os.path.isdir(os.path.join(machine.home, "runtime")) else ["--no-runtime"]
    packages += ["--no-semantic"] if os.path.exists(machine.state("lexical-only")) else []
    packages += ["--server"] if runtime.has_server(machine) else []
    own = os.path.join(layout.current(machine.home), "installers")
    clients = [f"--client={name}" for name in _registered(machine)]
    command = (local_plugin.interpreter(), "-B", "-I", "-S", own, "install", "--quiet", *clients, *packages)
    done = machine.run(command, _REFRESH_SECONDS, {"KEEPMUM_HOME": machine.home})
    version = read(new).version
    for line in done.out.splitlines():
        console.demand(line)
    if done.code or done.err:
        console.problem(_failure(done))
    typed = shell_command.invocation(machine)
    if done.code:
        console.say(f"Version {version} is the current one, but not every client was set up: {typed} install")
        return 1
    console.say(f"Version {version} is the current one. Open sessions keep theirs until you start them again.")
    if layout.target(layout.previous(machine.home)) not in {None, new}:
        console.say(f"To go back: {typed} upgrade --back")
    return 0


def _registered(machine: Machine) -> Iterator[str]:
    """The clients that have the plugin from this installer."""
    records = list(Journal(machine.home))
    for name, client in CLIENTS.items():
        folder = os.path.join(client.folder(machine), "")
        if any(
            record.client == name if isinstance(record, Called) else record.path.startswith(folder)
            for record in records
        ):
            yield name
