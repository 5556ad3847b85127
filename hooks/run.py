"""Runs one hook and never fails its client: `python3 -I -S run.py EVENT --client NAME`.

The exit code is 0, with one exception: when the guard is broken and the tool may write a memory it is 2, which blocks
the tool. Python compiles this file on every run, so it is short; everything else comes from cached bytecode.
"""

import gc
import sys

if sys.platform == "win32":  # not os: see keepmum_hooks.system
    from nt import _exit
else:
    from posix import _exit, environ, geteuid, lstat

HERE = __file__[: -len("/run.py")]


def trusted_home() -> str:
    """The home from which bytecode may be loaded; "" where `keepmum_hooks.home`, compiled for that, has to decide.

    It decides the same for a home without links, whose parents belong to this user or root; a test compares the two.
    """
    user, named = [environ.get(name, b"").decode("utf-8", "surrogateescape") for name in (b"HOME", b"KEEPMUM_HOME")]
    home = named or user + "/.keepmum"
    own = (geteuid(), 0)
    folder = f"{home}/cache/pycache{HERE}/keepmum_hooks"
    names = [f"{folder}/{name}.{sys.implementation.cache_tag}.pyc" for name in ("__init__", "home")]
    while home[:1] == "/" != home[-1:]:
        above = len(folder) - len(home)  # negative above the home
        for path in [*names, folder or "/"]:
            status = lstat(path)
            mode, owner = status.st_mode, status.st_uid
            if owner not in own[: 1 + (above < 0)] or mode & 0o170000 == 0o120000:
                return ""
            if mode & 0o022 and (above >= 0 or not mode & 0o1000):
                return ""
        if above <= 0 and named:
            for mark in ("git", "keepmum.toml", "hg", "jj", "svn"):
                try:
                    lstat(f"{folder}/.{mark}")
                except OSError:
                    continue
                return ""
        if not folder or (above == 0 and not named):
            return home
        names, folder = [], folder.rpartition("/")[0]
    return ""


CODE = 2 * (sys.argv[1:2] == ["guard"])
try:
    gc.disable()  # a hook's objects live as long as the process
    sys.path.insert(0, HERE)
    sys.dont_write_bytecode = True  # never to the plugin's folder: some clients distrust a plugin that changes
    try:
        HOME = None
        if sys.platform != "win32":
            try:
                HOME = trusted_home()
            except OSError:  # no bytecode yet
                HOME = ""
            if HOME:
                sys.pycache_prefix, sys.dont_write_bytecode = HOME + "/cache/pycache", False
        from keepmum_hooks import home

        ENVIRON = home.environment()
        HOME = HOME or home.find(ENVIRON)
        if HOME:
            home.use_bytecode(HOME)
        from keepmum_hooks.main import run

        run(ENVIRON)
        CODE = 0
    except BaseException as error:  # noqa: BLE001 - a broken hook must not stop the user's work, nor must Ctrl-C
        # The bytecode may be what is broken.
        BYTECODE, sys.pycache_prefix, sys.dont_write_bytecode = sys.pycache_prefix, None, True
        from last_resort import give_up

        CODE = give_up(error, BYTECODE)
finally:
    _exit(CODE)  # public as os._exit; skips interpreter shutdown, a tenth of the run; nothing is buffered
