"""Runs one hook and never fails its client: `python3 -I -S run.py EVENT --client NAME`.

Only the guard does, when it is broken and a memory may be about to be written: it exits with 2, which forbids the
tool. As short as can be, since Python compiles the file it is started with anew each time; see runner.py.
"""

import sys

if sys.platform == "win32":  # not os: see keepmum_hooks.system
    from nt import _exit, environ

    HOME = environ.get("KEEPMUM_HOME") or environ.get("USERPROFILE", "") + "/.keepmum"
else:
    from posix import _exit, environ

    HOME = (environ.get(b"KEEPMUM_HOME") or environ.get(b"HOME", b"") + b"/.keepmum").decode("utf-8", "surrogateescape")

CODE = 2 * (sys.argv[1:2] == ["guard"])
try:
    sys.path.insert(0, __file__[: -len("/run.py")])
    sys.dont_write_bytecode = True  # until runner.py has made a private folder for it
    if HOME[:1] == "/" or HOME[1:2] == ":":
        sys.pycache_prefix = HOME + "/cache/pycache"
    try:
        from runner import run

        run()
        CODE = 0
    except BaseException as error:  # noqa: BLE001 - a broken hook must not stop the user's work; even Ctrl-C ends in peace
        # The bytecode may be what is broken.
        BYTECODE, sys.pycache_prefix, sys.dont_write_bytecode = sys.pycache_prefix, None, True
        from last_resort import give_up

        CODE = give_up(error, BYTECODE)
finally:
    _exit(CODE)  # public as os._exit; skips the interpreter's tidying up, a tenth of the run; nothing is buffered
