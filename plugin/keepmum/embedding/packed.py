"""A graph with its weights in the order in which this processor takes them, in files that all processes here map.

onnxruntime packs the weights anew each time it opens a graph: 10 MiB more in each process, and twice the time. What it
wrote down packed it maps instead. That depends on its version and on the processor, so it is made on each machine, lies
with the caches, and is only used while it gives the vector of a probe that the weights gave as they were published.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from keepmum.embedding.local_model import is_right
from keepmum.system import private_files
from keepmum.system.native import native_call

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["WRITING", "Opening", "remove", "session"]

_PREFIX = "packed-"  # of the folders in the cache
_GRAPH, _WEIGHTS, _STATE = "packed.onnx", "packed.bin", "state.json"
_PROBE = [[0, 1, 2, 3, 2, 1]]  # pieces that every vocabulary has
_NEAR = 1e-4  # the same weights give the same numbers; those of another order give others altogether
# What onnxruntime is told when it is to write a graph down with its weights packed, in a file that can be mapped.
# Source: https://github.com/microsoft/onnxruntime/blob/main/include/onnxruntime/core/session/onnxruntime_session_options_config_keys.h,
# read 2026-11-21
WRITING = {
    "session.optimized_model_external_initializers_file_name": _WEIGHTS,
    "session.optimized_model_external_initializers_min_size_in_bytes": "1024",
    "session.save_external_prepacked_constant_initializers": "1",
}
_OF_PROCESSOR = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")

Opening = Callable[[str, str], "InferenceSession"]  # a graph to open, and where to write it packed, or ""


def session(graph: str, space: str, cache: str, opening: Opening) -> InferenceSession:
    """The graph, open, by its packed form where there is one or one can be made; else as it is.

    `space` names the weights, and the packed forms lie in the folder `cache`.

    Raises: EmbeddingError as `opening` does for the graph as it is.
    """
    place = os.path.join(cache, _PREFIX + _key(space))
    return _opened(place, opening) or _made(graph, place, opening) or opening(graph, "")


def remove(cache: str, but: str = "none") -> None:
    """Remove what was packed, but for what is called so; it is made again when it is wanted."""
    for name in os.listdir(cache) if os.path.isdir(cache) else ():
        if name.startswith(_PREFIX) and not name.startswith(but):
            _remove(os.path.join(cache, name))


def _opened(place: str, opening: Opening) -> InferenceSession | None:
    """The packed form in a folder, open; None where it is not there, not whole, or gives other vectors."""
    try:
        with open(os.path.join(place, _STATE), encoding="utf-8") as file:
            told = json.load(file)
        if not all(is_right(os.path.join(place, name), told[name]) for name in (_GRAPH, _WEIGHTS)):
            return None
        found = opening(os.path.join(place, _GRAPH), "")
        return found if _agree(_probed(found), told["probe"]) else None
    except Exception:  # noqa: BLE001 - whatever is wrong with it, there is the graph as it is
        return None


def _made(graph: str, place: str, opening: Opening) -> InferenceSession | None:
    """The packed form, made in a folder beside and moved into place in one step; None where that cannot be.

    Several processes may do so at once: the first one's stays, and all of them use it.
    """
    cache, name = os.path.split(place)
    part = f"{place}.{os.getpid()}"
    try:
        private_files.make_folder(cache)
        remove(cache, but=name)  # of another version, or another processor
        os.mkdir(part, 0o700)
        probe = _probed(opening(graph, os.path.join(part, _GRAPH)))
        state = {name: _digest(os.path.join(part, name)) for name in (_GRAPH, _WEIGHTS)} | {"probe": probe}
        private_files.replace_file(os.path.join(part, _STATE), json.dumps(state))
        with contextlib.suppress(OSError):
            os.rename(part, place)
        if found := _opened(place, opening):
            return found
        _remove(place)  # it was there, and no good
        os.rename(part, place)
        return _opened(place, opening)
    except Exception:  # noqa: BLE001 - no room, or no cache that can be written: the graph as it is does as well
        return None
    finally:
        _remove(part)


def _remove(folder: str) -> None:
    import shutil  # seldom wanted, and half a megabyte

    shutil.rmtree(folder, ignore_errors=True)


def _probed(found: InferenceSession) -> list[float]:
    """The vector of a text that is always the same."""
    import numpy as np

    pieces = np.array(_PROBE, dtype=np.int64)
    with native_call():
        vector: list[float] = found.run(None, {found.get_inputs()[0].name: pieces})[0][0].tolist()
    return vector


def _agree(ours: list[float], theirs: list[float]) -> bool:
    return len(ours) == len(theirs) and all(abs(one - other) < _NEAR for one, other in zip(ours, theirs, strict=True))


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _key(space: str) -> str:
    """What the packed form depends on, as a short name."""
    import onnxruntime

    told = f"{space}\n{onnxruntime.__version__}\n{_processor()}"
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def _processor() -> str:
    """What kind of processor this is, and what it can do, as far as the system tells without running a program."""
    machine = os.uname().machine if sys.platform != "win32" else os.environ.get("PROCESSOR_IDENTIFIER", "")
    lines = [sys.platform, machine]
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        first = file.read().partition("\n\n")[0].splitlines()
        lines += [line for line in first if line.startswith(_OF_PROCESSOR)]
    return "\n".join(lines)
