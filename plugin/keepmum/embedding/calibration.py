"""Measures how a model spreads its cosines, once per model, and keeps the result in `cache/`.

`keepmum model install` measures the local model. Any other model is measured when it is first opened, in the background
thread that opens it; a missing or damaged file is measured again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os

from keepmum.core.calibration import Calibration
from keepmum.core.errors import EmbeddingError
from keepmum.embedding.base import Embedder
from keepmum.system.private_files import replace_file

__all__ = ["VERSION", "calibrate", "measure"]

VERSION = 1  # of the sample texts; another version is measured again
_MAX_MEAN = 0.99  # above it the model gives nearly all texts the same vector
_DIGITS = 4  # of the mean; further digits differ between processors


def calibrate(embedder: Embedder, home: str | None) -> Calibration:
    """The calibration of a model, from the cache in Keepmum's home or measured now.

    Raises: EmbeddingError when the model cannot embed, or cannot tell texts apart.
    """
    path = None if home is None else _path(home, embedder.model)
    known = None if path is None else _read(path, embedder.model)
    if known is not None:
        return known
    measured = measure(embedder)
    if path is not None:
        content = {"version": VERSION, "model": embedder.model, "mean": measured.mean}
        with contextlib.suppress(OSError):  # on a full disk it is measured again next time
            replace_file(path, json.dumps(content) + "\n")
    return measured


def measure(embedder: Embedder) -> Calibration:
    """The mean cosine of all pairs of the sample texts.

    Raises: EmbeddingError when the model cannot embed, or cannot tell texts apart.
    """
    from keepmum.embedding.sample_texts import SAMPLE_TEXTS

    rows = embedder.embed(SAMPLE_TEXTS)
    count = len(SAMPLE_TEXTS)
    total = rows.sum(axis=0, dtype=float)
    mean = (float(total @ total) - count) / (count * (count - 1))  # the vectors are of length 1
    if not -1.0 <= mean <= _MAX_MEAN:
        raise EmbeddingError(
            f"{embedder.model} gives unrelated texts nearly the same vector (mean cosine {mean:.3f}), so it cannot be "
            "used for search; choose another embedding.model"
        )
    return Calibration(round(mean, _DIGITS))


def _path(home: str, model: str) -> str:
    return os.path.join(home, "cache", "calibration", f"{hashlib.sha256(model.encode()).hexdigest()[:16]}.json")


def _read(path: str, model: str) -> Calibration | None:
    """The calibration in a file; None when it is missing, damaged, of another model or of other sample texts."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if (content["version"], content["model"]) != (VERSION, model):
            return None
        mean = float(content["mean"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return Calibration(mean) if math.isfinite(mean) and -1.0 <= mean <= _MAX_MEAN else None
