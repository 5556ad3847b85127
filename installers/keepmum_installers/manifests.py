"""Every manifest of the bundle and the version module, rendered from `pyproject.toml` and the client modules.

In a clone, with PYTHONPATH=installers:plugin:hooks:

python3 -m keepmum_installers.manifests          writes what changed
python3 -m keepmum_installers.manifests --check  exits 1 and names each file that is out of step
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from keepmum_installers import handover, registry
from keepmum_installers.clients import CLIENTS
from keepmum_installers.product import bundle_root, read

__all__ = ["main", "outdated", "render"]


def render(root: str) -> dict[str, str]:
    """The text of each rendered file, by its path below root, with forward slashes."""
    product = read(root)
    texts = {"plugin/keepmum/core/version.py": _VERSION_MODULE.format(version=product.version)}
    for files in (registry.render(product), *(client.manifests(product) for client in CLIENTS.values())):
        for path, value in files.items():
            texts[path] = value if isinstance(value, str) else handover.as_json(value)
    return texts


# The server tells its version in the handshake, where there is no time to read a TOML file.
_VERSION_MODULE = '''\
"""The version, rendered from pyproject.toml: do not edit, run `python3 -m keepmum_installers.manifests`."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "{version}"
'''


def outdated(root: str, rendered: Mapping[str, str]) -> list[str]:
    """The paths whose file is missing or differs from what is rendered, sorted."""
    return sorted(path for path, text in rendered.items() if _text_at(os.path.join(root, path)) != text)


def main(argv: list[str] | None = None) -> int:
    """The exit code: 0 when every file is in step or was written, 1 when `--check` finds one that is not."""
    arguments = sys.argv[1:] if argv is None else argv
    root = bundle_root()
    if arguments not in ([], ["--check"]) or root is None:
        sys.stderr.write("usage, in a clone: python3 -m keepmum_installers.manifests [--check]\n")
        return 2
    rendered = render(root)
    behind = outdated(root, rendered)
    for path in behind:
        sys.stdout.write(f"{path} is out of step\n" if arguments else f"wrote {path}\n")
        if not arguments:
            _write(os.path.join(root, path), rendered[path])
    return 1 if arguments and behind else 0


def _text_at(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


if __name__ == "__main__":
    raise SystemExit(main())
