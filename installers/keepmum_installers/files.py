"""Files read whole and replaced whole: written beside, compared, then put in place in one step."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets

from keepmum_installers.errors import FileChanged, InstallError
from keepmum_installers.locking import locked

__all__ = ["digest", "lies_in", "missing", "private_folder", "read", "remove", "replace", "write"]


def read(path: str) -> bytes | None:
    """The bytes of the file; None when there is none.

    Raises: InstallError when there is something else at that place, or it may not be read.
    """
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _refused("read", path, error) from None


def digest(content: bytes | None) -> str | None:
    """The SHA-256 of the content in hexadecimal; None for a file that does not exist."""
    return None if content is None else hashlib.sha256(content).hexdigest()


def replace(path: str, before: str | None, after: bytes, mode: int) -> None:
    """Puts after in the place of the content whose digest is before; None stands for no file.

    A symbolic link stays, and what it points to is replaced. A file that is there keeps its own mode.

    Raises: FileChanged when the file is no longer the one that the digest was taken of; InstallError when it cannot
    be written.
    """
    path = os.path.realpath(path)
    try:
        with locked(os.path.dirname(path)):
            _replace(path, before, after, mode)
    except OSError as error:
        raise _refused("write", path, error) from None


def remove(path: str, before: str | None) -> None:
    """Removes the file whose content has the digest before.

    Raises: as replace.
    """
    try:
        with locked(os.path.dirname(os.path.realpath(path))):
            _compare(path, before)
            os.unlink(path)
    except OSError as error:
        raise _refused("remove", path, error) from None


def write(path: str, content: bytes, mode: int = 0o600) -> None:
    """Writes a file of our own, whatever it held before; nobody ever sees half of it."""
    replace(path, digest(read(path)), content, mode)


def lies_in(path: str, folder: str) -> bool:
    """Whether path is the folder, or below it, however both are spelt."""
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def private_folder(path: str) -> None:
    """Makes the folder, and what is missing above it, for its owner only.

    Raises: InstallError when it cannot be made.
    """
    try:
        # makedirs gives its mode to the last folder alone.
        for folder in missing(path):
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
    except OSError as error:
        raise _refused("make", path, error) from None


def missing(path: str) -> list[str]:
    """The folders that have to be made before there is one at path, in the order in which to make them."""
    folders: list[str] = []
    while not os.path.isdir(path) and path != os.path.dirname(path):
        folders.insert(0, path)
        path = os.path.dirname(path)
    return folders


def _replace(path: str, before: str | None, after: bytes, mode: int) -> None:
    beside = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            os.chmod(beside, os.stat(path).st_mode & 0o7777)
        # As late as can be: the client itself writes these files, and takes no lock of ours.
        _compare(path, before)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _compare(path: str, before: str | None) -> None:
    if digest(read(path)) != before:
        raise FileChanged(f"{path} was written by somebody else meanwhile; it was left alone", "Run this again.")


def _refused(verb: str, path: str, error: OSError) -> InstallError:
    reason = (error.strerror or "unknown reason").lower()
    return InstallError(
        f"could not {verb} {path}: {reason}", "Check its permissions and the free space, then try again."
    )
