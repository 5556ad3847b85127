"""The `keepmum` command: a shell script in Keepmum's home, and a symbolic link to it in a folder on PATH."""

from __future__ import annotations

import os
import shlex

from keepmum_installers import local_plugin
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Link, Plan, Step, own_file

__all__ = ["invocation", "plan"]


_SCRIPT = """\
#!/bin/sh
launch={launch}
if [ ! -f "$launch" ]; then
    printf 'keepmum: it was installed from a folder that was removed: %s is missing.\\n' "$launch" >&2
    printf '  next: run `sh installers/install.sh` in another clone; the memories are still there.\\n' >&2
    exit 1
fi
case ${{1:-}} in hook) # without the launcher, since a client waits for it
    shift
    exec {python} -I -S {hooks} "$@" ;;
esac
exec {python} -I -S "$launch" "$@"
"""


# For PowerShell and cmd, which find it under the same name; the shell of Git for Windows runs the script above.
_BATCH = '@"{python}" -I -S "{launch}" %*\r\n'


def plan(root: str, machine: Machine, *, windows: bool = os.name == "nt") -> Plan:
    """The steps that create the command; none when it exists and starts this bundle."""
    launch = os.path.join(root, "plugin", "launch.py")
    python = local_plugin.interpreter()
    hooks = os.path.join(root, "hooks", "run.py")
    text = _SCRIPT.format(python=shlex.quote(python), launch=shlex.quote(launch), hooks=shlex.quote(hooks))
    steps: list[Step | None] = [own_file(_command(machine), text, "the `keepmum` command", 0o755)]
    if windows:
        batch = _BATCH.format(python=_for_batch(python), launch=_for_batch(launch))
        steps.append(own_file(_command(machine) + ".cmd", batch, "the same for PowerShell and cmd", 0o755))
    else:
        steps.append(_plan_link(machine))  # on Windows few users may create one
    return Plan(tuple(step for step in steps if step))


def invocation(machine: Machine) -> str:
    """What to type to run the command: its name when the shell finds it, else its path."""
    found = machine.find("keepmum")
    own = _command(machine)
    return "keepmum" if found and os.path.realpath(found) == os.path.realpath(own) else shlex.quote(own)


def _for_batch(path: str) -> str:
    """A path for quotes in a batch file, where a percent sign begins a variable."""
    return path.replace("%", "%%")


def _command(machine: Machine) -> str:
    return os.path.join(machine.home, "bin", "keepmum")


def _plan_link(machine: Machine) -> Link | None:
    """The link in `~/.local/bin`, when that folder is on PATH and the name is free."""
    folder = os.path.join(machine.user_home, ".local", "bin")
    path = os.path.join(folder, "keepmum")
    on_path = folder in machine.environ.get("PATH", "").split(os.pathsep)
    if not on_path or not os.access(folder, os.W_OK) or os.path.lexists(path):
        return None
    return Link(path, _command(machine), "so that the shell finds it")
