"""The folder of Keepmum's state, and the rule that nothing is executed from it that another user could have written.

Hooks import this module first, and the launcher compiles it at each start: it imports built-in modules only.
"""

import sys

if sys.platform == "win32":
    import nt as calls
else:
    import posix as calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.machinery import ModuleSpec

__all__ = [
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
    passed = []
    while path not in _private:
        try:
            status = calls.stat(path)
        except OSError:
            return False
        if status.st_uid not in (calls.geteuid(), 0) or status.st_mode & _OTHERS_WRITE:
            return False
        passed.append(path)
        if len(path) <= len(home):
            break
        path = path.rpartition("/")[0]
    _private.update(passed[1:])  # the first may be a file, which may be replaced
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
