"""A key that a team shares through its repository: `--share-key`.

Everyone who can read the repository has the key, and its history keeps it. It is stored in the settings of Claude Code,
which passes its variables to the server that it starts, and it names the only server that it is for. A teammate's
machine sends it only to that server, after the user has approved it.
"""

from __future__ import annotations

import sys

from keepmum.core.errors import KeepmumError
from keepmum.workspace import credentials, toml_file
from keepmum.workspace.settings import PROJECT_FILE_NAME, origin_of
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine

__all__ = ["CLIENT", "WARNING", "closing", "shared_key"]

CLIENT = "claude-code"
"""The client whose settings contain the key."""

WARNING = "the key will be in .claude/settings.json: everyone who can read the repository, or its history, can use it"

_ORIGIN = "backend.origin"
_LONGEST = 8192  # characters of a line with a key


def shared_key(settings: tuple[str, ...], machine: Machine, console: Console, *, ask: bool) -> str:
    """The value of the variable, with the key from another variable or standard input; warns before it asks.

    Without `ask`, for a dry run, the value has a placeholder.

    Raises: InstallError when the repository names no server, or the input is not a valid key.
    """
    origin = _origin(settings, machine)
    console.warn(WARNING)
    try:
        return credentials.shared_value(origin, _key(origin, machine) if ask else "KEY")
    except KeepmumError as error:
        raise InstallError(f"{error}; nothing was done", _HOW) from None


def closing(value: str) -> tuple[str, ...]:
    """The remaining steps for teammates, without the key."""
    origin = value.partition(" ")[0]
    return (
        f"The key for {origin} is shared in Claude Code. There each teammate has to, once:",
        f'  name the server in their own config.toml: backend.approved = ["{origin}"]',
        f"In other clients each teammate stores their own key: keepmum login {origin}",
        "To revoke the key, do so at the server: the history of the repository keeps it.",
    )


def _origin(settings: tuple[str, ...], machine: Machine) -> str:
    """The server that the repository names, or is about to name."""
    origin = dict(each.partition("=")[::2] for each in settings).get(_ORIGIN) or _origin_in_file(machine)
    if origin is None:
        raise InstallError(
            "--share-key is for the server that the repository names, and it names none; nothing was done",
            f"Add --set {_ORIGIN}=https://… to the command.",
        )
    try:
        return origin_of(origin)
    except KeepmumError as error:
        raise InstallError(f"{_ORIGIN}: {error}; nothing was done", "Use https://host, or https://host:port.") from None


def _origin_in_file(machine: Machine) -> str | None:
    path = f"{machine.repository}/{PROJECT_FILE_NAME}"
    try:
        text = toml_file.read_text(path)
        origin = toml_file.parse(path, text).values.get(_ORIGIN) if text is not None else None
    except KeepmumError as error:
        raise InstallError(f"{error}; nothing was done", "Fix that, then run this again.") from None
    return origin if isinstance(origin, str) else None


_HOW = "Give the key on standard input, at the prompt, or in MEMORY_API_KEY; on a command line others could see it."


def _key(origin: str, machine: Machine) -> str:
    """The key from the user's variables, else from a pipe, else typed without echo."""
    for variable in credentials.VARIABLES:
        if secret := machine.environ.get(variable, "").strip():
            return secret
    if not sys.stdin.isatty():
        return sys.stdin.readline(_LONGEST).strip()
    import getpass

    try:
        return getpass.getpass(f"Key for {origin} (it is not shown): ").strip()
    except EOFError:
        return ""
