"""The folder of Keepmum's state, and the rule that nothing is executed from it that another user could have written.

Hooks import this module first, and the launcher compiles it at each start: it imports built-in modules only.
"""

import marshal
import sys

if sys.platform == "win32":
    import nt as calls
else:
    import posix as calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.machinery import ModuleSpec
    from typing import Any

__all__ = [
    "begin",
    "environment",
    "exists",
    "find",
    "follow",
    "has_room_for_bytecode",
    "is_private",
    "make_private",
    "use_bytecode",
]

# Each marks the top of a project or a work tree.
_MARKS = (".git", ".keepmum.toml", ".hg", ".jj", ".svn")
_OTHERS_WRITE, _STICKY = 0o022, 0o1000  # modes
_ROOM = 32 << 20  # bytes, several times the bytecode of all our modules
_MOST_LINKS = 40  # as on Linux
_used: "list[str]" = []  # the home whose bytecode this process loads; the decision about it is final
_reported: "set[str]" = set()  # homes that are ignored
_private: "set[str]" = set()  # folders that were found to be private
_owners = () if sys.platform == "win32" else (calls.geteuid(), 0)


def find(environ: "Mapping[str, str]") -> "str | None":
    """The folder of all of Keepmum's state, or None when the user has no home.

    `KEEPMUM_HOME` overrides `~/.keepmum`; it must be absolute or start with "~/", because hooks and server may run in
    different folders. It is ignored, with one warning on standard error, where a project or another user could have
    put files there: a project's settings for a client may set variables. The password database is not consulted: a
    process without a home (a service, a stripped environment) gets no state rather than another user's.
    """
    user = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    default = user + "/.keepmum" if user else ""
    chosen = environ.get("KEEPMUM_HOME", "")
    if not chosen:
        return default if _is_absolute(default) else None
    if chosen == "~" or chosen.startswith("~/"):
        chosen = user + chosen[1:] if user else ""
    if not _is_absolute(chosen):
        return None
    objection = "" if chosen in _used else _objection(chosen, default)
    if not objection:
        return chosen
    if chosen not in _reported:
        _reported.add(chosen)
        _warn(f"KEEPMUM_HOME is ignored: {objection}. Choose a folder of your own, mode 0700, outside every project")
    return default if _is_absolute(default) else None


def _objection(chosen: str, default: str) -> str:
    """Why a project or another user may have written files to the chosen folder; "" for a folder that may be used."""
    real, passed = follow(chosen)
    if default and real == follow(default)[0]:
        return ""
    if any(exists(f"{folder}/{mark}") for folder in passed for mark in _MARKS):
        return "it is inside a project"
    if sys.platform == "win32":
        return ""
    return next(filter(None, (_danger(folder, is_home=folder == real) for folder in passed)), "")


def _danger(folder: str, *, is_home: bool) -> str:
    """Why another user could change the home in this folder, which is the home or above it; "" if none can."""
    try:
        status = calls.stat(folder)
    except FileNotFoundError:
        return ""
    except OSError:
        return "it cannot be examined"
    # In some containers root has another number.
    if status.st_uid != calls.geteuid() and (is_home or status.st_uid != calls.stat("/").st_uid):
        return "it, or a folder above it, belongs to another user"
    if status.st_mode & _OTHERS_WRITE and (is_home or not status.st_mode & _STICKY):
        return "others can write to it, or to a folder above it"
    return ""


def exists(path: str) -> bool:
    """Whether the path exists; dangling symbolic links count."""
    try:
        calls.lstat(path)
    except OSError:
        return False
    return True


def follow(path: str) -> tuple[str, list[str]]:
    """An absolute path without symbolic links, dots and double slashes, as realpath; and the folders that lead to it.

    The folders are those that are searched for a name, and the path itself. On Windows, all is in lower case. Missing
    names are kept; a path with a loop of links is returned unchanged.
    """
    if sys.platform == "win32":
        import os

        real = os.path.normcase(os.path.realpath(path))
        parts = real.replace("\\", "/").split("/")
        return real, ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    left = path.split("/")[::-1]
    done = ""
    passed = []
    links = 0
    while left:
        part = left.pop()
        if part in ("", "."):
            continue
        passed.append(done or "/")
        if part == "..":
            done = done.rpartition("/")[0]
            continue
        try:
            target = calls.readlink(f"{done}/{part}")
        except OSError:
            done = f"{done}/{part}"
            continue
        links += 1
        if links > _MOST_LINKS:
            return path, [*passed, path]
        done = "" if target.startswith("/") else done
        left += target.split("/")[::-1]
    return done or "/", [*passed, done or "/"]


