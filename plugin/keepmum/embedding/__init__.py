"""Embeddings: texts as vectors; the cosine of two vectors measures how similar their texts are.

A new embedder is one module and one line in `EMBEDDERS`. A search opens one `BackgroundEmbedder` and calls `ready()`
for each query; while that returns None, search is lexical.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keepmum.core.calibration import Calibration
from keepmum.core.errors import ModelMissing
from keepmum.embedding.background import BackgroundEmbedder
from keepmum.embedding.base import Embedder
from keepmum.embedding.local_model import MINILM
from keepmum.workspace.settings import Settings

__all__ = ["EMBEDDERS", "BackgroundEmbedder", "Embedder", "calibrate", "in_background", "open_embedder"]


def open_embedder(chosen: Settings, environ: Mapping[str, str]) -> Embedder:
    """The embedder that the settings choose; loading it takes up to some hundred milliseconds.

    Raises: EmbeddingError when it cannot be opened. There is no fallback, since another model's vectors differ.
    """
    return EMBEDDERS[chosen.embedding.provider](chosen, environ)


def in_background(chosen: Settings, environ: Mapping[str, str]) -> BackgroundEmbedder | None:
    """The same, to be opened in a background thread; None when the provider is "none"."""
    provider = chosen.embedding.provider
    if provider == "none":
        return None
    return BackgroundEmbedder(
        lambda: open_embedder(chosen, environ),
        calibrate=lambda embedder: calibrate(embedder, chosen.home),
        remote=provider in _REMOTE,
    )


def calibrate(embedder: Embedder, home: str | None) -> Calibration:
    """What was measured of a model; it is measured now, in up to some seconds, when `home` has no figure of it.

    Raises: EmbeddingError.
    """
    from keepmum.embedding import calibration  # rarely needed before the first search

    return calibration.calibrate(embedder, home)


def _local(chosen: Settings, _: Mapping[str, str]) -> Embedder:
    from keepmum.embedding.minilm import MiniLm

    if chosen.home is None:
        raise ModelMissing("there is no folder for a model: set HOME, or KEEPMUM_HOME, to a full path")
    return MiniLm.open(MINILM.folder(chosen.home))


def _openai_compatible(chosen: Settings, environ: Mapping[str, str]) -> Embedder:
    from keepmum.embedding.openai_compatible import open_server

    return open_server(chosen, environ)


EMBEDDERS: Mapping[str, Callable[[Settings, Mapping[str, str]], Embedder]] = {  # by provider
    "local": _local,
    "openai-compatible": _openai_compatible,
}
_REMOTE = frozenset({"openai-compatible"})  # providers behind a network
