"""The hub's cache folder, where other programs of this user may have downloaded the files."""

from __future__ import annotations

import os

from keepmum.core.errors import EmbeddingError
from keepmum.embedding.local_model import LocalModel, StepProgress
from keepmum.embedding.sources import folder

__all__ = ["fetch"]


def fetch(model: LocalModel, _work: str, _progress: StepProgress) -> str:
    """The folder in the hub's cache that holds the files.

    Raises: EmbeddingError when the cache does not hold them.
    """
    found = folder.find(os.path.join(_cache(), f"models--{model.publisher}--{model.name}"), model.published)
    if found is None:
        raise EmbeddingError("no other program has downloaded it")
    return found


def _cache() -> str:
    """Source: https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables, read 2026-11-21."""
    home = os.environ.get("HF_HOME") or os.path.join(os.path.expanduser("~"), ".cache", "huggingface")
    return os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")
