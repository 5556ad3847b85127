"""The server as one file that Claude Desktop installs on a double click: `keepmum.mcpb`, a zip with a manifest.

In a clone, with PYTHONPATH=installers:plugin:hooks:

python3 -m keepmum_installers.mcpb keepmum.mcpb

The package is reproducible: the same clone gives the same bytes.

Source: https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md, read 2026-11-21; and `mcpb validate` 2.1.2.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Iterator

from keepmum.system import private_files
from keepmum_installers.product import Product, bundle_root, read

__all__ = ["main", "manifest", "pack"]

_FOLDERS = ("plugin/keepmum", "scanner/keepmum_scanner", "hooks/keepmum_hooks", "installers/keepmum_installers")
_FILES = ("LICENSE", "README.md", "pyproject.toml", "plugin/launch.py")
_EXCLUDED = ("__pycache__", "providers")  # the providers are in the rendered table
_EPOCH = (2026, 1, 1, 0, 0, 0)


def manifest(product: Product) -> dict[str, object]:
    """The manifest that the app reads. Its `python3` may be too old; `launch.py` then says what to do."""
    arguments = ["-I", "-S", "${__dirname}/plugin/launch.py", "mcp", "--client", "claude-desktop"]
    return {
        "manifest_version": "0.3",
        "name": product.name,
        "display_name": product.name.capitalize(),
        "version": product.version,
        "description": product.description,
        "author": {"name": product.author},
        "repository": {"type": "git", "url": product.homepage},
        "homepage": product.homepage,
        "support": product.issues,
        "license": product.licence,
        "keywords": list(product.keywords),
        "server": {
            "type": "python",
            "entry_point": "plugin/launch.py",
            "mcp_config": {
                "command": "python3",
                "args": arguments,
                "platform_overrides": {"win32": {"command": "python", "args": arguments}},
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": ">=3.11"}},
    }


def pack(root: str, path: str) -> int:
    """Write the package of the bundle at root; returns the number of its files.

    Raises: OSError when a part is missing, or the package cannot be written.
    """
    count = 0
    with private_files.replacement(path, 0o644) as file, zipfile.ZipFile(file, "w") as package:
        _add(package, "manifest.json", (json.dumps(manifest(read(root)), indent=2) + "\n").encode())
        for name in _names(root):
            with open(os.path.join(root, *name.split("/")), "rb") as source:
                _add(package, name, source.read())
            count += 1
    return count + 1


def main(argv: list[str] | None = None) -> int:
    """The exit code: 0 when the package was written, 2 for wrong usage."""
    arguments = sys.argv[1:] if argv is None else argv
    root = bundle_root()
    if len(arguments) != 1 or root is None:
        sys.stderr.write("usage, in a clone: python3 -m keepmum_installers.mcpb FILE.mcpb\n")
        return 2
    sys.stdout.write(f"wrote {arguments[0]}: {pack(root, arguments[0])} files\n")
    return 0


def _names(root: str) -> Iterator[str]:
    """The files of the package below root, with forward slashes, in a fixed order."""
    yield from _FILES
    for folder in _FOLDERS:
        for top, folders, names in os.walk(os.path.join(root, *folder.split("/"))):
            folders[:] = sorted(set(folders) - set(_EXCLUDED))
            for name in sorted(names):
                if not name.startswith("."):
                    yield os.path.relpath(os.path.join(top, name), root).replace(os.sep, "/")


def _add(package: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    package.writestr(entry, content)


if __name__ == "__main__":
    raise SystemExit(main())
