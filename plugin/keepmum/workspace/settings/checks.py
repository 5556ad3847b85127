"""Checks for texts in settings files and variables; each returns the value as stored.

Each raises ValueError with what is allowed; never with the text, which may be a secret.
"""

from __future__ import annotations

import os
import re

from keepmum.core.errors import InvalidInput
from keepmum.workspace import credentials, routing

__all__ = ["absolute_path", "origin", "origin_of", "pattern", "person", "project_name", "route", "server", "url"]

_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?/?", re.IGNORECASE)
_ORIGINS = "https://host[:port], or http://localhost[:port] for this machine, without user, password or path"
_NAME = re.compile(r"(?! )[^/:*\x00-\x1f\x7f]{1,100}(?<! )")


def project_name(text: str) -> str:
    """A project name, which cannot be mistaken for the id of a repository or folder, or for "all"."""
    if not _NAME.fullmatch(text):
        raise ValueError("a name of 1 to 100 characters without / : *")
    return text


def person(text: str) -> str:
    """The name of a user or an agent."""
    if not 1 <= len(text) <= 100 or not text.isprintable():
        raise ValueError("a name of 1 to 100 printable characters")
    return text


def origin(text: str) -> str:
    """The scheme, host and port of a server; http only for this machine."""
    if not _ORIGIN.fullmatch(text):
        raise ValueError(_ORIGINS)
    normalised = text.rstrip("/").lower()
    if normalised.startswith("http:") and not credentials.is_loopback(normalised):
        raise ValueError(_ORIGINS)
    return normalised


def origin_of(text: str) -> str:
    """The origin of a server that a person entered.

    Raises: InvalidInput with what is allowed; never with the text, which may contain a password.
    """
    try:
        return origin(text.strip())
    except ValueError as allowed:
        raise InvalidInput("URL", f"must be {allowed}") from None


def absolute_path(text: str) -> str:
    """A path that does not depend on the working folder; `~` is expanded."""
    path = os.path.expanduser(text)
    if "\0" in path or not os.path.isabs(path):
        raise ValueError("an absolute path, or one that begins with ~/")
    return os.path.normpath(path)


def url(text: str) -> str:
    """A URL with a path, such as https://host/v1."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
    except ValueError:  # an unbalanced bracket
        parts = urlsplit("")
    if not _ORIGIN.fullmatch(f"{parts.scheme}://{parts.netloc}") or parts.query or parts.fragment:
        raise ValueError("https://host[:port]/path or http://host[:port]/path, without user, password or query")
    return text.rstrip("/")


def route(text: str) -> str:
    """A scope and the store for its new memories, `scope:store`."""
    return ":".join(routing.parse_route(text))


def pattern(text: str) -> str:
    """A pattern for files or tools that does not match all of them."""
    if not text.strip("*/~. ") or len(text) > 1000:
        raise ValueError("patterns of 1 to 1000 characters, which `*` alone is not")
    return text


def server(text: str) -> str:
    """The name of an MCP server as a client's settings spell it."""
    if not any(map(str.isalnum, text)) or len(text) > 200 or "*" in text:
        raise ValueError("names of servers, with a letter or a digit and without `*`")
    return text
