"""The entry point of the command line.

Commands that clients start (mcp, guard, hook) are dispatched before the other commands are imported: a client sends its
first request to the model after a second or two, with the tools it has by then. Exit statuses: `keepmum.cli.parser`.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from keepmum_scanner import Finding

__all__ = ["main", "run"]


def run() -> None:
    """The console script."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit status; without a command, print the help."""
    if argv[:1] == ["mcp"]:
        from keepmum.mcp import serve

        return serve.main(argv[1:])
    if argv[:1] == ["guard"]:
        from keepmum.guard import main as guard

        if guard.is_proxy(argv[1:]):
            return guard.main(argv[1:])
    if argv[:1] == ["hook"]:
        from keepmum.cli import hook

        return hook.run(argv[1:])
    _use_utf8()
    if argv[:1] == ["scan"]:
        return _scan(list(argv[1:]))
    from keepmum.cli import parser

    return parser.run(argv)


def _scan(argv: list[str]) -> int:
    """Run the scanner; the status of a damaged one is 2, because 1 means that a secret was found."""
    try:
        from keepmum_scanner import cli as scanner

        scan = _scanner()
    except Exception as error:  # noqa: BLE001 - a damaged file raises anything
        sys.stderr.write(
            f"keepmum: the scanner is damaged ({type(error).__name__}), nothing was scanned; run `keepmum doctor`\n"
        )
        return 2
    return scanner.main(argv, scan, "keepmum scan")


def _use_utf8() -> None:
    """Use UTF-8 on the standard streams, whatever the locale: programs expect it, and Windows pipes differ."""
    import io

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _scanner() -> Callable[[str], Sequence[Finding]]:
    """The scanner, without the findings that the user has allowed."""
    from keepmum_hooks import places

    home = places.home(os.environ)
    if home is None or not os.path.exists(os.path.join(home, "allow.toml")):
        from keepmum_scanner import scan

        return scan
    from keepmum.workspace import allowlist

    return allowlist.AllowlistScanner(home)
