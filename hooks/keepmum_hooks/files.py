"""Private state on disk: folders 0700, files 0600, never through a symbolic link, never something else than a file.

State may be damaged, replaced or hostile; every function here answers with what can be had or raises OSError.
"""

from __future__ import annotations

import sys

from keepmum_hooks.system import calls

__all__ = [
    "append",
    "create",
    "make_private",
    "mark",
    "read",
    "read_end",
    "read_private",
    "remove",
    "replace",
    "seconds_since_change",
    "touch",
]

# Windows has neither links to refuse nor pipes to wait for, and needs to be told that bytes are bytes.
_LINKS = getattr(calls, "O_NOFOLLOW", 0)
_SAFELY = _LINKS
for _flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _SAFELY |= getattr(calls, _flag, 0)
_KIND, _REGULAR = 0o170000, 0o100000
_CHUNK = 1 << 20
_START, _HERE, _END = 0, 1, 2  # of lseek


def make_private(folder: str) -> None:
    """Make the folder and what lacks above it, for the user alone; one that exists keeps its mode."""
    try:
        calls.mkdir(folder, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make_private(folder.rpartition("/")[0] or "/")
        try:
            calls.mkdir(folder, 0o700)
        except FileExistsError:
            return  # another hook was quicker


def read(path: str, limit: int, *, follow: bool = False) -> bytes | None:
    """The first `limit` bytes of a regular file, or None where there is none.

    `follow` is for what users write themselves, and may keep elsewhere and link to.
    """
    flags = calls.O_RDONLY | (_SAFELY & ~_LINKS if follow else _SAFELY)
    try:
        descriptor = calls.open(path, flags)
    except OSError:
        return None
    try:
        return _read_up_to(descriptor, limit) if _is_regular(descriptor) else None
    finally:
        calls.close(descriptor)


def read_private(path: str, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file that only this user can write, or None where there is none."""
    try:
        descriptor = calls.open(path, calls.O_RDONLY | _SAFELY)
    except OSError:
        return None
    try:
        return _read_up_to(descriptor, limit) if _is_private(descriptor) else None
    finally:
        calls.close(descriptor)


def read_end(path: str, limit: int) -> bytes | None:
    """The last `limit` bytes of a regular file, all of a shorter one, or None where there is none."""
    try:
        descriptor = calls.open(path, calls.O_RDONLY | _SAFELY)
    except OSError:
        return None
    try:
        if not _is_regular(descriptor):
            return None
        calls.lseek(descriptor, max(0, calls.lseek(descriptor, 0, _END) - limit), _START)
        return _read_up_to(descriptor, limit)
    finally:
        calls.close(descriptor)


def append(path: str, record: bytes, cap: int) -> bytes:
    """Everything in the file up to and with `record`, which this call appended: the record's ticket.

    Of many processes that append at once, each gets a longer text than the one before it, whatever the order in
    which they read. A file above `cap` bytes is begun anew.

    Raises: OSError when the record could not be written whole, or the file is not a regular one.
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
        return _read_up_to(descriptor, end)
    finally:
        calls.close(descriptor)


def replace(path: str, data: bytes) -> None:
    """Put `data` in the place of the file in one step: a reader sees the old text or the new one, whole."""
    beside = _beside(path)
    try:
        _write(beside, data)
        calls.replace(beside, path)
    except OSError:
        remove(beside)
        raise


def create(path: str, data: bytes) -> None:
    """Make the file with `data`, whole from the first moment, unless another process was quicker.

    Raises: OSError when it cannot be made.
    """
    beside = _beside(path)
    try:
        _write(beside, data)
        try:
            calls.link(beside, path)
        except FileExistsError:
            return
        except OSError:  # a file system without hard links
            calls.replace(beside, path)
    finally:
        remove(beside)


def _beside(path: str) -> str:
    """Where this process writes the file before it is there."""
    return f"{path}.{calls.getpid()}.tmp"


def _write(path: str, data: bytes) -> None:
    descriptor = _open_in_folder(path, calls.O_WRONLY | calls.O_CREAT | calls.O_TRUNC)
    try:
        _write_whole(descriptor, data)
    finally:
        calls.close(descriptor)


def remove(path: str) -> None:
    """Remove the file, if it can be done."""
    try:
        calls.unlink(path)
    except OSError:
        return


def seconds_since_change(path: str) -> float:
    """How long ago the file was last written, or infinity when it is not there or dated in the future."""
    import time

    try:
        age = time.time() - calls.lstat(path).st_mtime
    except OSError:
        return float("inf")
    return age if age >= 0 else float("inf")


def touch(path: str) -> None:
    """Set the file's time to now, and make it where it lacks."""
    try:
        calls.utime(path)
    except FileNotFoundError:
        calls.close(_open_in_folder(path, calls.O_WRONLY | calls.O_CREAT))


def mark(path: str) -> None:
    """Leave a sign of now, if it can be done: `keepmum doctor` looks for it, and no sign is no reason not to act."""
    try:
        touch(path)
    except OSError:
        return


def _open_to_append(path: str) -> int:
    descriptor = _open_in_folder(path, calls.O_RDWR | calls.O_APPEND | calls.O_CREAT)
    if _is_regular(descriptor):
        return descriptor
    calls.close(descriptor)
    raise OSError("not a regular file")


def _open_in_folder(path: str, flags: int) -> int:
    """A descriptor of the file, in a folder that is made when it lacks: looking first would cost each run a call."""
    try:
        return calls.open(path, flags | _SAFELY, 0o600)
    except FileNotFoundError:
        make_private(path.rpartition("/")[0])
        return calls.open(path, flags | _SAFELY, 0o600)


def _write_whole(descriptor: int, data: bytes) -> None:
    """Write in one call, as O_APPEND asks; a full disk may take a part, which is then for readers to skip."""
    if calls.write(descriptor, data) != len(data):
        raise OSError("written in part")


def _is_regular(descriptor: int) -> bool:
    return calls.fstat(descriptor).st_mode & _KIND == _REGULAR


def _is_private(descriptor: int) -> bool:
    """Whether it is a regular file of this user's that nobody else can write; Windows has no such modes."""
    status = calls.fstat(descriptor)
    if sys.platform == "win32":
        return status.st_mode & _KIND == _REGULAR
    return status.st_mode & (_KIND | 0o022) == _REGULAR and status.st_uid == calls.geteuid()


def _read_up_to(descriptor: int, limit: int) -> bytes:
    chunks = []
    while limit > 0:
        chunk = calls.read(descriptor, min(limit, _CHUNK))
        if not chunk:
            break
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)
