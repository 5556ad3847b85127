"""The files in one `.memories/` folder. No link and no file name gives access to anything outside of it.

Only regular files `YYYY-MM-DD/*.md` count. Each is written completely under a temporary name first, so that a process
which is killed leaves a whole file or none. On POSIX each path component is opened relative to its parent and without
following links, so that replacing a folder by a link at any moment has no effect.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from keepmum.core.errors import StoreError
from keepmum.system import private_files

__all__ = ["MAX_BYTES", "FileState", "Folder", "UnreadableFile", "read_regular", "shown_path"]

MAX_BYTES = 512 * 1024  # of a file: more than a memory at all of its limits
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NAME = re.compile(r"[^./\\\x00-\x1f\x7f:*?\"<>|][^/\\\x00-\x1f\x7f:*?\"<>|]{0,200}\.md")
_UNFINISHED = re.compile(r"\.(.+\.md)\.\d+(?:-[0-9a-f]{8})?\.part")  # the temporary name of a file
_TICK = 100_000_000  # nanoseconds within which two changes may have the same time
_COARSE_TICK = 2_000_000_000  # on file systems with times in whole seconds
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | getattr(os, "O_BINARY", 0)
_RELATIVE = os.open in os.supports_dir_fd and os.unlink in os.supports_dir_fd


_PLAIN_NAME = re.compile(r"[\w.-]{1,24}", re.ASCII)


def shown_path(path: str) -> str:
    """`day/name` as a notice may show it to a model: others choose the names, and a long one can hold a sentence."""
    day, _, name = path.partition("/")
    return path if _PLAIN_NAME.fullmatch(name) else f"{day}/(a file with a long name; `keepmum doctor` shows it)"


class UnreadableFile(ValueError):
    """The file cannot be read or written. The message continues a sentence that begins with its path."""


class FileState(NamedTuple):
    """Metadata of a file or folder that changes with it."""

    mark: str  # times, size, inode and type
    settled: bool  # the last change is old enough that the next one gets another time, and so another mark


class Folder:
    """One `.memories/` folder. It is created with the first file."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._open_day: tuple[str, int] | None = None  # the last day, and the descriptor of its folder

    @property
    def problem(self) -> str:
        """Why this folder is not used; empty when it is fine or does not exist yet."""
        try:
            mode = os.lstat(self.path).st_mode
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{self.path} cannot be read ({error.strerror})"
        if stat.S_ISLNK(mode):
            return f"{self.path} is a symbolic link, which is not followed; replace it by a folder"
        return "" if stat.S_ISDIR(mode) else f"{self.path} is not a folder; move it away"

    @property
    def writable(self) -> bool:
        """Whether files can be created here."""
        existing = self.path
        while not os.path.lexists(existing) and os.path.dirname(existing) != existing:
            existing = os.path.dirname(existing)
        return not self.problem and os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK)

    def days(self, now: int) -> dict[str, FileState]:
        """The states of the day folders by name; `now` in nanoseconds."""
        if self.problem:
            return {}
        try:
            with os.scandir(self.path) as entries:
                found = {entry.name: entry for entry in entries if _DAY.fullmatch(entry.name)}
                return {
                    name: _file_state(found[name].stat(follow_symlinks=False), now)
                    for name in sorted(found)
                    if found[name].is_dir(follow_symlinks=False)
                }
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read ({error.strerror})") from error

    def files(self, day: str, now: int) -> dict[str, FileState]:
        """The states of a day's files by path (`day/name`), including links and others that `read` refuses."""
        try:
            with os.scandir(os.path.join(self.path, day)) as entries:
                return {
                    f"{day}/{entry.name}": _file_state(entry.stat(follow_symlinks=False), now)
                    for entry in entries
                    if _NAME.fullmatch(entry.name)
                }
        except OSError:  # removed meanwhile, or not readable
            return {}

    def state(self, path: str, now: int) -> FileState | None:
        """The state of the file at `day/name`, None when it does not exist."""
        try:
            return _file_state(os.lstat(f"{self.path}{os.sep}{path}"), now)  # not `join`: called for every file
        except OSError:
            return None

    def read(self, path: str) -> bytes:
        """The content of a file.

        Raises: UnreadableFile when it is a link, not a regular file, too large, or cannot be read.
        """
        with self._day_of(path) as (day, name):
            try:
                return read_regular(name, day)[0]
            except OSError as error:
                linked = os.path.islink(os.path.join(self.path, path))
                raise UnreadableFile("is a symbolic link" if linked else f"cannot be read ({error.strerror})") from None

    def create(self, path: str, content: bytes) -> bool:
        """Create a file; False when the name is taken.

        Raises: OSError, UnreadableFile.
        """
        with self._day_of(path, make=True) as (day, name):
            unfinished = _write_unfinished(name, day, content)
            try:
                created = private_files.rename_new(unfinished, name, day)
            finally:
                _remove(unfinished, day)
            _sync_folder(day)
        return created

    def replace(self, path: str, content: bytes) -> None:
        """Replace the content of a file atomically.

        Raises: OSError, UnreadableFile when it is a link or has a hard link that would keep the old content.
        """
        with self._day_of(path) as (day, name):
            about = _without_own_link(name, day)
            if not stat.S_ISREG(about.st_mode):
                raise UnreadableFile("is not a regular file")
            if about.st_nlink > 1:
                raise UnreadableFile("has a hard link, which would keep the old text; remove one of the two")
            unfinished = _write_unfinished(name, day, content)
            try:
                with contextlib.suppress(OSError):
                    os.chmod(os.path.join(self.path, os.path.dirname(path), unfinished), stat.S_IMODE(about.st_mode))
                os.replace(unfinished, name, src_dir_fd=day, dst_dir_fd=day)
            except BaseException:
                _remove(unfinished, day)
                raise
            _sync_folder(day)

    def remove(self, path: str) -> None:
        """Remove a file, and the folder of its day when it is empty then.

        Raises: OSError, UnreadableFile.
        """
        with self._day_of(path) as (day, name):
            _without_own_link(name, day)
            os.unlink(name, dir_fd=day)
            _sync_folder(day)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.join(self.path, os.path.dirname(path)))

    def tidy(self, day: str, now: float) -> None:
        """Remove temporary files of killed processes, an hour old or more."""
        folder = os.path.join(self.path, day)
        with contextlib.suppress(OSError):
            for name, unfinished in _unfinished(folder):
                if now - os.lstat(os.path.join(folder, unfinished)).st_mtime > 3600:
                    _remove_claim(os.path.join(folder, name))
                    os.unlink(os.path.join(folder, unfinished))

    def drop_unfinished(self, paths: Iterable[str]) -> None:
        """Remove what killed processes left of these files: it may hold a text that nobody may read any more."""
        names: dict[str, set[str]] = {}
        for path in paths:
            day, name = _split_path(path)
            names.setdefault(day, set()).add(name)
        for day, of_day in names.items():
            with contextlib.suppress(OSError, UnreadableFile), self._day_of(f"{day}/{min(of_day)}") as (opened, _):
                _drop_unfinished(of_day, opened, os.path.join(self.path, day))

    @contextlib.contextmanager
    def reading_in_order(self) -> Iterator[None]:
        """Keep the folder of a day open between reads: reading in the order of paths opens each folder once."""
        self._open_day = ("", -1)
        try:
            yield
        finally:
            last, self._open_day = self._open_day, None
            if last[1] >= 0:
                os.close(last[1])

    def _keep_open(self, day: str) -> int | None:
        """A descriptor of a day's folder that stays open for the next file; None outside of `reading_in_order`."""
        if self._open_day is None or not _RELATIVE:
            return None
        if self._open_day[0] != day:
            former, opened = self._open_day[1], _open_day_folder(self.path, day)
            self._open_day = (day, opened)
            if former >= 0:
                os.close(former)
        return self._open_day[1]

    @contextlib.contextmanager
    def _day_of(self, path: str, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
        """A descriptor of the day's folder and the file's name; None and the full path on other systems than POSIX."""
        day, name = _split_path(path)
        if make:
            os.makedirs(self.path, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(os.path.join(self.path, day))
        if not _RELATIVE:
            if self.problem or os.path.islink(os.path.join(self.path, day)):
                raise UnreadableFile("is behind a symbolic link")
            yield None, os.path.join(self.path, day, name)
            return
        kept = self._keep_open(day)
        if kept is not None:
            yield kept, name
            return
        opened = _open_day_folder(self.path, day)
        try:
            yield opened, name
        finally:
            os.close(opened)


def read_regular(name: str, folder: int | None = None, largest: int = MAX_BYTES) -> tuple[bytes, os.stat_result]:
    """The content and metadata of a file; `name` is relative to the descriptor `folder`.

    Raises: OSError, also for a link; UnreadableFile when it is not a regular file, or has more than `largest` bytes.
    """
    with open(os.open(name, os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_BINARY", 0), dir_fd=folder), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise UnreadableFile("is not a regular file")
        if about.st_size > largest:
            raise UnreadableFile(f"is larger than {largest // 1024:,} KiB")
        return file.read(largest + 1), about


def _open_day_folder(path: str, day: str) -> int:
    """A descriptor of a day's folder; the caller closes it.

    Raises: UnreadableFile when a folder is a link, or cannot be opened.
    """
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW)
        try:
            return os.open(day, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise UnreadableFile(f"is in a folder that cannot be opened ({error.strerror})") from None


def _split_path(path: str) -> tuple[str, str]:
    """Day and name of a file.

    Raises: UnreadableFile when `path` is not of this form and might lead out of the folder.
    """
    day, slash, name = path.partition("/")
    if not slash or not _DAY.fullmatch(day) or not _NAME.fullmatch(name):
        raise UnreadableFile("does not have the name of a memory file")
    return day, name


def _file_state(about: os.stat_result, now: int) -> FileState:
    latest = max(about.st_mtime_ns, about.st_ctime_ns if os.name != "nt" else 0)
    tick = _COARSE_TICK if about.st_mtime_ns % 1_000_000_000 == 0 else _TICK
    mark = f"{about.st_mtime_ns}:{latest}:{about.st_size}:{about.st_ino}:{stat.S_IFMT(about.st_mode)}"
    return FileState(mark, settled=latest + tick < now)


def _write_unfinished(name: str, day: int | None, content: bytes) -> str:
    """Write and fsync the content of the file `name` under a temporary name, and return that."""
    folder, last = os.path.split(name)  # the folder is empty where `day` names it
    unfinished = os.path.join(folder, f".{last}.{os.getpid()}-{os.urandom(4).hex()}.part")
    descriptor = os.open(unfinished, _CREATE, 0o644, dir_fd=day)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        _remove(unfinished, day)
        raise
    return unfinished


def _unfinished(folder: str | int) -> list[tuple[str, str]]:
    """The temporary files in a folder: the name that each would get, and the name that it has.

    Raises: OSError.
    """
    return [(match[1], match[0]) for match in map(_UNFINISHED.fullmatch, os.listdir(folder)) if match]


def _drop_unfinished(names: Collection[str], day: int | None, folder: str) -> None:
    """Remove the temporary files of the files `names` in one folder, which is open as `day` where that is possible.

    Raises: OSError.
    """
    for name, unfinished in _unfinished(folder if day is None else day):
        if name in names:
            _remove(unfinished if day is not None else os.path.join(folder, unfinished), day)


def _without_own_link(name: str, day: int | None) -> os.stat_result:
    """The metadata of a file. A temporary name that a killed process left it is removed first.

    Raises: OSError.
    """
    about = os.stat(name, dir_fd=day, follow_symlinks=False)
    if about.st_nlink > 1:
        folder, last = os.path.split(name)
        _drop_unfinished([last], day, folder)
        about = os.stat(name, dir_fd=day, follow_symlinks=False)
    return about


def _remove_claim(name: str) -> None:
    """Remove the empty file that claims a name; the caller has seen that its content never arrived.

    Raises: OSError.
    """
    with contextlib.suppress(FileNotFoundError):
        if os.lstat(name).st_size == 0:
            os.unlink(name)


def _remove(name: str, day: int | None) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=day)


def _sync_folder(day: int | None) -> None:
    """Fsync a folder, where the system supports that."""
    if day is not None:
        with contextlib.suppress(OSError):
            os.fsync(day)
