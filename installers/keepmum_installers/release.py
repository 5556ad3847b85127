"""Prepares a release: one version everywhere, and the files to publish.

In a clone, with PYTHONPATH=installers:plugin:hooks:

python3 -m keepmum_installers.release 0.2.0 dist

The version is written into `pyproject.toml`, into every file that is rendered from it, and with today's date into
`CHANGELOG.md`. `dist` gets the archive, `install.sh`, the package for Claude Desktop, the list of components (SBOM) and
the SHA-256 of each. Run with the version that the clone has, it writes the same files again.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import sys

from keepmum_installers import archive, files, manifests, mcpb, sbom
from keepmum_installers.app import layout
from keepmum_installers.app.bundle import bundle_at
from keepmum_installers.errors import InstallError
from keepmum_installers.product import bundle_root, read

__all__ = ["build", "main", "relabel"]


def relabel(root: str, version: str, today: str) -> None:
    """Give the clone at root this version, in every file that names it.

    Raises: InstallError when it is not a version, or older than the clone's: clients install only newer ones.
    """
    before = read(root).version
    if not layout.is_numbered(version):
        raise InstallError(f"{version} is not a version such as 0.2.0")
    if layout.sort_key(version) < layout.sort_key(before):
        raise InstallError(f"{version} is older than {before}, and clients would not install it")
    _replace(root, "pyproject.toml", f'\nversion = "{before}"\n', f'\nversion = "{version}"\n')
    if os.path.exists(os.path.join(root, "CHANGELOG.md")):
        _replace(root, "CHANGELOG.md", f"## {version} (unreleased)\n", f"## {version} ({today})\n")
    for path, text in manifests.render(root).items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        files.write(os.path.join(root, path), text.encode(), 0o644)


def build(root: str, folder: str) -> list[str]:
    """Write the files to publish; returns their paths, the list of hashes last.

    Raises: OSError when one cannot be written.
    """
    product = read(root)
    os.makedirs(folder, exist_ok=True)
    paths = [
        os.path.join(folder, name)
        for name in (
            archive.file_name(product.version),
            "install.sh",
            f"{product.name}.mcpb",
            f"{product.name}-{product.version}.cdx.json",
        )
    ]
    archive.pack(bundle_at(root), product.version, paths[0])
    shutil.copyfile(os.path.join(root, "installers", "install.sh"), paths[1])
    mcpb.pack(root, paths[2])
    lock = files.read(os.path.join(root, "installers", "locks", "semantic.txt")) or b""
    files.write(paths[3], sbom.render(product, lock.decode()).encode(), 0o644)
    sums = os.path.join(folder, archive.SUMS)
    files.write(sums, archive.sums(paths).encode(), 0o644)
    return [*paths, sums]


def main(argv: list[str] | None = None) -> int:
    """The exit code: 0 when the files were written, 1 when the version is wrong, 2 for wrong usage."""
    arguments = sys.argv[1:] if argv is None else argv
    root = bundle_root()
    if len(arguments) != 2 or root is None:
        sys.stderr.write("usage, in a clone: python3 -m keepmum_installers.release VERSION FOLDER\n")
        return 2
    try:
        relabel(root, arguments[0], dt.datetime.now(dt.UTC).date().isoformat())
    except InstallError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for path in build(root, arguments[1]):
        sys.stdout.write(f"wrote {path}\n")
    sys.stdout.write(f"next: review and commit, then tag it v{arguments[0]} and publish these files with the tag.\n")
    return 0


def _replace(root: str, name: str, before: str, after: str) -> None:
    path = os.path.join(root, name)
    text = (files.read(path) or b"").decode()
    files.write(path, text.replace(before, after, 1).encode(), 0o644)


if __name__ == "__main__":
    raise SystemExit(main())
