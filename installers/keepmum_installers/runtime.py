"""The runtime: a virtual environment with the product's packages.

The core runs without them. So whatever fails here is told, with what will be missing, and never stops an installation.
Its interpreter alone is of use already: `plugin/launch.py` starts it when the client's own `python3` is too old.

They come in two parts, since those of search by meaning are larger than all others and not made for every platform.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keepmum_installers import files
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.voice import Voice

__all__ = ["CORE", "SEMANTIC", "Part", "Runtime", "build", "ensure_interpreter", "look", "needed"]

_LOOK_SECONDS = 20
_BUILD_SECONDS = 900
_PYTHON = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
# What the packages' metadata say, asked of the runtime itself: only its own interpreter knows where they lie.
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
    """Packages that come together, and can fail without the others."""

    lock: str
    """The name of their lock; that of a later part holds the earlier ones too."""
    stamp: str
    """The name of the file that says by which lock they were installed."""


CORE = Part("runtime.txt", "keepmum-lock.txt")
SEMANTIC = Part("semantic.txt", "keepmum-semantic-lock.txt")
_OF_SEMANTIC = ("numpy", "onnxruntime")


@dataclass(frozen=True, slots=True)
class Runtime:
    """The runtime as it is: its interpreter, that one's version, and which packages are missing."""

    python: str
    version: str
    missing: tuple[str, ...]
    behind: bool
    """Whether it was built from another lock than the bundle's."""


def needed(root: str, part: Part = CORE) -> tuple[str, ...]:
    """The packages of a part by name, each once: some have a line for each platform."""
    with open(os.path.join(root, "pyproject.toml"), "rb") as file:
        dependencies = tomllib.load(file)["project"]["dependencies"]
    names = dict.fromkeys(re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in dependencies)
    return tuple(name for name in names if (name in _OF_SEMANTIC) == (part is SEMANTIC))


def look(root: str | None, machine: Machine, part: Part = CORE) -> Runtime | None:
    """The runtime, as far as one part goes; None when there is none, or its interpreter does not run any more."""
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
    behind = root is not None and _stamp(machine, part) != _wanted_stamp(root, part)
    return Runtime(python, ".".join(map(str, answer["version"])), missing, behind)


def build(root: str, machine: Machine, voice: Voice, part: Part = CORE) -> Runtime:
    """The runtime with every package of a part, made or brought up to date; says what takes long.

    Raises: InstallError when it cannot be completed; what is there by then can be used and built upon.
    """
    runtime = look(root, machine, part)
    if runtime is None:
        _make(machine)
    elif not runtime.missing and not runtime.behind:
        return runtime
    with tempfile.TemporaryFile() as heard:
        for command in _commands(root, machine, part):
            _patiently(command, heard.fileno(), voice)
    files.write(_stamp_file(machine, part), _wanted_stamp(root, part).encode())
    complete = look(root, machine, part)
    if complete is None or complete.missing:
        raise InstallError("the runtime did not keep the packages that were installed", _AGAIN)
    return complete


def ensure_interpreter(machine: Machine) -> None:
    """Makes the runtime without packages, where clients may start an interpreter that is too old for the server.

    Raises: InstallError when it cannot be made.
    """
    usual = machine.find("python3")
    new_enough = usual and machine.run((usual, "-I", "-S", "-c", _NEW_ENOUGH), _LOOK_SECONDS).code == 0
    # An app of macOS starts with a PATH of its own, on which `python3` is Apple's 3.9, whatever the shell finds.
    if (sys.platform == "darwin" or not new_enough) and look(None, machine) is None:
        _make(machine)


_NEW_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))"
_AGAIN = "Run `sh installers/install.sh` again later; it goes on where it stopped."


def _folder(machine: Machine) -> str:
    return os.path.join(machine.home, "runtime")


def _python(machine: Machine) -> str:
    return os.path.join(_folder(machine), *_PYTHON)


def _make(machine: Machine) -> None:
    """Makes the environment without packages; that needs no network, and no ensurepip, which Debian takes out."""
    files.private_folder(machine.home)
    command = (sys.executable, "-I", "-m", "venv", "--clear", "--without-pip", _folder(machine))
    done = machine.run(command, _BUILD_SECONDS)
    if done.code:
        raise InstallError(f"could not make the runtime: {_clean(done.sentence)}", _PACKAGE_OF_VENV)


_PACKAGE_OF_VENV = "On Debian and Ubuntu: sudo apt install python3-venv. Or install uv. Then run this again."


def _commands(root: str, machine: Machine, part: Part) -> Iterator[Sequence[str]]:
    """What installs the packages: through uv, else pip, of the runtime or of the interpreter that runs this."""
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
        raise InstallError("this Python has neither pip nor ensurepip, and uv is not installed", _PACKAGE_OF_VENV)


_PIP = ("install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off")


def _packages(root: str, part: Part) -> Sequence[str]:
    """The lock, by whose hashes every byte is checked; a bundle without one names its packages."""
    lock = _lock(root, part)
    return ("--require-hashes", "-r", lock) if os.path.isfile(lock) else needed(root, part)


def _lock(root: str, part: Part) -> str:
    return os.path.join(root, "installers", "locks", part.lock)


def _has(python: str, module: str, machine: Machine) -> bool:
    return machine.run((python, "-I", "-c", f"import {module}"), _LOOK_SECONDS).code == 0


def _patiently(command: Sequence[str], heard: int, voice: Voice) -> None:
    """Runs a command that may take minutes, and shows that it is at work."""
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=heard, stderr=subprocess.STDOUT)
    except OSError as error:
        raise InstallError(f"{command[0]} could not be started: {error.strerror}", _AGAIN) from None
    with child:
        for second in range(_BUILD_SECONDS):
            try:
                code = child.wait(timeout=1)
            except subprocess.TimeoutExpired:
                voice.wait("installing packages", second + 1)
            else:
                break
        else:
            child.kill()
            raise InstallError(f"installing packages took more than {_BUILD_SECONDS} seconds", _AGAIN)
    if code:
        raise InstallError(f"the packages could not be installed: {_last_words(heard)}", _AGAIN)


def _last_words(heard: int) -> str:
    """The last line that the command said, without user names and passwords of package indexes."""
    os.lseek(heard, 0, os.SEEK_SET)
    with open(heard, "rb", closefd=False) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    said = [line for line in lines if "error" in line.lower()] or [line for line in lines if line.strip()]
    return _clean(Outcome(1, out=said[-1] if said else "").sentence)


def _clean(text: str) -> str:
    return _URL_WITH_USER.sub(r"\1", text)


def _stamp_file(machine: Machine, part: Part) -> str:
    return os.path.join(_folder(machine), part.stamp)


def _stamp(machine: Machine, part: Part) -> str:
    return (files.read(_stamp_file(machine, part)) or b"").decode("ascii", "replace")


def _wanted_stamp(root: str, part: Part) -> str:
    return files.digest(files.read(_lock(root, part)) or b"") or ""
