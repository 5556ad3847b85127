"""Memories of a repository as Markdown files in it, which git brings to everyone who works there."""

from __future__ import annotations

from keepmum.stores.markdown.other_projects import OtherProjects
from keepmum.stores.markdown.registry import Registry, registry_of
from keepmum.stores.markdown.store import FOLDER, MarkdownStore

__all__ = ["FOLDER", "MarkdownStore", "OtherProjects", "Registry", "registry_of"]
