"""Reading whole files, and replacing or removing one only while it has the content that the plan was made for."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat

from keepmum.system import private_files
from keepmum_installers.errors import FileChanged, InstallError
from keepmum_installers.locking import locked

__all__ = ["digest", "lies_in", "private_folder", "read", "remove", "replace", "tighten", "write"]


def read(path: str) -> bytes | None:
    """The bytes of the file; None when it does not exist.

    Raises: InstallError when the path is not a file, or may not be read.
    """
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failure("read", path, error) from None


def digest(content: bytes | None) -> str | None:
    """The SHA-256 of the content in hexadecimal; None for a file that does not exist."""
    return None if content is None else hashlib.sha256(content).hexdigest()


def replace(path: str, before: str | None, after: bytes, mode: int) -> None:
    """Replace the content whose digest is `before` (None: no file) with `after`, atomically.

    A symbolic link stays one, and an existing file keeps its mode.

    Raises: FileChanged when the file has other content; InstallError when it cannot be written.
    """
    path = os.path.realpath(path)
    try:
        with locked(os.path.dirname(path)):
            if before is not None:
                mode = stat.S_IMODE(os.stat(path).st_mode)
            with private_files.replacement(path, mode) as file:
                file.write(after)
                file.flush()
                os.fsync(file.fileno())
                # As late as possible: the client writes these files as well, and takes no lock of ours.
                _compare(path, before)
            if before is not None:
                os.chmod(path, mode)  # creating the file applied the umask
    except OSError as error:
        raise _failure("write", path, error) from None


def remove(path: str, before: str | None) -> None:
    """Remove the file whose content has the digest `before`.

    Raises: as `replace`.
    """
    try:
        with locked(os.path.dirname(os.path.realpath(path))):
            _compare(path, before)
            os.unlink(path)
    except OSError as error:
        raise _failure("remove", path, error) from None


def write(path: str, content: bytes, mode: int = 0o600) -> None:
    """Write a file of our own, whatever it held before, atomically.

    Raises: as `replace`.
    """
    replace(path, digest(read(path)), content, mode)


def lies_in(path: str, folder: str) -> bool:
    """Whether `path` is the folder or is below it, symbolic links resolved."""
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def private_folder(path: str) -> None:
    """Create the folder and its missing parents, mode 0700.

    Raises: InstallError when it cannot be created.
    """
    try:
        private_files.make_folder(path)
    except OSError as error:
        raise _failure("create", path, error) from None


def tighten(home: str, *, is_ours: bool) -> None:
    """Take the right to write in our folders of Keepmum's home from others; and, of a home that is ours, all rights.

    What cannot be changed stays: the doctor reports it.
    """
    if os.name == "nt":
        return
    ours = [os.path.join(home, name) for name in ("app", "bin", "cache", "plugins", "runtime", "state")]
    ours += [folder for name in ("app", "plugins") for folder, _, _ in os.walk(os.path.join(home, name))]
    for folder, allowed in [(home, 0o700)] * is_ours + [(folder, 0o755) for folder in ours]:
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(os.lstat(folder).st_mode)
            if mode & ~allowed and not os.path.islink(folder):
                os.chmod(folder, mode & allowed)


def _compare(path: str, before: str | None) -> None:
    if digest(read(path)) != before:
        raise FileChanged(f"another program wrote {path} meanwhile; it was left unchanged", "Run this again.")


def _failure(verb: str, path: str, error: OSError) -> InstallError:
    reason = (error.strerror or "unknown reason").lower()
    return InstallError(
        f"could not {verb} {path}: {reason}", "Check its permissions and the free space, then try again."
    )
