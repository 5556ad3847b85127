"""The source of the plugin: a folder, a repository on GitHub, or a git address."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from keepmum_installers.errors import InstallError

__all__ = ["Source", "parse_source"]

_OWNER_AND_NAME = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")
_SSH = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s]+")


@dataclass(frozen=True, slots=True)
class Source:
    """A source that a client can install the plugin from."""

    kind: Literal["directory", "github", "git"]
    where: str


def parse_source(text: str, cwd: str) -> Source:
    """The source that the user named.

    Raises: InstallError when text is not a source, or has a password: that would be written into settings files.
    """
    path = os.path.join(cwd, os.path.expanduser(text))
    if os.path.isdir(path):
        return _folder(path)
    if _OWNER_AND_NAME.fullmatch(text) and not text.startswith("."):
        return Source("github", text)
    if _SSH.fullmatch(text):
        return Source("git", text)
    address = _address(text)
    if address is None:
        raise InstallError(
            "--source is neither a folder that exists, nor owner/repository, nor a git address",
            "Use for example --source . or --source https://host/team/keepmum.git",
        )
    if address.query or address.fragment:
        raise InstallError(
            "--source has a query or a fragment, which often contain keys; nothing was done",
            "Give the address up to the ? or #.",
        )
    if address.password or (address.username and address.scheme != "ssh"):
        raise InstallError(
            "--source contains a user name or a password, which would be written into settings files; nothing was done",
            "Give the address without it, and let git's credential helper sign you in.",
        )
    name = address.path.strip("/").removesuffix(".git")
    if address.hostname == "github.com" and _OWNER_AND_NAME.fullmatch(name):
        return Source("github", name)
    return Source("git", text)


def _folder(path: str) -> Source:
    if not os.path.isfile(os.path.join(path, ".claude-plugin", "marketplace.json")):
        raise InstallError(f"the folder {path} has no Keepmum", "Give --source the folder of a clone of Keepmum.")
    return Source("directory", os.path.realpath(path))


def _address(text: str) -> SplitResult | None:
    """The parts of a git address; None when text is not one."""
    try:
        address = urlsplit(text)
    except ValueError:  # an incomplete IPv6 address
        return None
    return address if address.scheme in {"https", "http", "ssh"} and address.hostname else None
