"""The `keepmum` command: a shell script in Keepmum's home, and a symbolic link to it in a folder on PATH."""

from __future__ import annotations

import os
import shlex

from keepmum_installers import local_plugin
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Link, Plan, Step, own_file

__all__ = ["TEAM_COMMAND", "hint", "invocation", "plan"]

TEAM_COMMAND = "${userHome}/.keepmum/bin/keepmum"
"""The command in files of a repository for editors: they replace the variable, and their PATH is not that of a shell.

Source: https://cursor.com/docs/context/mcp and https://code.visualstudio.com/docs/reference/variables-reference, read
2026-11-21
"""

_SCRIPT = """\
#!/bin/sh
launch={launch}
if [ ! -f "$launch" ]; then
    printf 'keepmum: its code was removed: %s is missing.\\n' "$launch" >&2
    printf '  next: install it again; the memories are still there.\\n' >&2
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
    steps: list[Step | None] = [own_file(_command(machine), text, "the `keepmum` command", 0o700)]
    if windows:
        batch = _BATCH.format(python=_for_batch(python), launch=_for_batch(launch))
        steps.append(own_file(_command(machine) + ".cmd", batch, "the same for PowerShell and cmd", 0o700))
    else:
        steps.append(_plan_link(machine))  # on Windows few users may create one
    return Plan(tuple(step for step in steps if step))


def invocation(machine: Machine) -> str:
    """What to type to run the command: its name when the shell finds it, else its path."""
    found = machine.find("keepmum")
    own = _command(machine)
    if found and os.path.realpath(found) == os.path.realpath(own):
        return "keepmum"
    return machine.short(own) if shlex.quote(own) == own else shlex.quote(own)


def hint(machine: Machine) -> tuple[str, ...]:
    """What to say when the shell does not find the command, or finds another one; nothing when it finds ours."""
    typed = invocation(machine)
    if typed == "keepmum":
        return ()
    other = machine.find("keepmum")
    says = "is not on your PATH" if other is None else f"on your PATH is another one, {other}"
    return (f"`keepmum` {says}: where the documentation says `keepmum`, type {typed}",)


def _for_batch(path: str) -> str:
    """A path for quotes in a batch file, where a percent sign begins a variable."""
    return path.replace("%", "%%")


def _command(machine: Machine) -> str:
    return os.path.join(machine.home, "bin", "keepmum")


def _plan_link(machine: Machine) -> Link | None:
    """The link in `~/.local/bin`, when that folder is on PATH and the name is free; the folder may be missing."""
    folder = os.path.join(machine.user_home, ".local", "bin")
    path = os.path.join(folder, "keepmum")
    on_path = folder in map(os.path.normpath, filter(None, machine.environ.get("PATH", "").split(os.pathsep)))
    existing = folder
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    usable = os.path.isdir(existing) and os.access(existing, os.W_OK)
    if not on_path or not usable or os.path.lexists(path):
        return None
    return Link(path, _command(machine), "so that the shell finds it")