def is_private(path: str, home: str) -> bool:
    """Whether only this user, or root, can write the file or folder and each folder above it up to the home."""
    if sys.platform == "win32":
        return True  # there are no such modes
    try:
        return _is_closed(calls.stat(path)) and (len(path) <= len(home) or _is_in_private(path, home))
    except OSError:
        return False


def _is_closed(status: "calls.stat_result") -> bool:
    """Whether a file or folder belongs to this user or root, and only they can write it."""
    return status.st_uid in _owners and not status.st_mode & _OTHERS_WRITE


def _is_in_private(path: str, home: str) -> bool:
    """Whether the folders of the path up to the home are private; each is examined once.

    Raises: OSError when one cannot be examined.
    """
    folder = path.rpartition("/")[0]
    passed = []
    while folder not in _private:
        if not _is_closed(calls.stat(folder)):
            return False
        passed.append(folder)
        if len(folder) <= len(home):
            break
        folder = folder.rpartition("/")[0]
    _private.update(passed)
    return True


def environment() -> dict[str, str]:
    """The environment variables as text, as `os.environ` gives them."""
    if sys.platform == "win32":
        return dict(calls.environ)
    return {
        name.decode("utf-8", "surrogateescape"): value.decode("utf-8", "surrogateescape")
        for name, value in calls.environ.items()
    }


