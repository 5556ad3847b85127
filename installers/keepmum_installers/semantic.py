"""The packages and the model of vector search, which is optional.

`keepmum model install` downloads the model; it runs on the runtime with the packages.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator

from keepmum.embedding.local_model import MINILM
from keepmum_installers import files, runtime
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, note, ok
from keepmum_installers.machine import Machine

__all__ = ["check", "decline", "plan", "prepare"]

_DECLINED = "lexical-only"  # this file exists where the user chose that
_SECONDS = 1800
_LATER = "Search is lexical until `keepmum model install` succeeds."


def plan(root: str, machine: Machine) -> str:
    """What will be installed, as a line for the user; empty when it is installed."""
    if _has_packages(root, machine) and _has_model(machine):
        return ""
    return "install vector search, 90 MB of packages and a model of 84 MB (--no-semantic: lexical search only)"


def prepare(root: str, machine: Machine, console: Console) -> None:
    """Install the packages and the model that are missing.

    Raises: InstallError; lexical search works without them.
    """
    with contextlib.suppress(OSError):
        os.unlink(machine.state(_DECLINED))
    try:
        built = runtime.build(root, machine, console, runtime.SEMANTIC)
    except InstallError as error:
        raise InstallError(f"vector search: {error}", error.next_step) from None
    if not _has_model(machine):
        _download_model((built.python, "-I", os.path.join(root, "plugin", "launch.py"), "model", "install"), machine)
    console.say("Vector search: ready.")


def decline(machine: Machine) -> None:
    """Note that the user wants lexical search only, so that the doctor does not advise otherwise.

    Raises: InstallError when it cannot be written.
    """
    files.private_folder(machine.state())
    files.write(machine.state(_DECLINED), b"")


def check(root: str | None, machine: Machine) -> Iterator[Finding]:
    """The findings of the doctor about vector search."""
    if root is None or runtime.look(root, machine) is None:
        return  # the finding about the runtime says that nothing is installed
    is_ready = _has_packages(root, machine) and _has_model(machine)
    if not is_ready and files.read(machine.state(_DECLINED)) is not None:
        yield ok("search", "is lexical only, as chosen; `keepmum install` without --no-semantic adds vector search")
    elif not _has_packages(root, machine):
        yield note("search", "is lexical only: packages are missing", "Run `keepmum install` again.")
    elif not _has_model(machine):
        yield note("search", "is lexical only: the model is not installed", "Run `keepmum model install`.")
    else:
        yield ok("search", f"lexical and by vectors, with {MINILM.name}")


def _has_packages(root: str, machine: Machine) -> bool:
    found = runtime.look(root, machine, runtime.SEMANTIC)
    return found is not None and not found.missing and not found.outdated


def _has_model(machine: Machine) -> bool:
    """Whether every file exists; opening the model verifies their content."""
    folder = MINILM.folder(machine.home)
    return all(os.path.isfile(os.path.join(folder, name)) for name in MINILM.installed)


def _download_model(command: tuple[str, ...], machine: Machine) -> None:
    """Run the command, which prints its own progress and errors.

    Raises: InstallError when it fails.
    """
    environ = {**machine.environ, "KEEPMUM_HOME": machine.home}
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, env=environ, timeout=_SECONDS, check=False).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"the model could not be downloaded ({type(error).__name__})", _LATER) from None
    if code:
        raise InstallError("the model could not be downloaded", _LATER)
