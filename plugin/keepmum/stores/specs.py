"""How to open a store: one frozen value per kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.core.memory import Scope
    from keepmum.workspace.credentials import Server

__all__ = ["CompositeSpec", "MarkdownSpec", "RestSpec", "SqliteSpec", "StoreSpec", "registry_path"]


class SqliteSpec(NamedTuple):
    """One SQLite file."""

    path: str
    backed_up: bool = False  # whether backups are made after writes too, not only in the daily upkeep


class RestSpec(NamedTuple):
    """A memory server, with a mirror on this machine."""

    server: Server
    mirror: SqliteSpec
    home: str  # folder of the outbox
    drains: bool = False  # whether queued writes are sent in the background
    trailer: bool = False  # whether fields that the first API cannot hold are appended to the text
    projects: Mapping[str, str] = MappingProxyType({})  # project id to the name that the server knows
    approved: bool = False  # whether the user chose this server; what others say is from outside


class MarkdownSpec(NamedTuple):
    """The Markdown files of one repository."""

    root: str  # empty when the session is in no project's folder
    cache: str  # folder of the index
    project: str  # the project of memories whose file names none
    user_home: str  # has the registry of all repositories
    project_of: Callable[[str, str], str] = lambda _, name: name  # project id of another repository, by root and name
    registered_only: bool = False  # whether files are read only of repositories in the registry


class CompositeSpec(NamedTuple):
    """Several stores in one."""

    stores: Mapping[str, SqliteSpec | RestSpec]  # the first keeps whatever belongs to no memory
    routes: Mapping[Scope, str]  # the store of new memories by scope; the first store for scopes that are not listed
    markdown: MarkdownSpec | None = None  # opened again when the session moves to another folder


def registry_path(user_home: str) -> str:
    """The file that lists the repositories with memories in files; Koi's, so that both see the same ones."""
    return os.path.join(user_home, ".koi", "registry.json")


StoreSpec = SqliteSpec | RestSpec | MarkdownSpec | CompositeSpec
