"""The entry point of the command line.

Commands that clients start (mcp, guard, hook) are dispatched before the other commands are imported: a client sends its
first request to the model after a second or two, with the tools it has by then. Exit statuses: `keepmum.cli.parser`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
    from keepmum.cli import commands

    if (status := commands.answer(argv)) is not None:
        return status
    _use_utf8()
    if argv[:1] == ["scan"]:
        from keepmum.cli import scan

        return scan.run(argv[1:])
    from keepmum.cli import parser

    return parser.run(argv)


def _use_utf8() -> None:
    """Use UTF-8 on the standard streams, whatever the locale: programs expect it, and Windows pipes differ."""
    import io

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
