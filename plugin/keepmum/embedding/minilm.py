"""all-MiniLM-L6-v2 on this machine, by onnxruntime: no torch and no network; processes share the mapped weights."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keepmum.core.errors import EmbeddingError
from keepmum.embedding.local_model import GRAPH, MINILM, VOCABULARY, LocalModel
from keepmum.embedding.wordpiece import WordPiece
from keepmum.system.native import native_call

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

    from keepmum.embedding.base import Vectors

__all__ = ["MiniLm"]

_MAX_PIECES = 256  # Source: sentence_bert_config.json of the model
_FATAL = 4  # onnxruntime's log severity; errors are raised as well, so lower levels would only repeat them on stderr


class MiniLm:
    """The loaded model. Texts are embedded one at a time, so that a vector does not depend on its batch."""

    def __init__(self, model: str, session: InferenceSession, tokenizer: WordPiece) -> None:
        self.model = model
        self.dimensions: int = session.get_outputs()[0].shape[1]
        self._input: str = session.get_inputs()[0].name
        self._session = session
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, folder: str, model: LocalModel = MINILM) -> MiniLm:
        """Load the model from a folder after checking the hash of every file.

        Raises: ModelMissing; EmbeddingError when the model is damaged, or onnxruntime is missing or cannot load it.
        """
        model.check(folder)
        _load_runtime()
        session = _session(os.path.join(folder, GRAPH))
        return cls(model.space, session, WordPiece.read(os.path.join(folder, VOCABULARY)))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text, of which the first 256 word pieces are read."""
        import numpy as np

        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            pieces = np.array([self._tokenizer.encode(text, _MAX_PIECES)], dtype=np.int64)
            with native_call():
                rows[number] = self._session.run(None, {self._input: pieces})[0][0]
        return rows


def _load_runtime() -> None:
    """Import onnxruntime with telemetry disabled.

    Raises: EmbeddingError when it is missing.
    """
    # onnxruntime sends telemetry from its import on, and writes a device id into the user's cache folder. Its Python
    # switch comes too late for either.
    # Source: https://github.com/microsoft/onnxruntime/pull/27379, read 2026-11-21
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        with native_call():
            import numpy  # noqa: F401, ICN001 - onnxruntime imports it; a call of its own keeps each call short
        with native_call():
            import onnxruntime
    except ImportError:
        raise EmbeddingError(
            "search by meaning needs the package onnxruntime, which is missing; `keepmum install` fetches it"
        ) from None
    onnxruntime.disable_telemetry_events()  # for Windows, where the variable has no effect


def _session(graph: str) -> InferenceSession:
    """A session that runs the graph.

    Raises: EmbeddingError when onnxruntime cannot load it.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a query is too short to parallelise
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False  # release the memory of a long text at once
    # Fused operators would round differently on other processors; without them the vectors are the same everywhere.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    with native_call():
        try:
            return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 - its exceptions share no base class
            raise EmbeddingError(f"onnxruntime cannot load {graph} ({type(error).__name__})") from None
