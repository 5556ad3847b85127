"""A version of the product as one file, `keepmum-0.1.0.tar.gz`, which `install.sh` fetches and unpacks.

The same files give the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Iterable

from keepmum.system import private_files
from keepmum_installers.app.bundle import Bundle

__all__ = ["SUMS", "file_name", "pack", "sums"]

SUMS = "SHA256SUMS"
"""The name of the list of hashes that is published with the archive."""

_EPOCH = 1767225600  # 2026-01-01


def file_name(version: str) -> str:
    """The name of the archive of a version."""
    return f"keepmum-{version}.tar.gz"


def pack(bundle: Bundle, version: str, path: str) -> None:
    """Write the archive.

    Raises: OSError when it cannot be written.
    """
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, source in bundle.paths.items():
            with open(source, "rb") as file:
                content = file.read()
            entry = tarfile.TarInfo(f"keepmum-{version}/{name}")
            entry.size, entry.mtime = len(content), _EPOCH
            entry.mode = 0o755 if name.endswith(".sh") else 0o644
            archive.addfile(entry, io.BytesIO(content))
    with (
        private_files.replacement(path, 0o644) as target,
        # No file name and a fixed time, so that each machine writes the same bytes.
        gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=_EPOCH) as packed,
    ):
        packed.write(raw.getvalue())


def sums(paths: Iterable[str]) -> str:
    """The hashes of files by name, as `sha256sum` writes and checks them."""
    lines = []
    for path in sorted(paths, key=os.path.basename):
        with open(path, "rb") as file:
            lines.append(f"{hashlib.sha256(file.read()).hexdigest()}  {os.path.basename(path)}\n")
    return "".join(lines)
