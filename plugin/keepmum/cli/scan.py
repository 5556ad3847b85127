"""`keepmum scan`: the scanner, without the findings that the user has allowed."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from keepmum.cli import console
    from keepmum_scanner import Finding

__all__ = ["register", "run"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser, for help and documentation; `run` parses its own arguments."""
    scan = commands.add_parser("scan")
    scan.add_argument("paths", nargs="*", metavar="FILE", help="files and folders; default: standard input")
    scan.add_argument("--explain", action="store_true", help="say what decided about each finding, without the text")
    scan.add_argument(
        "--mask", action="store_true", help="print FILE or FILE:LINE with generated text of the same shape"
    )
    scan.add_argument("--staged", action="store_true", help="the added lines of what is staged for the next commit")
    scan.add_argument("--no-ignore", action="store_true", help="in folders, also scan files that git ignores")
    scan.add_argument("--json", action="store_true", help="print every finding as JSON")
    scan.add_argument("--sarif", action="store_true", help="print SARIF, for code hosts")


def run(argv: Sequence[str]) -> int:
    """Run the scanner; the status of a damaged one is 2, because 1 means that a secret was found."""
    try:
        from keepmum_scanner import cli as scanner

        scan = _scanner()
    except Exception as error:  # noqa: BLE001 - a damaged file raises anything
        sys.stderr.write(
            f"keepmum: the scanner is damaged ({type(error).__name__}), nothing was scanned; run `keepmum doctor`\n"
        )
        return 2
    return scanner.main(list(argv), scan, "keepmum scan")


def _scanner() -> Callable[[str], Sequence[Finding]]:
    """The scanner, without the findings that the user has allowed."""
    from keepmum_hooks import places

    home = places.home(os.environ)
    if home is None or not os.path.exists(os.path.join(home, "allow.toml")):
        from keepmum_scanner import scan

        return scan
    from keepmum.workspace import allowlist

    return allowlist.AllowlistScanner(home)
