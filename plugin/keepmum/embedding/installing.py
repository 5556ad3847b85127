"""Installing and removing the local model: either all of it is in place, or nothing of it.

Everything is made in a folder beside, checked there, and moved into place in one step. What a download left behind
stays there for the next attempt.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Iterator

from keepmum.core.errors import EmbeddingError
from keepmum.embedding import conversion, packed
from keepmum.embedding.local_model import LocalModel
from keepmum.embedding.sources import SOURCES, Progress, folder
from keepmum.system import file_locks
from keepmum.system.private_files import make_folder

__all__ = ["install", "remove"]

_PATIENCE = 1800.0  # seconds that another installation may take
_PAUSE = 0.2
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def install(model: LocalModel, home: str, source: str | None, progress: Progress) -> bool:
    """Whether it was installed now; False when it was in place already.

    `source` is the name of one, a folder or an archive; without it every source is tried in turn.

    Raises: EmbeddingError when it cannot be had, put down or made; what was in place before is then still there.
    """
    place = model.folder(home)
    try:
        with _alone(os.path.dirname(place), progress):
            if model.is_whole(place):
                return False
            work = _work(model, home)
            make_folder(work)
            ready = os.path.join(work, "ready")
            shutil.rmtree(ready, ignore_errors=True)
            os.mkdir(ready, 0o700)
            _make(model, source, work, ready, progress)
            _put(ready, place)
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        if error.errno in _FULL:
            _make_room(model, home)
            raise EmbeddingError(
                f"the disk is full: the model needs 250 MB in {home} while it is made, and 60 MB from then on"
            ) from None
        raise EmbeddingError(f"the model cannot be put into {home}: {error.strerror}") from None
    return True


def remove(model: LocalModel, home: str, progress: Progress) -> int:
    """How many bytes were freed: the model, and whatever a download left behind.

    Raises: EmbeddingError when a file of it cannot be removed.
    """
    place = model.folder(home)
    packed.remove(os.path.join(home, "cache"))
    if not os.path.isdir(os.path.dirname(place)):
        return 0
    with _alone(os.path.dirname(place), progress):
        return sum(_removed(path) for path in (place, _work(model, home)))


def _make(model: LocalModel, source: str | None, work: str, ready: str, progress: Progress) -> None:
    """Put the installed files into `ready`: made from the published ones, or copied from where they were made.

    Raises: EmbeddingError, OSError.
    """
    if source is None or source in SOURCES:
        _check_packages()  # before the download, not after it
        published = _fetched(model, [source] if source else list(SOURCES), work, progress)
    elif whole := folder.find(source, model.installed):
        for name in model.installed:
            shutil.copyfile(os.path.join(whole, name), os.path.join(ready, name))
        return
    else:
        _check_packages()
        published = _found(model, source, work)
    progress("making the model", 0, 1)
    conversion.convert(published, ready)
    if not model.is_whole(ready):
        raise EmbeddingError("the model came out otherwise than on other machines: a fault of disk, memory or numpy")


def _check_packages() -> None:
    """Nothing, when there is what the model is made with.

    Raises: EmbeddingError.
    """
    try:
        import numpy  # noqa: F401, ICN001 - whether it is there
    except ImportError:
        raise EmbeddingError(
            "making the model needs the package numpy, which is not here; `keepmum install` fetches it"
        ) from None


def _fetched(model: LocalModel, names: list[str], work: str, progress: Progress) -> str:
    """The folder of the published files, from the first source that has them.

    Raises: EmbeddingError saying of each why it has not; OSError.
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


def _found(model: LocalModel, path: str, work: str) -> str:
    """The folder of the published files, which the user says are in a folder or an archive.

    Raises: EmbeddingError when they are not; OSError.
    """
    if folder.is_archive(path):
        unpacked = os.path.join(work, "unpacked")
        make_folder(unpacked)
        try:
            folder.unpack(path, model.published, unpacked)
        except ValueError as problem:
            raise EmbeddingError(f"{path} {problem}") from None
        path, named = unpacked, path
    else:
        named = path
    if not os.path.isdir(path):
        raise EmbeddingError(f"there is no folder, wheel or zip file {named}, and no source of that name")
    found = folder.find(path, model.published)
    if found is None:
        raise EmbeddingError(
            f"{named} does not hold {' and '.join(model.published)} as they were published: missing, damaged or others"
        )
    return found


def _put(ready: str, place: str) -> None:
    """Move a folder to its place; a damaged one that is there goes."""
    if os.path.lexists(place):
        old = f"{ready}.old"
        shutil.rmtree(old, ignore_errors=True)
        os.rename(place, old)
    os.rename(ready, place)


def _make_room(model: LocalModel, home: str) -> None:
    """Give back what a failed attempt took, or the user could not even remove it."""
    shutil.rmtree(_work(model, home), ignore_errors=True)


def _work(model: LocalModel, home: str) -> str:
    return f"{model.folder(home)}.part"


def _removed(path: str) -> int:
    """How many bytes were freed with a folder, which may not be there.

    Raises: EmbeddingError when it cannot be removed.
    """
    if not os.path.isdir(path):
        return 0
    gone = f"{path}.{os.getpid()}.gone"
    try:
        os.rename(path, gone)  # in one step, so that nobody opens half of it
        freed = sum(os.lstat(os.path.join(base, name)).st_size for base, _, names in os.walk(gone) for name in names)
        shutil.rmtree(gone)
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be removed ({error.strerror}); close the clients and try again") from None
    return freed


@contextlib.contextmanager
def _alone(models: str, progress: Progress) -> Iterator[None]:
    """Hold the only lock on the models of this home while the block runs; the kernel frees it when its holder dies.

    Raises: EmbeddingError when another installation takes too long; OSError.
    """
    make_folder(models)
    descriptor = os.open(os.path.join(models, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + _PATIENCE
        while not file_locks.take(descriptor):
            if time.monotonic() > deadline:
                raise EmbeddingError("another installation of the model has been at work for half an hour")
            progress("waiting for another installation", 0, 0)
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)
