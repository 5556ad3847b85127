"""Runs one hook and never fails its client: `python3 -I -S run.py EVENT --client NAME`.

Only the guard does, when it is broken and a memory may be about to be written: it exits with 2, which forbids the
tool. A shim only, since Python compiles the file it is started with anew each time. What the packages beside it are
compiled to lies in Keepmum's home: a client may distrust a plugin whose folder changes, so nothing is written there.
"""

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

    from keepmum_hooks.image import Kept

FORMAT = 1  # the same as in keepmum_hooks.image
FLAGS = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")


def _cache() -> str:
    """The folder for what Python makes of our files, "" without a home; names it to the import system.

    Repeats the rule of `keepmum_hooks.places.home`, which cannot be imported before it; a test holds them in step.
    """
    user = ENVIRON.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    home = ENVIRON.get("KEEPMUM_HOME", "") or (user and user + "/.keepmum")
    if home == "~" or home.startswith("~/"):
        home = user + home[1:]
    if not home.startswith("/") and home[1:3] not in (":/", ":\\"):
        sys.dont_write_bytecode = True
        return ""
    try:
        calls.mkdir(home, 0o700)  # the import system would make it for everybody to read
    except FileExistsError:
        pass
    except OSError:  # the folder above lacks: the hook will make both, privately, and the next run has a cache
        sys.dont_write_bytecode = True
    sys.pycache_prefix = home + "/cache/pycache"
    return home + "/cache"


def _kept(path: str) -> "Kept | None":
    """What the image in the file keeps, or None when there is none, or anything speaks against it."""
    try:
        descriptor = calls.open(path, calls.O_RDONLY | sum([getattr(calls, flag, 0) for flag in FLAGS]))
        status = calls.fstat(descriptor)
        is_safe = sys.platform == "win32" or (
            status.st_uid == calls.geteuid() and status.st_mode & 0o170022 == 0o100000
        )
        raw = (calls.read(descriptor, 8), calls.read(descriptor, status.st_size)) if is_safe else (b"", b"")
        calls.close(descriptor)
        if raw[0] != source_hash(FORMAT, raw[1]):
            return None
        kept: Kept = marshal.loads(raw[1])  # noqa: S302 - private, and what we wrote: the same as bytecode
        for _, file, written, size, _, _ in kept[1]:
            status = calls.stat(file)
            if status.st_mtime != written or status.st_size != size:
                return None
    except Exception:  # noqa: BLE001 - whatever is wrong with it, the files beside this one say the same
        return None
    return kept if kept[0] == sys.version else None


def _images(cache: str, here: str) -> "ModuleType":
    """The module `keepmum_hooks.image`, which has made ready what was kept for this run."""
    stage, place = sys.argv[1], source_hash(FORMAT, here.encode("utf-8", "surrogateescape")).hex()

    def path(stage: str) -> str:
        return f"{cache}/images/{stage}-{sys.hexversion:x}-{place}"

    kept = _kept(path(stage))
    if kept:
        image = sys.modules["keepmum_hooks.image"] = type(sys)("keepmum_hooks.image")
        exec(marshal.loads(kept[1][0][-1]), image.__dict__)  # noqa: S102, S302 - the module itself comes first of all
    else:
        from keepmum_hooks import image
    image.begin(stage, kept, path, _kept)
    return image


def _run() -> None:
    here = __file__.replace("\\", "/").rpartition("/")[0]
    sys.path.insert(0, here)
    sys.path.append(here + "/../scanner")
    cache = _cache()
    image = _images(cache, here) if cache and sys.argv[1:] else None
    from keepmum_hooks.main import main

    answer = main(sys.argv[1:], ENVIRON).encode("ascii")
    while answer:
        answer = answer[calls.write(1, answer) :]
    if image:
        image.keep()


CODE = 0
try:
    _run()
except BaseException as error:  # noqa: BLE001 - a broken hook must not stop the user's work; even Ctrl-C ends in peace
    CODE = 2 if sys.argv[1:2] == ["guard"] else 0
    try:
        from last_resort import give_up

        CODE = give_up(error, calls)
    except BaseException:  # noqa: BLE001, S110 - as above
        pass
calls._exit(CODE)  # noqa: SLF001 - public as os._exit; skips the interpreter's tidying up, a tenth of the run; nothing is buffered
