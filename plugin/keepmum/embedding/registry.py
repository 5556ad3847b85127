"""The embedders, by the name of their provider. A new one is one module and one line here."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from keepmum.core.errors import ModelMissing
from keepmum.embedding.background import BackgroundEmbedder
from keepmum.embedding.base import Embedder
from keepmum.embedding.local_model import MINILM
from keepmum.workspace.settings import Settings

__all__ = ["EMBEDDERS", "in_background", "open_embedder"]

_Opener = Callable[[Settings, Mapping[str, str]], Embedder]


def open_embedder(chosen: Settings, environ: Mapping[str, str]) -> Embedder:
    """The embedder that the settings name; takes a while.

    Raises: EmbeddingError when it cannot be had; nothing else is opened in its place, since its vectors would differ.
    """
    return EMBEDDERS[chosen.embedding.provider](chosen, environ)


def in_background(chosen: Settings, environ: Mapping[str, str]) -> BackgroundEmbedder | None:
    """The same, to be opened beside the work; None where the settings want none."""
    if chosen.embedding.provider == _NONE:
        return None
    return BackgroundEmbedder(lambda: open_embedder(chosen, environ), remote=chosen.embedding.provider in _REMOTE)


def _local(chosen: Settings, _: Mapping[str, str]) -> Embedder:
    from keepmum.embedding.minilm import MiniLm

    if chosen.home is None:
        raise ModelMissing("there is no folder for a model: set HOME, or KEEPMUM_HOME, to a full path")
    return MiniLm.open(MINILM.folder(chosen.home), cache=os.path.join(chosen.home, "cache"))


def _openai_compatible(chosen: Settings, environ: Mapping[str, str]) -> Embedder:
    from keepmum.embedding.openai_compatible import open_server

    return open_server(chosen, environ)


_NONE = "none"
_REMOTE = frozenset({"openai-compatible"})  # behind a network
EMBEDDERS: Mapping[str, _Opener] = {"local": _local, "openai-compatible": _openai_compatible}
