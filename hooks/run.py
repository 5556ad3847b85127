"""Runs one hook and never fails its client: `python3 -I -S run.py EVENT --client NAME`.

The exit code is 0, with one exception: when the guard is broken and the tool may write a memory it is 2, which blocks
the tool. Python compiles this file on every run, so it is short; everything else comes from cached bytecode.
"""

import gc
import sys

if sys.platform == "win32":  # not os: see keepmum_hooks.system
    from nt import _exit, environ
    from nt import stat as has_room

    USER, HOME = environ.get("USERPROFILE", ""), environ.get("KEEPMUM_HOME", "")
else:
    from posix import _exit, environ, statvfs

    USER, HOME = [environ.get(name, b"").decode("utf-8", "surrogateescape") for name in (b"HOME", b"KEEPMUM_HOME")]

    def has_room(folder: str) -> bool:
        """Whether the folder exists and has room for bytecode, as in keepmum_hooks.system."""
        disk = statvfs(folder)
        return disk.f_bavail * disk.f_frsize >= 32 << 20


CODE = 2 * (sys.argv[1:2] == ["guard"])
try:
    gc.disable()  # a hook's objects live as long as the process
    sys.path.insert(0, __file__[: -len("/run.py")])
    sys.dont_write_bytecode = True  # never to the plugin's folder: some clients distrust a plugin that changes
    # Repeats keepmum_hooks.places.home, which has to be found in this cache; a test keeps the two in step.
    HOME = HOME or "~/.keepmum"
    if HOME[:2] in ("~", "~/"):
        HOME = USER + HOME[1:]
    if HOME[1:2] == ":" if sys.platform == "win32" else HOME[:1] == "/":
        sys.pycache_prefix = HOME + "/cache/pycache"
        try:  # noqa: SIM105 - importing contextlib takes longer than all of this
            sys.dont_write_bytecode = not has_room(HOME)
        except OSError:
            pass  # no home yet: the hook creates it, private, and the next run writes bytecode
    try:
        from keepmum_hooks.main import run

        run()
        CODE = 0
    except BaseException as error:  # noqa: BLE001 - a broken hook must not stop the user's work, nor must Ctrl-C
        # The bytecode may be what is broken.
        BYTECODE, sys.pycache_prefix, sys.dont_write_bytecode = sys.pycache_prefix, None, True
        from last_resort import give_up

        CODE = give_up(error, BYTECODE)
finally:
    _exit(CODE)  # public as os._exit; skips interpreter shutdown, a tenth of the run; nothing is buffered
