"""Runs one hook and never fails its client: `python3 -I -S run.py EVENT --client NAME`.

A shim only, since Python compiles the file it is started with anew each time. The package beside it is cached in
Keepmum's home: a client may distrust a plugin whose folder changes, so no bytecode is ever written there.
"""

import sys

if sys.platform == "win32":  # not os: see keepmum_hooks.system
    import nt as calls

    ENVIRON = dict(calls.environ)
else:
    import posix as calls

    ENVIRON = {
        name.decode("utf-8", "surrogateescape"): calls.environ[name].decode("utf-8", "surrogateescape")
        for name in calls.environ
    }


def _keep_bytecode_out_of_the_plugin() -> None:
    """Name the bytecode cache, or have none without a home.

    Repeats the rule of `keepmum_hooks.places.home`, which cannot be imported before it; a test holds them in step.
    """
    user = ENVIRON.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    home = ENVIRON.get("KEEPMUM_HOME", "") or (user and user + "/.keepmum")
    if home == "~" or home.startswith("~/"):
        home = user + home[1:]
    if home.startswith("/") or home[1:3] in (":/", ":\\"):
        try:
            calls.mkdir(home, 0o700)  # the import system would make it for everybody to read
        except FileExistsError:
            pass
        except OSError:  # the folder above lacks: the hook will make both, privately, and the next run has a cache
            sys.dont_write_bytecode = True
        sys.pycache_prefix = home + "/cache/pycache"
    else:
        sys.dont_write_bytecode = True


def _run() -> None:
    here = __file__.replace("\\", "/").rpartition("/")[0]
    sys.path.insert(0, here)
    sys.path.append(here + "/../scanner")
    from keepmum_hooks.main import main

    answer = main(sys.argv[1:], ENVIRON).encode("ascii")
    while answer:
        answer = answer[calls.write(1, answer) :]


try:
    _keep_bytecode_out_of_the_plugin()
    _run()
except BaseException as error:  # noqa: BLE001 - a broken hook must not stop the user's work; even Ctrl-C ends in peace
    try:  # noqa: SIM105 - as above
        calls.write(2, f"keepmum: a hook gave up ({type(error).__name__})\n".encode())
    except OSError:
        pass
calls._exit(0)  # noqa: SLF001 - public as os._exit; skips the interpreter's tidying up, a tenth of the run; nothing is buffered
