"""A key that a team shares through its repository, for those who ask for it: `--share-key`.

Whoever reads the repository has it, and so has its history for good. It goes into the settings of Claude Code, which
hands its variables to the server that it starts, and it names the one server that it is for. A teammate's machine
sends it there once the user has approved that server, and nowhere else.
"""

from __future__ import annotations

import sys

from keepmum.core.errors import KeepmumError
from keepmum.workspace import credentials, toml_file
from keepmum.workspace.settings import PROJECT_FILE_NAME, origin_of
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.repository import repository
from keepmum_installers.voice import Voice

__all__ = ["CLIENT", "WARNING", "closing", "shared_key"]

CLIENT = "claude-code"
"""The client whose settings carry it."""

WARNING = "the key will stand in .claude/settings.json: whoever reads the repository, or its history, can use it"

_ORIGIN = "backend.origin"
_LONGEST = 8192  # characters of a line that may hold a key


def shared_key(settings: tuple[str, ...], machine: Machine, voice: Voice, *, ask: bool) -> str:
    """What the variable is to hold, with the key from a variable or from standard input; warns before it asks.

    Without `ask`, for a run that only shows what it would do, something stands for the key.

    Raises: InstallError when the repository names no server, or what was given can be no key.
    """
    origin = _origin(settings, machine)
    voice.warn(WARNING)
    try:
        return credentials.shared_value(origin, _key(origin, machine) if ask else "KEY")
    except KeepmumError as error:
        raise InstallError(f"{error}; nothing was done", _HOW) from None


def closing(value: str) -> tuple[str, ...]:
    """What is left to do for others, without the key."""
    origin = value.partition(" ")[0]
    return (
        f"The key for {origin} is shared in Claude Code. There a teammate has to, once:",
        f'  name the server in their own config.toml: backend.approved = ["{origin}"]',
        f"In other clients a teammate stores a key of their own: keepmum login {origin}",
        "To take the key back, withdraw it at the server: the history of the repository keeps it.",
    )


def _origin(settings: tuple[str, ...], machine: Machine) -> str:
    """The server that the repository names, or is about to name."""
    said = dict(each.partition("=")[::2] for each in settings).get(_ORIGIN) or _said_in_file(machine)
    if said is None:
        raise InstallError(
            "--share-key is for the server that the repository names, and it names none; nothing was done",
            f"Add --set {_ORIGIN}=https://… to the command.",
        )
    try:
        return origin_of(said)
    except KeepmumError as error:
        raise InstallError(f"{_ORIGIN}: {error}; nothing was done", "Use https://host, or https://host:port.") from None


def _said_in_file(machine: Machine) -> str | None:
    path = f"{repository(machine)}/{PROJECT_FILE_NAME}"
    try:
        text = toml_file.read_text(path)
        said = toml_file.parse(path, text).values.get(_ORIGIN) if text is not None else None
    except KeepmumError as error:
        raise InstallError(f"{error}; nothing was done", "Mend that, then run this again.") from None
    return said if isinstance(said, str) else None


_HOW = "Give the key on standard input, at the prompt, or in MEMORY_API_KEY; on a command line others could see it."


def _key(origin: str, machine: Machine) -> str:
    """The key: of the user's variables, else of a pipe, else typed without being shown."""
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
