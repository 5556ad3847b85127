"""What `run.py` would do, if Python did not compile it anew each time: makes the package ready, and runs one hook.

What Python makes of our files lies in Keepmum's home: a client may distrust a plugin whose folder changes, so nothing
is written there.
"""

import gc
import marshal
import sys
from _imp import source_hash

if sys.platform == "win32":  # not os: see keepmum_hooks.system
    import nt as calls

    ENVIRON = dict(calls.environ)
else:
    import posix as calls

    ENVIRON = {
        name.decode("utf-8", "surrogateescape"): calls.environ[name].decode("utf-8", "surrogateescape")
        for name in calls.environ
    }

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from keepmum_hooks.image import Kept

__all__ = ["run"]

_ROOM = 32 << 20  # bytes, as in plugin/launch.py
_FORMAT = 1  # the same as in keepmum_hooks.image
_FLAGS = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")


def run() -> None:
    """Run the hook that the command line names, and write its answer.

    Raises: whatever goes wrong before there is an answer.
    """
    gc.disable()  # what a hook makes lives as long as it does
    here = __file__.replace("\\", "/").rpartition("/")[0]
    sys.path.append(here + "/../scanner")
    cache = _cache()
    image = _images(cache, here) if cache and sys.argv[1:] else None
    from keepmum_hooks.main import main

    answer = main(sys.argv[1:], ENVIRON).encode("ascii")
    while answer:
        answer = answer[calls.write(1, answer) :]
    if image:
        image.keep()


def _cache() -> str:
    """The folder for what Python makes of our files, "" without a home; names it to the import system.

    Repeats the rule of `keepmum_hooks.places.home`, which cannot be imported before it; a test holds them in step.
    """
    user = ENVIRON.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    home = ENVIRON.get("KEEPMUM_HOME", "") or (user and user + "/.keepmum")
    if home == "~" or home.startswith("~/"):
        home = user + home[1:]
    if not home.startswith("/") and home[1:3] not in (":/", ":\\"):
        return ""
    try:
        calls.mkdir(home, 0o700)  # the import system would make it for everybody to read
    except FileExistsError:
        sys.dont_write_bytecode = not _has_room(home)
    except OSError:  # the folder above lacks: the hook will make both, privately, and the next run has a cache
        pass
    else:
        sys.dont_write_bytecode = not _has_room(home)
    sys.pycache_prefix = home + "/cache/pycache"
    return home + "/cache"


def _has_room(folder: str) -> bool:
    """Whether bytecode fits on the disk; the launcher says why it is asked."""
    try:
        disk = calls.statvfs(folder)
    except (AttributeError, OSError):  # Windows has no such call
        return True
    return disk.f_bavail * disk.f_frsize >= _ROOM


def _images(cache: str, here: str) -> "ModuleType":
    """The module `keepmum_hooks.image`, which has made ready what was kept for this run."""
    stage, place = sys.argv[1], source_hash(_FORMAT, here.encode("utf-8", "surrogateescape")).hex()

    def path(stage: str) -> str:
        return f"{cache}/images/{stage}-{sys.hexversion:x}-{place}"

    kept = _kept(path(stage))
    if kept:
        image = sys.modules["keepmum_hooks.image"] = type(sys)("keepmum_hooks.image")
        exec(marshal.loads(kept[3][-kept[1][0][-1] :]), image.__dict__)  # noqa: S102, S302 - the module itself comes first of all
    else:
        from keepmum_hooks import image

        loader: Any = __spec__.loader
        loader.get_code(__name__)  # writes our own bytecode, for which there was no folder before
    image.begin(stage, kept, path, _kept)
    return image


def _kept(path: str) -> "Kept | None":
    """What the image in the file keeps, or None when there is none, or anything speaks against it."""
    try:
        descriptor = calls.open(path, calls.O_RDONLY | sum([getattr(calls, flag, 0) for flag in _FLAGS]))
        status = calls.fstat(descriptor)
        is_safe = sys.platform == "win32" or (
            status.st_uid == calls.geteuid() and status.st_mode & 0o170022 == 0o100000
        )
        raw = memoryview(calls.read(descriptor, status.st_size) if is_safe else b"")
        calls.close(descriptor)
        if raw[:8] != source_hash(_FORMAT, raw[8:]):
            return None
        kept: Kept = (*marshal.loads(raw[8:]), raw)  # noqa: S302 - private, and what we wrote: the same as bytecode
        for _, file, written, size, _, _ in kept[1]:
            status = calls.stat(file)
            if status.st_mtime != written or status.st_size != size:
                return None
    except Exception:  # noqa: BLE001 - whatever is wrong with it, the files beside this one say the same
        return None
    return kept if kept[0] == sys.version else None
