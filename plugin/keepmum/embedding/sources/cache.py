"""What other programs of this user have fetched from the hub already."""

from __future__ import annotations

import os

from keepmum.core.errors import EmbeddingError
from keepmum.embedding.local_model import LocalModel
from keepmum.embedding.sources import folder
from keepmum.embedding.sources.progress import Progress

__all__ = ["fetch"]


def fetch(model: LocalModel, _into: str, _progress: Progress) -> str:
    """The folder of the hub's cache that holds the files.

    Raises: EmbeddingError when there is none.
    """
    found = folder.find(os.path.join(_cache(), f"models--{model.publisher}--{model.name}"), model.published)
    if found is None:
        raise EmbeddingError("no other program of yours has fetched it")
    return found


def _cache() -> str:
    """Source: https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables, read 2026-11-21."""
    home = os.environ.get("HF_HOME") or os.path.join(os.path.expanduser("~"), ".cache", "huggingface")
    return os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")
