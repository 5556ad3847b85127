"""Where the code of each version is, and which one clients run.

    <home>/app/0.1.0      the code of one version, complete from the moment it has this name, and never changed
    <home>/app/current    a link to the version that clients run
    <home>/app/previous   a link to the one before, for `keepmum upgrade --back`
    <home>/app/origin     the address that the code came from, where that is not the public one

Clients, hooks and the `keepmum` command name `current`, so that an upgrade is one atomic replacement of a link.
"""

from __future__ import annotations

import os
import re

from keepmum_installers import files
from keepmum_installers.errors import InstallError

__all__ = [
    "current",
    "folder",
    "folder_name",
    "for_clients",
    "is_link",
    "is_numbered",
    "is_version",
    "origin",
    "previous",
    "set_link",
    "sort_key",
    "target",
    "version_of",
    "versions",
]

_APP, _CURRENT, _PREVIOUS = "app", "current", "previous"
_VERSION = re.compile(r"\d[0-9A-Za-z.]*(\+[0-9a-f]+)?")
_NUMBERS = re.compile(r"(\d+\.\d+\.\d+)(?:(a|b|rc)(\d+))?")


def folder(home: str) -> str:
    """The folder of all versions."""
    return os.path.join(home, _APP)


def current(home: str) -> str:
    """The link that clients use."""
    return os.path.join(home, _APP, _CURRENT)


def previous(home: str) -> str:
    """The link to the version that was current before."""
    return os.path.join(home, _APP, _PREVIOUS)


def origin(home: str) -> str:
    """The file with the address that upgrades come from; there is none for the public one."""
    return os.path.join(home, _APP, "origin")


def is_link(root: str) -> bool:
    """Whether a path has the form of `current`."""
    return root.replace(os.sep, "/").endswith(f"/{_APP}/{_CURRENT}")


def target(link: str) -> str | None:
    """The folder that a link names; None when there is no link, or its folder is missing."""
    if not os.path.isdir(link) or not (os.path.islink(link) or _is_junction(link)):
        return None
    return os.path.realpath(link)


def for_clients(root: str, home: str) -> str:
    """The path under which clients run the bundle at root: `current` for a version in the home, else root itself."""
    inside = os.path.realpath(root) != os.path.realpath(folder(home)) and files.lies_in(root, folder(home))
    return current(home) if inside else root


def folder_name(version: str, digest: str = "") -> str:
    """The name of a version's folder; with a digest for other code of the same version, such as a newer clone's."""
    return f"{version}+{digest[:8]}" if digest else version


def is_version(text: str) -> bool:
    """Whether a text can be the name of a version's folder."""
    return _VERSION.fullmatch(text) is not None


def version_of(path: str) -> str:
    """The version in the name of a folder."""
    return os.path.basename(path).partition("+")[0]


def is_numbered(text: str) -> bool:
    """Whether a text is the version of a release or pre-release, such as 0.2.0 or 0.2.0rc1."""
    return _NUMBERS.fullmatch(text) is not None


def sort_key(version: str) -> tuple[int | str, ...]:
    """A key that sorts versions: a pre-release before its release, and other texts before all versions."""
    found = _NUMBERS.fullmatch(version)
    if found is None:
        return (-1,)
    return (*map(int, found[1].split(".")), found[2] or "z", int(found[3] or 0))


def versions(home: str) -> list[str]:
    """The folders of complete versions, sorted by name."""
    try:
        found = sorted(os.listdir(folder(home)))
    except OSError:
        return []
    return [os.path.join(folder(home), each) for each in found if is_version(each)]


def set_link(link: str, path: str) -> None:
    """Point the link at a folder next to it, atomically; on Windows, which cannot replace a link, with a short gap.

    Raises: InstallError when the link cannot be written.
    """
    unfinished = f"{link}.{os.getpid()}-{os.urandom(4).hex()}.part"
    try:
        if os.name == "nt":
            _junction(path, unfinished)
            if os.path.isdir(link):
                os.rmdir(link)
        else:
            os.symlink(os.path.basename(path), unfinished)  # relative: the home can be moved
        os.replace(unfinished, link)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InstallError(f"could not link {link}: {reason}", "Check its permissions and the free space.") from None


def _junction(path: str, link: str) -> None:
    """A link to a folder that needs no administrator rights."""
    import _winapi

    _winapi.CreateJunction(path, link)  # type: ignore[attr-defined,unused-ignore]  # on Windows only


def _is_junction(path: str) -> bool:
    return os.name == "nt" and os.path.realpath(path) != os.path.abspath(path)
