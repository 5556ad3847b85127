"""The memories of a repository as Markdown files in it, which git carries to everyone who works there."""

from __future__ import annotations

from keepmum.stores.markdown.elsewhere import Elsewhere
from keepmum.stores.markdown.registry import Registry, registry_of
from keepmum.stores.markdown.store import FOLDER, MarkdownStore, open_store

__all__ = ["FOLDER", "Elsewhere", "MarkdownStore", "Registry", "open_store", "registry_of"]
