"""The static files and the security headers of the page, for any server that mounts it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from keepmum.dashboard.link import bare_script, bare_style

__all__ = ["CONTENT_POLICY", "HEADERS", "INDEX", "StaticFile", "static_files"]

INDEX = "/"
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
HEADERS: Mapping[str, str] = MappingProxyType(
    {  # of every answer, errors included
        "Content-Security-Policy": CONTENT_POLICY,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cache-Control": "no-store",
    }
)
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_BARE = {".css": bare_style, ".js": bare_script}
_VENDORED = "vendor"
_FOLDER = Path(__file__).parent / "static"


class StaticFile(NamedTuple):
    """A file of the page."""

    content_type: str
    content: bytes


def _content(path: Path) -> bytes:
    """What is sent of a file; a vendored one is sent as it is."""
    bare = _BARE.get(path.suffix)
    content = path.read_bytes()
    return content if bare is None or path.parent.name == _VENDORED else bare(content.decode()).encode()


@functools.cache
def static_files(folder: Path = _FOLDER) -> Mapping[str, StaticFile]:
    """Every file of the page by its path in a URL, read once; a path that is not a key does not exist.

    A request cannot name another file, whatever it holds, since no path is joined.
    """
    files = {
        "/" + path.relative_to(folder).as_posix(): StaticFile(_TYPES[path.suffix], _content(path))
        for path in sorted(folder.rglob("*"))
        if path.suffix in _TYPES and path.is_file()
    }
    if (index := files.get("/index.html")) is not None:
        files[INDEX] = index
    return MappingProxyType(files)
