"""`keepmum mcp`: serve a client over standard input and output.

Nothing here may cost time before the handshake: clients send their first request to the model after a second or two,
with the tools that were there by then.
"""

from __future__ import annotations

import os
import sys

from keepmum.mcp import stdio
from keepmum.mcp.dialects import DEFAULT, DIALECTS, OFF
from keepmum.version import VERSION
from keepmum_hooks import places, switches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["main"]

_USAGE = "usage: keepmum mcp [--client NAME] [--dialect NAME]"


def main(argv: Sequence[str]) -> int:
    """Exit status of the conversation with the client; 2 when the command line is wrong."""
    options = _options(argv)
    if options is None:
        sys.stderr.write(f"{_USAGE}\n")
        return 2
    dialect = options["--dialect"] or os.environ.get("KEEPMUM_DIALECT") or DEFAULT
    if dialect not in DIALECTS:
        sys.stderr.write(f"keepmum: there is no dialect {dialect!r}; there are: {', '.join(DIALECTS)}\n")
        return 2
    surface, open_handlers = DIALECTS[dialect]
    if not _is_on(os.environ):
        surface = OFF
    return stdio.serve(surface, open_handlers, name="keepmum", version=VERSION)


def _options(argv: Sequence[str]) -> Mapping[str, str] | None:
    """The options by name, empty where not given; None when something else stands there."""
    options = {"--client": "", "--dialect": ""}
    words = list(argv)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name not in options or not (equals or words):
            return None
        options[name] = value if equals else words.pop(0)
    return options


def _is_on(environ: Mapping[str, str]) -> bool:
    """Whether Keepmum is switched on for this session, project and user; the same switches that the hooks obey."""
    home = places.home(environ)
    if home is None:
        home = os.devnull  # no files to read there; the environment still counts
    session = environ.get("CLAUDE_CODE_SESSION_ID", "")
    try:
        folder = environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    except OSError:
        folder = os.sep
    return switches.read(home, session, folder, environ).enabled
