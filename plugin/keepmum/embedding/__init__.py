"""Embeddings: texts as vectors; the cosine of two vectors is the similarity of their texts.

A search opens one `BackgroundEmbedder` and calls `ready()` for each query; while that is None, search is lexical only.
"""

from __future__ import annotations

from keepmum.embedding.background import BackgroundEmbedder
from keepmum.embedding.base import Embedder
from keepmum.embedding.registry import in_background, open_embedder

__all__ = ["BackgroundEmbedder", "Embedder", "in_background", "open_embedder"]
