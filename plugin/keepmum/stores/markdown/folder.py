"""The files below one `.memories/`, reached so that neither a link nor a name leads out of it.

Only regular files `YYYY-MM-DD/*.md` count. On POSIX each step is opened relative to the one before and follows no
link, so that a folder which is swapped for a link meanwhile leads nowhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

from keepmum.core.errors import StoreError

__all__ = ["LONGEST", "Folder", "Sighting", "Unreadable", "read_regular", "split_path"]

LONGEST = 512 * 1024  # bytes of a file: a memory at every limit, and then some
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NAME = re.compile(r"[^./\\\x00-\x1f\x7f:*?\"<>|][^/\\\x00-\x1f\x7f:*?\"<>|]{0,200}\.md")
_RACY = 100_000_000  # nanoseconds: a change this soon after another may leave the same time
_COARSE = 2_000_000_000  # where a file system keeps whole seconds only
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_RELATIVE = os.open in os.supports_dir_fd and os.unlink in os.supports_dir_fd


class Unreadable(ValueError):
    """A file that is not read; the words say why."""


class Sighting(NamedTuple):
    """What a file or folder looked like, so that a change of it shows; `settled` when a change could not hide."""

    mark: str
    settled: bool


class Folder:
    """One `.memories/` folder; it need not exist before the first file is made."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._held: tuple[str, int] | None = None  # a day, and the descriptor of its folder

    @property
    def problem(self) -> str:
        """Why this folder is neither read nor written; empty when it is fine, or not there yet."""
        try:
            mode = os.lstat(self.path).st_mode
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{self.path} cannot be read ({error.strerror})"
        if stat.S_ISLNK(mode):
            return f"{self.path} is a symbolic link, which is not followed; put a folder there"
        return "" if stat.S_ISDIR(mode) else f"{self.path} is no folder; move it away"

    @property
    def writable(self) -> bool:
        """Whether files can be made here."""
        place = self.path
        while not os.path.lexists(place) and os.path.dirname(place) != place:
            place = os.path.dirname(place)
        return not self.problem and os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK)

    def days(self, now: int) -> dict[str, Sighting]:
        """The folders of days, by name, as they look at `now` (nanoseconds)."""
        if self.problem:
            return {}
        try:
            with os.scandir(self.path) as entries:
                found = {entry.name: entry for entry in entries if _DAY.fullmatch(entry.name)}
                return {
                    name: _sighting(found[name].stat(follow_symlinks=False), now)
                    for name in sorted(found)
                    if found[name].is_dir(follow_symlinks=False)
                }
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read ({error.strerror})") from error

    def names(self, day: str, now: int) -> dict[str, Sighting]:
        """The memory files of a day by path (`day/name`), and links and the like too: they are refused when read."""
        try:
            with os.scandir(os.path.join(self.path, day)) as entries:
                return {
                    f"{day}/{entry.name}": _sighting(entry.stat(follow_symlinks=False), now)
                    for entry in entries
                    if _NAME.fullmatch(entry.name)
                }
        except OSError:  # it went away meanwhile, or is closed to us
            return {}

    def look(self, path: str, now: int) -> Sighting | None:
        """What the file at `day/name` looks like, None when it is not there."""
        try:
            return _sighting(os.lstat(f"{self.path}{os.sep}{path}"), now)  # thousands of times at a start
        except OSError:
            return None

    def read(self, path: str) -> bytes:
        """All of a file.

        Raises: Unreadable when it is a link, no regular file, too large, or cannot be read.
        """
        with self._day_of(path) as (day, name):
            try:
                return read_regular(name, day)[0]
            except OSError as error:
                linked = os.path.islink(os.path.join(self.path, path))
                raise Unreadable("is a symbolic link" if linked else f"cannot be read ({error.strerror})") from None

    def create(self, path: str, content: bytes) -> bool:
        """Make a new file; False when one of that name is there already.

        Raises: OSError, Unreadable.
        """
        with self._day_of(path, make=True) as (day, name):
            try:
                descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o644, dir_fd=day)
            except FileExistsError:
                return False
            try:
                _fill(descriptor, content)
            except BaseException:
                _remove(name, day)
                raise
            _settle(day)
        return True

    def replace(self, path: str, content: bytes) -> None:
        """Put other content into a file, so that a reader sees the old or the new one, never a part.

        Raises: OSError, Unreadable when it is a link or goes by a second name that would keep the old content.
        """
        with self._day_of(path) as (day, name):
            about = os.stat(name, dir_fd=day, follow_symlinks=False)
            if not stat.S_ISREG(about.st_mode):
                raise Unreadable("is no regular file")
            if about.st_nlink > 1:
                raise Unreadable("has a second name (a hard link), which would keep the old text; remove one of them")
            unfinished = f".{name}.{os.getpid()}.part"
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_FOLLOW, 0o644, dir_fd=day)
            try:
                _fill(descriptor, content)
                with contextlib.suppress(OSError):
                    os.chmod(os.path.join(self.path, os.path.dirname(path), unfinished), stat.S_IMODE(about.st_mode))
                os.replace(unfinished, name, src_dir_fd=day, dst_dir_fd=day)
            except BaseException:
                _remove(unfinished, day)
                raise
            _settle(day)

    def remove(self, path: str) -> None:
        """Take a file away, and the folder of its day when that was its last.

        Raises: OSError, Unreadable.
        """
        with self._day_of(path) as (day, name):
            os.unlink(name, dir_fd=day)
            _settle(day)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.join(self.path, os.path.dirname(path)))

    def tidy(self, day: str, now: float) -> None:
        """Take away what a process that was killed left unfinished an hour ago or more."""
        with contextlib.suppress(OSError), os.scandir(os.path.join(self.path, day)) as entries:
            for entry in entries:
                if entry.name.startswith(".") and entry.name.endswith(".part") and ".md." in entry.name:
                    about = entry.stat(follow_symlinks=False)
                    if now - about.st_mtime > 3600:
                        os.unlink(entry.path)

    @contextlib.contextmanager
    def in_order(self) -> Iterator[None]:
        """Files that are read in the order of their paths inside this block cost one look at each folder of a day."""
        self._held = ("", -1)
        try:
            yield
        finally:
            held, self._held = self._held, None
            if held[1] >= 0:
                os.close(held[1])

    def _hold(self, day: str) -> int | None:
        """The folder of a day as a descriptor that stays open for the next file; None where none is held."""
        if self._held is None or not _RELATIVE:
            return None
        if self._held[0] != day:
            former, opened = self._held[1], _opened_day(self.path, day)
            self._held = (day, opened)
            if former >= 0:
                os.close(former)
        return self._held[1]

    @contextlib.contextmanager
    def _day_of(self, path: str, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
        """The folder of a file's day as a descriptor, and the file's name; where there are none, the whole path."""
        day, name = split_path(path)
        if make:
            os.makedirs(self.path, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(os.path.join(self.path, day))
        if not _RELATIVE:
            if self.problem or os.path.islink(os.path.join(self.path, day)):
                raise Unreadable("lies behind a symbolic link")
            yield None, os.path.join(self.path, day, name)
            return
        held = self._hold(day)
        if held is not None:
            yield held, name
            return
        opened = _opened_day(self.path, day)
        try:
            yield opened, name
        finally:
            os.close(opened)


def read_regular(name: str, folder: int | None = None) -> tuple[bytes, os.stat_result]:
    """All of a file, and what the system knows of it; `folder` is the descriptor that a name is relative to.

    Raises: OSError, for a link too; Unreadable when it is no regular file, or larger than a memory gets.
    """
    with open(os.open(name, os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_BINARY", 0), dir_fd=folder), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable("is no regular file")
        if about.st_size > LONGEST:
            raise Unreadable(f"is larger than {LONGEST // 1024} KiB")
        return file.read(LONGEST + 1), about


def _opened_day(path: str, day: str) -> int:
    """The folder of a day as a descriptor, which the caller closes.

    Raises: Unreadable when one of the folders is a link, or cannot be opened.
    """
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW)
        try:
            return os.open(day, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise Unreadable(f"lies in a folder that cannot be opened ({error.strerror})") from None


def split_path(path: str) -> tuple[str, str]:
    """Day and name of a file.

    Raises: Unreadable when `path` is anything but those two: it could lead out of the folder.
    """
    day, slash, name = path.partition("/")
    if not slash or not _DAY.fullmatch(day) or not _NAME.fullmatch(name):
        raise Unreadable("has a name that no memory file has")
    return day, name


def _sighting(about: os.stat_result, now: int) -> Sighting:
    latest = max(about.st_mtime_ns, about.st_ctime_ns if os.name != "nt" else 0)
    tick = _COARSE if about.st_mtime_ns % 1_000_000_000 == 0 else _RACY
    mark = f"{about.st_mtime_ns}:{latest}:{about.st_size}:{about.st_ino}:{stat.S_IFMT(about.st_mode)}"
    return Sighting(mark, settled=latest + tick < now)


def _fill(descriptor: int, content: bytes) -> None:
    """Write a new file through to the disk."""
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _remove(name: str, day: int | None) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=day)


def _settle(day: int | None) -> None:
    """Write the names of a folder through to the disk, where that can be asked for."""
    if day is not None:
        with contextlib.suppress(OSError):
            os.fsync(day)
