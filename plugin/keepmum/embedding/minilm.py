"""all-MiniLM-L6-v2 on this machine: no torch, no network, and weights that the processes of a machine hold once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keepmum.core.errors import EmbeddingError
from keepmum.embedding import packed
from keepmum.embedding.local_model import GRAPH, MINILM, VOCABULARY, LocalModel
from keepmum.embedding.wordpiece import WordPiece
from keepmum.system.native import native_call

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

    from keepmum.embedding.base import Vectors

__all__ = ["MiniLm"]

_MOST_PIECES = 256  # Source: sentence_bert_config.json of the model
_FATAL = 4  # the severity from which onnxruntime writes to stderr; what matters it raises as well


class MiniLm:
    """The model, open. One text is read at a time, so that its vector does not depend on its neighbours."""

    def __init__(self, model: str, session: InferenceSession, spelling: WordPiece) -> None:
        self.model = model
        self.dimensions: int = session.get_outputs()[0].shape[1]
        self._input: str = session.get_inputs()[0].name
        self._session = session
        self._spelling = spelling

    @classmethod
    def open(cls, folder: str, model: LocalModel = MINILM, cache: str = "") -> MiniLm:
        """The model in a folder, whose every byte is checked first; it opens faster with a folder for a `cache`.

        Raises: ModelMissing, or EmbeddingError when the model is damaged, or onnxruntime missing or unable to open it.
        """
        model.check(folder)
        _load_runtime()
        graph = os.path.join(folder, GRAPH)
        session = packed.session(graph, model.space, cache, _session) if cache else _session(graph)
        return cls(model.space, session, WordPiece.read(os.path.join(folder, VOCABULARY)))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text, of which the first 256 word pieces are read."""
        import numpy as np

        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            pieces = np.array([self._spelling.spell(text, _MOST_PIECES)], dtype=np.int64)
            with native_call():
                rows[number] = self._session.run(None, {self._input: pieces})[0][0]
        return rows


def _load_runtime() -> None:
    """Load onnxruntime.

    Raises: EmbeddingError when it is missing.
    """
    # It reports to its publisher from its very import on, and keeps a device's id in the user's folder of caches; its
    # own switch in Python comes too late for either.
    # Source: https://github.com/microsoft/onnxruntime/pull/27379, read 2026-11-21
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        with native_call():
            import numpy  # noqa: F401, ICN001 - onnxruntime needs it, and each stretch is to be short
        with native_call():
            import onnxruntime
    except ImportError:
        raise EmbeddingError(
            "search by meaning needs the package onnxruntime, which is not here; `keepmum install` fetches it"
        ) from None
    onnxruntime.disable_telemetry_events()  # of Windows, which has no such variable


def _session(graph: str, packed_form: str = "") -> InferenceSession:
    """A graph, ready to run, and written down in its packed form where a file for that is named.

    Raises: EmbeddingError when onnxruntime cannot open it.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a query is too short to be shared out
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False  # a long text leaves no memory behind
    # The graph is run as it was written: with nothing fused that was left apart, its vectors are the same everywhere.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    if packed_form:
        options.optimized_model_filepath = packed_form
        for name, value in packed.WRITING.items():
            options.add_session_config_entry(name, value)
    with native_call():
        try:
            return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 - its errors share no base of their own
            raise EmbeddingError(f"onnxruntime cannot open {graph} ({type(error).__name__})") from None
