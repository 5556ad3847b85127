"""`keepmum guard -- COMMAND` and `keepmum guard --url URL`: from the command line to the exit status."""

from __future__ import annotations

import sys

from keepmum.guard import options
from keepmum.guard.options import is_proxy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["is_proxy", "main"]


def main(words: Sequence[str]) -> int:
    """Exit status of the server behind the guard; 2 when the command line is wrong."""
    try:
        chosen = options.parse(words)
    except options.UsageError as error:
        sys.stderr.write(f"keepmum guard: {error}\n{options.USAGE}")
        return 2
    if chosen.command:
        from keepmum.guard import proxy

        return proxy.run(chosen.command, mask_results=chosen.results)
    from keepmum.guard import remote

    return remote.run(chosen.url, chosen.headers, mask_results=chosen.results)
