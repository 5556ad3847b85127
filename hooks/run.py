"""Runs one hook and never fails its client: `python3 -I -S run.py EVENT --client NAME`.

The exit code is 0, with one exception: when the guard is broken and the tool may write a memory it is 2, which blocks
the tool. Python compiles this file on every run, so it is short; everything else comes from cached bytecode.
"""

import gc
import sys

if sys.platform == "win32":  # not os: see keepmum_hooks.system
    from nt import _exit
else:
    from posix import _exit, environ, geteuid, lstat, readlink

HERE = __file__[: -len("/run.py")]


def trusted_home() -> str:
    """The home from which bytecode may be loaded; "" where `keepmum_hooks.home`, compiled for that, has to decide.

    It decides the same for a home without links, whose parents belong to this user or root; a test compares the two.
    """
    named = environ.get(b"KEEPMUM_HOME")
    home = (named or environ[b"HOME"] + b"/.keepmum").decode("utf-8", "surrogateescape")
    own = geteuid()
    path = home + "/cache/pycache" + HERE + "/keepmum_hooks"
    ending = "." + str(sys.implementation.cache_tag) + ".pyc"
    names = [path + "/__init__" + ending, path + "/home" + ending]
    while home[:1] == "/" != home[-1:]:
        for name in (*names, path):
            status = lstat(name)
            if status.st_uid != own or status.st_mode & LINK_OR_WRITABLE:
                return ""
        if path == home:
            break
        names, path = [], path.rpartition("/")[0]
    else:
        return ""
    while named:
        for mark in ("/.git", "/.keepmum.toml", "/.hg", "/.jj", "/.svn"):
            try:
                lstat(path + mark)
            except OSError:
                continue
            return ""
        if not path:
            break
        path = path.rpartition("/")[0]
        status = lstat(path or "/")
        if status.st_uid not in (own, 0) or (status.st_mode & LINK_OR_WRITABLE and not status.st_mode & STICKY):
            return ""
    return home


LINK_OR_WRITABLE, STICKY = 0o20022, 0o1000  # by others; of the types of files, links and devices have the first bit
CODE = 2 * (sys.argv[1:2] == ["guard"])
try:
    gc.disable()  # a hook's objects live as long as the process
    if HERE.endswith("/app/current/hooks"):  # all modules and bytecode of one version, whatever an upgrade links
        try:
            VERSION = "" if sys.platform == "win32" else readlink(HERE[: -len("/hooks")])
        except OSError:
            VERSION = ""
        if VERSION and "/" not in VERSION:
            HERE = HERE[: -len("current/hooks")] + VERSION + "/hooks"
    sys.path.insert(0, HERE)
    sys.dont_write_bytecode = True  # never to the plugin's folder: some clients distrust a plugin that changes
    try:
        HOME = ""
        try:
            if sys.platform != "win32":
                HOME = trusted_home()
        except (OSError, KeyError):  # no bytecode yet, or no home
            pass
        if HOME:
            sys.pycache_prefix, sys.dont_write_bytecode = HOME + "/cache/pycache", False
        from keepmum_hooks import home

        ENVIRON = home.begin(HOME)
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
