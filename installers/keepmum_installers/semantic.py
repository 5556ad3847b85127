"""Search by meaning: its packages and its model, which everything else does without.

The model is fetched by `keepmum model install`, run on the runtime that has the packages.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from keepmum.embedding.local_model import MINILM
from keepmum_installers import runtime
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, note, ok
from keepmum_installers.machine import Machine
from keepmum_installers.voice import Voice

__all__ = ["check", "plan", "prepare"]

_SECONDS = 1800
_LATER = "Search goes by words until `keepmum model install` has done it."


def plan(root: str, machine: Machine) -> str:
    """What will be done, in a line for the user; empty when all of it is in place."""
    if _has_packages(root, machine) and _has_model(machine):
        return ""
    return "install search by meaning, 90 MB of packages and a model of 84 MB (--no-semantic: search by words alone)"


def prepare(root: str, machine: Machine, voice: Voice) -> None:
    """Puts packages and model in place, as far as they are not.

    Raises: InstallError; search by words works all the same.
    """
    try:
        built = runtime.build(root, machine, voice, runtime.SEMANTIC)
    except InstallError as error:
        raise InstallError(f"search by meaning: {error}", error.next_step) from None
    if not _has_model(machine):
        _fetch_model((built.python, "-I", os.path.join(root, "plugin", "launch.py"), "model", "install"), machine)
    voice.say("Search by meaning: ready.")


def check(root: str | None, machine: Machine) -> Iterator[Finding]:
    """How it is, for the doctor."""
    if root is None or runtime.look(root, machine) is None:
        return  # nothing of it was installed, and the runtime's line says so
    if not _has_packages(root, machine):
        yield note("search", "goes by words alone: packages are missing", "Run `sh installers/install.sh` again.")
    elif not _has_model(machine):
        yield note("search", "goes by words alone: the model is not installed", "Run `keepmum model install`.")
    else:
        yield ok("search", f"by words and by meaning, with {MINILM.name}")


def _has_packages(root: str, machine: Machine) -> bool:
    found = runtime.look(root, machine, runtime.SEMANTIC)
    return found is not None and not found.missing and not found.behind


def _has_model(machine: Machine) -> bool:
    """Whether every file is there; whether each is whole, is looked at when it is opened."""
    folder = MINILM.folder(machine.home)
    return all(os.path.isfile(os.path.join(folder, name)) for name in MINILM.installed)


def _fetch_model(command: tuple[str, ...], machine: Machine) -> None:
    """Runs a command that shows the user by itself how far it is, and what goes wrong.

    Raises: InstallError when it fails.
    """
    environ = {**machine.environ, "KEEPMUM_HOME": machine.home}
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, env=environ, timeout=_SECONDS, check=False).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"the model could not be fetched ({type(error).__name__})", _LATER) from None
    if code:
        raise InstallError("the model could not be fetched", _LATER)
