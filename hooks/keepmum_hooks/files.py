"""Private state on disk: folders 0700, files 0600, no symbolic links, regular files only.

State may be damaged, replaced or hostile; the functions return what is usable or raise OSError.
"""

from __future__ import annotations

import sys

from keepmum_hooks.home import make_private
from keepmum_hooks.system import calls

__all__ = [
    "append",
    "create",
    "make_private",
    "mark",
    "read",
    "read_up_to",
    "remove",
    "replace",
    "seconds_since_change",
    "touch",
]

# Windows has neither links to refuse nor pipes to wait for, and needs O_BINARY.
_LINKS = getattr(calls, "O_NOFOLLOW", 0)
_SAFELY = _LINKS
for _flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _SAFELY |= getattr(calls, _flag, 0)
_KIND, _REGULAR = 0o170000, 0o100000
_START, _HERE = 0, 1  # of lseek


def read(path: str, limit: int, *, follow: bool = False, end: bool = False, private: bool = False) -> bytes | None:
    """The first `limit` bytes of a regular file, or None where there is none that can be read.

    Args:
        path: the file.
        limit: the most bytes to read.
        follow: allow a symbolic link, for files that users write and may store elsewhere.
        end: read the last bytes instead of the first.
        private: require that only this user can write the file; Windows has no such modes.
    """
    try:
        descriptor = calls.open(path, calls.O_RDONLY | (_SAFELY & ~_LINKS if follow else _SAFELY))
    except OSError:
        return None
    try:
        status = calls.fstat(descriptor)
        is_others = private and sys.platform != "win32" and (status.st_uid != calls.geteuid() or status.st_mode & 0o022)
        if is_others or status.st_mode & _KIND != _REGULAR:
            return None
        if end:
            calls.lseek(descriptor, max(0, status.st_size - limit), _START)
        return read_up_to(descriptor, limit, status.st_size + 1)
    except OSError:  # a failing disk, or a file of /proc
        return None
    finally:
        calls.close(descriptor)


def read_up_to(descriptor: int, limit: int, chunk_size: int = 1 << 16) -> bytes:
    """The next `limit` bytes of a file or pipe, or all that remain."""
    chunks = []
    while limit > 0:
        chunk = calls.read(descriptor, min(limit, chunk_size))
        if not chunk:
            break
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


def append(path: str, record: bytes, cap: int) -> bytes:
    """Append `record` and return the file's content up to and including it.

    When several processes append at the same time, each gets the content as of its own record, in any order of reading.
    A file above `cap` bytes is replaced by an empty one first.

    Raises: OSError when the record was written in part, or the file is not a regular file.
    """
    descriptor = _open_to_append(path)
    try:
        if calls.fstat(descriptor).st_size > cap:
            calls.unlink(path)
            calls.close(descriptor)
            descriptor = _open_to_append(path)
        _write_whole(descriptor, record)
        end = calls.lseek(descriptor, 0, _HERE)
        calls.lseek(descriptor, 0, _START)
        return read_up_to(descriptor, end)
    finally:
        calls.close(descriptor)


def replace(path: str, data: bytes) -> None:
    """Replace the file's content atomically: a reader sees the old content or the new one."""
    temporary = _temporary(path)
    try:
        _write(temporary, data)
        calls.replace(temporary, path)
    except OSError:
        remove(temporary)
        raise


def create(path: str, data: bytes) -> None:
    """Create the file with `data` atomically; do nothing if it exists.

    Raises: OSError when it cannot be created.
    """
    temporary = _temporary(path)
    try:
        _write(temporary, data)
        try:
            calls.link(temporary, path)
        except FileExistsError:
            return
        except OSError:  # a file system without hard links
            calls.replace(temporary, path)
    finally:
        remove(temporary)


def _temporary(path: str) -> str:
    """The name under which this process writes the file at first."""
    return f"{path}.{calls.getpid()}.tmp"


def _write(path: str, data: bytes) -> None:
    descriptor = _open_in_folder(path, calls.O_WRONLY | calls.O_CREAT | calls.O_TRUNC)
    try:
        _write_whole(descriptor, data)
    finally:
        calls.close(descriptor)


def remove(path: str) -> None:
    """Remove the file; errors are ignored."""
    try:
        calls.unlink(path)
    except OSError:
        return


def seconds_since_change(path: str) -> float:
    """Seconds since the file was last written; infinity when it is missing or dated in the future."""
    import time

    try:
        age = time.time() - calls.lstat(path).st_mtime
    except OSError:
        return float("inf")
    return age if age >= 0 else float("inf")


def touch(path: str) -> None:
    """Set the file's time to now; create it if it is missing."""
    try:
        calls.utime(path)
    except FileNotFoundError:
        calls.close(_open_in_folder(path, calls.O_WRONLY | calls.O_CREAT))


def mark(path: str) -> None:
    """Record the current time in the file for `keepmum doctor`; errors are ignored, as the hook can work without it."""
    try:
        touch(path)
    except OSError:
        return


def _open_to_append(path: str) -> int:
    descriptor = _open_in_folder(path, calls.O_RDWR | calls.O_APPEND | calls.O_CREAT)
    if calls.fstat(descriptor).st_mode & _KIND == _REGULAR:
        return descriptor
    calls.close(descriptor)
    raise OSError("not a regular file")


def _open_in_folder(path: str, flags: int) -> int:
    """A descriptor of the file; its folder is created only after a failure, to save a system call in each run."""
    try:
        return calls.open(path, flags | _SAFELY, 0o600)
    except FileNotFoundError:
        make_private(path.rpartition("/")[0])
        return calls.open(path, flags | _SAFELY, 0o600)


def _write_whole(descriptor: int, data: bytes) -> None:
    """Write in one call, which O_APPEND needs; a full disk may take only a part, which readers skip."""
    if calls.write(descriptor, data) != len(data):
        raise OSError("written in part")
