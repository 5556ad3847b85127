"""The runtime: a virtual environment with the product's packages.

The core runs without packages, so a failure here is reported and never stops an installation. Even without packages the
runtime's interpreter is useful: `plugin/launch.py` starts it when the client's `python3` is too old.

The packages are installed in parts, since those for vector search are larger than all others and not available for
every platform, and few machines run a server.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keepmum_installers import files
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import NEUTRAL, Machine, Outcome

__all__ = [
    "CORE",
    "SEMANTIC",
    "SERVER",
    "Part",
    "Runtime",
    "build",
    "ensure_interpreter",
    "has_server",
    "look",
    "needed",
]

_LOOK_SECONDS = 20
_BUILD_SECONDS = 900
_PYTHON = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
# Run by the runtime's interpreter, which alone finds the metadata of its packages.
_ASK = """\
import json, sys
from importlib.metadata import PackageNotFoundError, version
have = {}
for name in sys.argv[1:]:
    try:
        have[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps({"version": list(sys.version_info[:3]), "have": have}))
"""
_URL_WITH_USER = re.compile(r"(\w+://)[^/\s@]*@")


@dataclass(frozen=True, slots=True)
class Part:
    """A group of packages that is installed together, and may fail without affecting the other."""

    lock: str
    """The name of its lock file; the one of a later part contains the earlier part."""
    stamp: str
    """The name of the file with the digest of the lock that it was installed from."""
    what: str
    """What is printed while it is installed."""


CORE = Part("runtime.txt", "keepmum-lock.txt", "installing packages")
SEMANTIC = Part("semantic.txt", "keepmum-semantic-lock.txt", "installing packages for vector search")
SERVER = Part("server.txt", "keepmum-server-lock.txt", "installing packages for the server")
_SEMANTIC_PACKAGES = ("numpy", "onnxruntime")


@dataclass(frozen=True, slots=True)
class Runtime:
    """The state of the runtime: its interpreter, the version of that, and the missing packages."""

    python: str
    version: str
    missing: tuple[str, ...]
    outdated: bool
    """Whether it was built from another lock than the bundle has."""


def needed(root: str, part: Part = CORE) -> tuple[str, ...]:
    """The names of the packages of a part, without duplicates: some have a line for each platform."""
    with open(os.path.join(root, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    listed = project["optional-dependencies"]["server"] if part is SERVER else project["dependencies"]
    names = dict.fromkeys(re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in listed)
    return tuple(name for name in names if (name in _SEMANTIC_PACKAGES) == (part is SEMANTIC))


def look(root: str | None, machine: Machine, part: Part = CORE) -> Runtime | None:
    """The state of one part of the runtime; None when there is no runtime, or its interpreter does not run."""
    python = _python(machine)
    if not os.access(python, os.X_OK):
        return None
    names = needed(root, part) if root else ()
    done = machine.run((python, "-I", "-c", _ASK, *names), _LOOK_SECONDS)
    try:
        answer = json.loads(done.out)
    except ValueError:
        return None
    missing = tuple(name for name in names if name not in answer["have"])
    outdated = root is not None and _stamp(machine, part) != _wanted_stamp(root, part)
    return Runtime(python, ".".join(map(str, answer["version"])), missing, outdated)


def has_server(machine: Machine) -> bool:
    """Whether the packages of a server were installed; an upgrade then installs those of the new version."""
    return bool(_stamp(machine, SERVER))


def build(root: str, machine: Machine, console: Console, part: Part = CORE) -> Runtime:
    """The runtime with every package of a part, created or updated; prints the progress.

    Raises: InstallError when it cannot be completed; the packages that were installed can be used.
    """
    runtime = look(root, machine, part)
    if runtime is None:
        _create(machine)
    elif not runtime.missing and not runtime.outdated:
        return runtime
    with tempfile.TemporaryFile() as log:
        for command in _commands(root, machine, part):
            _run_long(command, part.what, log.fileno(), console)
    _deny_others(_folder(machine))
    files.write(_stamp_file(machine, part), _wanted_stamp(root, part).encode())
    complete = look(root, machine, part)
    if complete is None or complete.missing:
        raise InstallError("the installed packages are missing from the runtime", _AGAIN)
    return complete


def ensure_interpreter(machine: Machine) -> None:
    """Create the runtime without packages when clients may start an interpreter that is too old for the server.

    Raises: InstallError when it cannot be created.
    """
    usual = machine.find("python3")
    new_enough = usual and machine.run((usual, "-I", "-S", "-c", _NEW_ENOUGH), _LOOK_SECONDS).code == 0
    # Apps on macOS have their own PATH, on which `python3` is Apple's 3.9 whatever the shell finds.
    if (sys.platform == "darwin" or not new_enough) and look(None, machine) is None:
        _create(machine)


_NEW_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))"
_AGAIN = "Run `keepmum install` again later; it continues where it stopped."


def _folder(machine: Machine) -> str:
    return os.path.join(machine.home, "runtime")


def _python(machine: Machine) -> str:
    return os.path.join(_folder(machine), *_PYTHON)


def _create(machine: Machine) -> None:
    """Create the environment without packages, which needs no network and no ensurepip; Debian removes that."""
    files.private_folder(machine.home)
    command = (sys.executable, "-I", "-m", "venv", "--clear", "--without-pip", _folder(machine))
    done = machine.run(command, _BUILD_SECONDS)
    if done.code:
        raise InstallError(f"could not create the runtime: {_clean(done.sentence)}", _INSTALL_VENV)
    _deny_others(_folder(machine))


def _deny_others(folder: str) -> None:
    """Let only the user write below the folder: with the umask 002 a group may, and then the runtime is not used."""
    for top, _, names in os.walk(folder):
        for path in (top, *(os.path.join(top, name) for name in names)):
            status = os.lstat(path)
            if status.st_mode & 0o022 and not stat.S_ISLNK(status.st_mode):
                os.chmod(path, stat.S_IMODE(status.st_mode) & ~0o022)


_INSTALL_VENV = "On Debian and Ubuntu: sudo apt install python3-venv. Or install uv. Then run this again."


def _commands(root: str, machine: Machine, part: Part) -> Iterator[Sequence[str]]:
    """The commands that install the packages: uv, else the pip of the runtime, else that of this interpreter."""
    python, packages = _python(machine), _packages(root, part)
    uv = machine.find("uv")
    if uv:
        yield (uv, "pip", "install", "--python", python, *packages)
        return
    if _has(python, "pip", machine):
        yield (python, "-I", "-m", "pip", *_PIP, *packages)
    elif _has(sys.executable, "ensurepip", machine):
        yield (python, "-I", "-m", "ensurepip", "--default-pip")
        yield (python, "-I", "-m", "pip", *_PIP, *packages)
    elif _has(sys.executable, "pip", machine):
        yield (sys.executable, "-I", "-m", "pip", "--python", python, *_PIP, *packages)
    else:
        raise InstallError("this Python has neither pip nor ensurepip, and uv is not installed", _INSTALL_VENV)


_PIP = ("install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off")


def _packages(root: str, part: Part) -> Sequence[str]:
    """The arguments that name the packages: the lock with its hashes, else the names for a bundle without a lock."""
    lock = _lock(root, part)
    return ("--require-hashes", "-r", lock) if os.path.isfile(lock) else needed(root, part)


def _lock(root: str, part: Part) -> str:
    return os.path.join(root, "installers", "locks", part.lock)


def _has(python: str, module: str, machine: Machine) -> bool:
    return machine.run((python, "-I", "-c", f"import {module}"), _LOOK_SECONDS).code == 0


def _run_long(command: Sequence[str], what: str, log: int, console: Console) -> None:
    """Run a command that may take minutes, and print its progress."""
    try:
        child = subprocess.Popen(command, cwd=NEUTRAL, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    except OSError as error:
        raise InstallError(f"{command[0]} could not be started: {error.strerror}", _AGAIN) from None
    with child:
        for second in range(_BUILD_SECONDS):
            try:
                code = child.wait(timeout=1)
            except subprocess.TimeoutExpired:
                console.wait(what, second + 1)
            else:
                break
        else:
            child.kill()
            raise InstallError(f"installing packages took more than {_BUILD_SECONDS} seconds", _AGAIN)
    if code:
        raise InstallError(f"the packages could not be installed: {_error_line(log)}", _AGAIN)


def _error_line(log: int) -> str:
    """The last line with an error in the log, without user names and passwords of package indexes."""
    os.lseek(log, 0, os.SEEK_SET)
    with open(log, "rb", closefd=False) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    found = [line for line in lines if "error" in line.lower()] or [line for line in lines if line.strip()]
    return _clean(Outcome(1, out=found[-1] if found else "").sentence)


def _clean(text: str) -> str:
    return _URL_WITH_USER.sub(r"\1", text)


def _stamp_file(machine: Machine, part: Part) -> str:
    return os.path.join(_folder(machine), part.stamp)


def _stamp(machine: Machine, part: Part) -> str:
    return (files.read(_stamp_file(machine, part)) or b"").decode("ascii", "replace")


def _wanted_stamp(root: str, part: Part) -> str:
    return files.digest(files.read(_lock(root, part)) or b"") or ""
