"""Renders the OpenAPI document of the server from its table of routes: `python3 docs/openapi.py`.

With `--check` it only says whether the committed document is the one that it would write.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / name) for name in ("plugin", "scanner", "hooks", "installers")]

from keepmum.server.app import ROUTES  # noqa: E402 - the path is set above
from keepmum.server.docs import OPENAPI  # noqa: E402
from keepmum.server.openapi import rendered  # noqa: E402


def main(argv: Sequence[str]) -> int:
    """Write the document, or with `--check` compare it; 1 when it differs."""
    path, text = Path(OPENAPI), rendered(ROUTES)
    if "--check" in argv:
        return 0 if path.is_file() and path.read_text(encoding="utf-8") == text else 1
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
