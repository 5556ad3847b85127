"""The command line: what clients and pipelines start begins at once, and the rest where all commands are known.

What a client starts must import nothing for the others: its first request to the model leaves after a second or two,
with the tools that were there by then. Exit statuses: `keepmum.cli.tree`.
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
    """Exit status of one command; without any, the help is shown."""
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
    _speak_utf8()
    if argv[:1] == ["scan"]:
        return _scan(list(argv[1:]))
    from keepmum.cli import tree

    return tree.run(argv)


def _scan(argv: list[str]) -> int:
    """Exit status of the scanner; 2 for one that is damaged, since 1 says that a secret was found."""
    try:
        from keepmum_scanner import cli as scanner

        judge = _judge()
    except Exception as error:  # noqa: BLE001 - a damaged file raises anything
        sys.stderr.write(
            f"keepmum: the scanner is damaged ({type(error).__name__}), nothing was scanned; run `keepmum doctor`\n"
        )
        return 2
    return scanner.main(argv, judge, "keepmum scan")


def _speak_utf8() -> None:
    """Read and write UTF-8, whatever the locale: pipes of Windows have other code pages, and programs expect this."""
    import io

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _judge() -> Callable[[str], Sequence[Finding]]:
    """The scanner; where a person has allowed something, without that."""
    from keepmum_hooks import places

    home = places.home(os.environ)
    if home is None or not os.path.exists(os.path.join(home, "allow.toml")):
        from keepmum_scanner import scan

        return scan
    from keepmum.workspace import allowlist

    return allowlist.AllowlistScanner(home)
