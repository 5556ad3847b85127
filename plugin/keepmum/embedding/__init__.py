"""Embeddings: texts as vectors whose angle says how near they are in meaning.

A search opens one `Background`, asks it for `ready()` at each query, and goes on by words alone while that is None.
"""

from __future__ import annotations

from keepmum.embedding.background import Background
from keepmum.embedding.base import Embedder
from keepmum.embedding.registry import in_background, open_embedder

__all__ = ["Background", "Embedder", "in_background", "open_embedder"]