def make_private(folder: str) -> None:
    """Create the folder and its missing parents, mode 0700; an existing folder keeps its mode."""
    try:
        calls.mkdir(folder, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make_private(folder.rpartition("/")[0] or "/")
        try:
            calls.mkdir(folder, 0o700)
        except FileExistsError:
            return  # another hook was faster


def begin(checked: str) -> dict[str, str]:
    """The environment of a hook, whose imports use bytecode in the home from now on.

    `checked` is the home if that, and the folders of this module's bytecode, were found to be private; else "".
    """
    environ = environment()
    # Our modules import it for their syntax alone; loading it takes 2 % of a hook.
    future = sys.modules["__future__"] = type(sys)("__future__")
    future.annotations = None  # type: ignore[attr-defined]  # of a module that is made here
    if checked:
        _private.add(str(__spec__.cached).rpartition("/")[0])
    home = checked or find(environ)
    if home:
        use_bytecode(home)
    return environ


def use_bytecode(home: str) -> None:
    """Keep bytecode in the home, once that exists, and import from there only what no other user could have written.

    The folders of bytecode are private whatever the umask is: with that of many systems, 002, the group may write.
    """
    _used[:] = [home]
    if not exists(home):
        sys.dont_write_bytecode = True
        return
    import _frozen_importlib_external as loaders

    read, write = loaders.FileLoader.get_data, loaders.SourceFileLoader.set_data
    create = loaders.ExtensionFileLoader.create_module

    def get_data(loader: object, path: str) -> bytes:
        _check(path, home, OSError)
        return read(loader, path)  # type: ignore[arg-type]  # a loader of this class

    def set_data(loader: object, path: str, data: bytes, *, _mode: int = 0) -> None:
        if _has_private_folder(path, home):
            write(loader, path, data, _mode=0o600)  # type: ignore[arg-type]  # as above

    def create_module(loader: object, spec: "ModuleSpec") -> object:
        _check(str(spec.origin), home, ImportError)
        return create(loader, spec)  # type: ignore[arg-type]  # as above

    for owner, function in (
        (loaders.FileLoader, get_data),
        (loaders.SourceFileLoader, set_data),
        (loaders.ExtensionFileLoader, create_module),
    ):
        setattr(owner, function.__name__, function)
    _add_finder(loaders, home)
    was_compiled = sys.pycache_prefix is None
    sys.pycache_prefix = home + "/cache/pycache"
    sys.dont_write_bytecode = not has_room_for_bytecode(home)
    if was_compiled:
        for name in (__name__, __name__.partition(".")[0]):  # before it was known where to write the bytecode
            loader = sys.modules[name].__loader__
            try:
                loader.get_code(name)  # type: ignore[union-attr]  # as above
            except EOFError:  # a full disk leaves truncated files
                calls.unlink(loaders.cache_from_source(loader.path))  # type: ignore[union-attr]  # as above


def _add_finder(loaders: "Any", home: str) -> None:
    """Add a finder of our modules that uses up-to-date bytecode in half the time and a third of the system calls.

    Packages, and modules without such bytecode, are left to the finders and loaders of Python.
    """
    if sys.platform == "win32":  # without modes and with other paths
        return
    from _frozen_importlib import ModuleSpec

    magic = loaders.MAGIC_NUMBER + b"\0\0\0\0"  # the bytecode names time and size of its source
    prefix, ending = home + "/cache/pycache", f".{sys.implementation.cache_tag}.pyc"

    class Loader(loaders.SourceFileLoader):  # type: ignore[misc]  # of a class that is not known
        """Loads one module from `bytecode` if that belongs to a source with this status."""

        def get_code(self, name: str) -> "Any":
            return _code(self.bytecode, self.expected, home) or super().get_code(name)

    class Finder:
        """The finder."""

        @staticmethod
        def find_spec(name: str, path: "Any" = None, _target: object = None) -> "Any":
            is_ours = name.startswith("keepmum") and type(path) is list and path
            if not is_ours or sys.pycache_prefix != prefix:  # None once the bytecode is suspected to be broken
                return None
            file = f"{path[0]}/{name.rpartition('.')[2]}"
            try:
                source = calls.stat(file + ".py")
            except OSError:
                return None
            loader = Loader(name, file + ".py")
            loader.bytecode = f"{prefix}{file}{ending}"
            size = (int(source.st_mtime) & 0xFFFFFFFF, source.st_size & 0xFFFFFFFF)
            loader.expected = magic + b"".join(number.to_bytes(4, "little") for number in size)
            spec = ModuleSpec(name, loader, origin=loader.path)
            spec.cached = loader.bytecode
            spec.has_location = True
            return spec

    sys.meta_path.insert(0, Finder)


def _code(path: str, expected: bytes, home: str) -> "Any":
    """The code in a file of bytecode that begins as expected and that no other user can write; None without one."""
    try:
        descriptor = calls.open(path, calls.O_RDONLY | calls.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = calls.fstat(descriptor)
        raw = calls.read(descriptor, status.st_size)
        if raw[: len(expected)] != expected or not (_is_closed(status) and _is_in_private(path, home)):
            return None
        return marshal.loads(memoryview(raw)[len(expected) :])  # noqa: S302 - private and ours, as in Python's loader
    except (OSError, EOFError, ValueError, TypeError):
        return None
    finally:
        calls.close(descriptor)


def _check(path: str, home: str, error: "type[Exception]") -> None:
    """Raises: `error` for a file in the home that another user can write."""
    if path.startswith(home.rstrip("/") + "/") and not is_private(path, home):
        raise error("another user can write it")


def _has_private_folder(path: str, home: str) -> bool:
    """Create the folder of the file, and say whether it is private."""
    folder = path.replace("\\", "/").rpartition("/")[0]
    try:
        make_private(folder)
    except OSError:
        return False
    return is_private(folder, home)


def has_room_for_bytecode(folder: str) -> bool:
    """Whether the disk has room for bytecode; on a full disk some Pythons leave half a file, and fail on it later.

    Source: https://github.com/python/cpython/issues/126606 (fixed at the end of 2024), read 2026-11-21.
    """
    try:
        disk = calls.statvfs(folder)
    except (AttributeError, OSError):  # Windows has no such call
        return True
    return disk.f_bavail * disk.f_frsize >= _ROOM


def _is_absolute(path: str) -> bool:
    if sys.platform == "win32":
        from ntpath import isabs

        return isabs(path)
    return path.startswith("/")


def _warn(text: str) -> None:
    try:  # noqa: SIM105 - importing contextlib takes longer than all of this
        calls.write(2, f"keepmum: {text}.\n".encode())
    except OSError:
        pass
