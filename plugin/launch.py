"""Start Keepmum with the best interpreter there is: `python3 plugin/launch.py mcp --client NAME`, or any command.

Runs on every Python from 3.9 (macOS starts clients with that one) and needs no package: it finds the runtime that the
installer made, or goes on with the interpreter it has when that is new enough, or says in one line what to do.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MINIMUM = (3, 11)
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
_STARTED = "keepmum_runtime"  # the option by which the runtime's interpreter knows that it was started from here


def main() -> int:
    """Exit status of the command, or of the better interpreter that ran it."""
    home = _home()
    if home:
        try:  # noqa: SIM105 - contextlib would be imported for this line alone
            os.makedirs(home, 0o700, exist_ok=True)  # the import system would make it for everybody to read
        except OSError:
            pass
        sys.pycache_prefix = os.path.join(home, "cache", "pycache")
        from keepmum_hooks.system import has_room_for_bytecode

        sys.dont_write_bytecode = not has_room_for_bytecode(home)
    runtime = _runtime(home) if home else None
    if runtime and not _is_this(runtime):
        try:
            return _run(runtime)
        except OSError:
            runtime = None  # damaged, or for another processor: this interpreter may do as well
    if sys.version_info < MINIMUM:
        found = ".".join(str(part) for part in sys.version_info[:2])
        sys.stderr.write(
            f"keepmum: needs Python {MINIMUM[0]}.{MINIMUM[1]} or newer, this is {found} ({sys.executable}). "
            f"Install a newer one, then run: sh {os.path.join(ROOT, 'installers', 'install.sh')}\n"
        )
        return 1
    if runtime:
        sys.path.append(_packages(runtime))
    try:
        command = _command()
    except EOFError:  # half a file of bytecode, from a disk that was full
        _drop_bytecode()
        command = _command()
    return command()


def _command() -> "Callable[[], int]":
    """What the command line asks for, imported and ready to run; the server and the guard import nothing besides."""
    if sys.argv[1:2] == ["mcp"]:
        from keepmum.mcp import serve

        return lambda: serve.main(sys.argv[2:])
    if sys.argv[1:2] == ["guard"]:
        from keepmum.guard import main as guard

        if guard.is_proxy(sys.argv[2:]):
            return lambda: guard.main(sys.argv[2:])
    from keepmum.cli import main as cli

    return lambda: cli.main(sys.argv[1:])


def _drop_bytecode() -> None:
    """Remove the cache of bytecode, and go on without it: the next start makes it anew."""
    folder, sys.pycache_prefix, sys.dont_write_bytecode = sys.pycache_prefix, None, True
    import shutil

    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _home() -> "str | None":
    """Where state lies.

    The folder of a plugin must stay as it was installed, since some clients distrust one that changes: bytecode is
    cached in our home or not at all, so that this one module is compiled each time.
    """
    sys.dont_write_bytecode = True
    from keepmum_hooks import places

    return places.home()


def _runtime(home: str) -> "str | None":
    """The interpreter of the installed runtime."""
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    path = os.path.join(home, "runtime", folder, name)
    return path if os.access(path, os.X_OK) else None


def _is_this(runtime: str) -> bool:
    """Whether the runtime runs this already, or is this interpreter with more packages: a second start gains nothing.

    The option says so for certain. On Windows a runtime's interpreter is a copy, and no path would tell.
    """
    started = _STARTED in sys._xoptions  # noqa: SLF001 - documented under this name, and there is no other
    return started or os.path.realpath(runtime) == os.path.realpath(sys.executable)


def _packages(runtime: str) -> str:
    """Where the runtime keeps its packages, for the features that need one."""
    version = ("Lib",) if os.name == "nt" else ("lib", "python{}.{}".format(*sys.version_info[:2]))
    return os.path.join(os.path.dirname(os.path.dirname(runtime)), *version, "site-packages")


def _run(runtime: str) -> int:
    """Run this very command with another interpreter; on Windows as a child, since exec there ends the process.

    Raises: OSError when that interpreter cannot be started.
    """
    command = [runtime, "-I", "-S", "-X", _STARTED, os.path.abspath(__file__), *sys.argv[1:]]
    if os.name != "nt":
        os.execv(runtime, command)  # noqa: S606 - no shell is wanted
    import subprocess

    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    # `-I` keeps the user's environment and working folder from planting modules; our own four roots are put first.
    sys.path[:0] = [os.path.join(ROOT, name) for name in ("plugin", "scanner", "hooks", "installers")]
    sys.exit(main())
