"""Starts Keepmum with the best available interpreter: `python3 plugin/launch.py mcp --client NAME`, or any command.

Runs on Python 3.9 and newer (3.9 is what macOS has) and needs no package: it uses the runtime that the installer
created, or the current interpreter if that is new enough; otherwise it says in one line what to do.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MINIMUM = (3, 11)
HERE = os.path.dirname(os.path.realpath(__file__))  # of one version, whatever an upgrade links from now on
ROOT = os.path.dirname(HERE)
_STARTED = "keepmum_runtime"  # the -X option that marks an interpreter started by this file


def main() -> int:
    """The exit status of the command, run by this or by a better interpreter."""
    # The plugin's folder must not change, since some clients distrust a plugin that does: bytecode is cached in
    # Keepmum's home or not at all. So these two modules are compiled at each start.
    sys.dont_write_bytecode = True
    from keepmum_hooks import home as state

    home = state.find(os.environ)
    if home:
        if os.environ.get("KEEPMUM_HOME"):  # children use the same folder, and warn no second time
            os.environ["KEEPMUM_HOME"] = home
        try:  # noqa: SIM105 - contextlib would be imported for this line only
            os.makedirs(home, 0o700, exist_ok=True)  # the import system would make it readable by everyone
        except OSError:
            pass
        state.use_bytecode(home)
    runtime = _runtime(home) if home else None
    if runtime and not _is_this(runtime):
        try:
            return _run(runtime)
        except OSError:
            runtime = None  # damaged, or for another processor; this interpreter may be able to run the command
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
    except EOFError:  # a truncated bytecode file, from a full disk
        _drop_bytecode()
        command = _command()
    return command()


def _command() -> "Callable[[], int]":
    """The command, imported and ready to run; for the server and the guard nothing else is imported."""
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
    """Delete the bytecode cache and continue without it; the next start writes it again."""
    folder, sys.pycache_prefix, sys.dont_write_bytecode = sys.pycache_prefix, None, True
    import shutil

    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _runtime(home: str) -> "str | None":
    """The interpreter of the installed runtime; None when there is none, or another user could have changed it."""
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    path = os.path.join(home, "runtime", folder, name)
    if not os.access(path, os.X_OK):
        return None
    folder = os.path.join(home, "runtime")
    if all(_is_trusted(one, home) for one in (path, _packages(path), os.path.join(folder, "pyvenv.cfg"))):
        return path
    sys.stderr.write(
        f"keepmum: {folder} is not used, since another user could have changed it. Remove it and install again.\n"
    )
    return None


def _is_trusted(path: str, home: str) -> bool:
    """Whether only this user and root can change the file and the folders that lead to it; True when it is missing."""
    from keepmum_hooks import home as state

    if os.name == "nt" or not os.path.exists(path):
        return True
    real, passed = state.follow(path)
    owners = (os.geteuid(), os.stat("/").st_uid)
    for folder in passed:
        status = os.stat(folder)
        # Where interpreters are installed, a group may be the user's own; the sticky bit protects entries of others.
        if status.st_uid not in owners or status.st_mode & 0o1002 == 0o0002 or (folder == real and status.st_mode & 2):
            return False
    is_link = real != os.path.join(state.follow(os.path.dirname(path))[0], os.path.basename(path))
    return state.is_private(os.path.dirname(path) if is_link else path, home)


def _is_this(runtime: str) -> bool:
    """Whether this process is the runtime, or the runtime is the same interpreter with more packages.

    The option is needed on Windows, where the runtime's interpreter is a copy with a path of its own.
    """
    started = _STARTED in sys._xoptions  # noqa: SLF001 - documented under this name
    return started or os.path.realpath(runtime) == os.path.realpath(sys.executable)


def _packages(runtime: str) -> str:
    """The folder of the runtime's packages, for features that need one."""
    version = ("Lib",) if os.name == "nt" else ("lib", "python{}.{}".format(*sys.version_info[:2]))
    return os.path.join(os.path.dirname(os.path.dirname(runtime)), *version, "site-packages")


def _run(runtime: str) -> int:
    """Run this command with another interpreter; on Windows as a child, since exec ends the process there.

    Raises: OSError when that interpreter cannot be started.
    """
    command = [runtime, "-I", "-S", "-X", _STARTED, os.path.join(HERE, "launch.py"), *sys.argv[1:]]
    if os.name != "nt":
        os.execv(runtime, command)  # noqa: S606 - without a shell
    import subprocess

    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    # `-I` excludes modules from the user's environment and working folder; our four source roots come first.
    sys.path[:0] = [os.path.join(ROOT, name) for name in ("plugin", "scanner", "hooks", "installers")]
    sys.exit(main())
