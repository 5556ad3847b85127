"""`keepmum mcp`: the MCP server on standard input and output.

Imports little before the handshake: clients send their first request to the model after a second or two, with the tools
they have by then.
"""

from __future__ import annotations

import os
import sys

from keepmum.core.version import VERSION
from keepmum.mcp import stdio
from keepmum.mcp.dialects import DEFAULT, DIALECTS, OFF
from keepmum_hooks import places, switches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["main"]

_USAGE = (
    "usage: keepmum mcp [--client NAME] [--dialect NAME] [--agent NAME] [--project NAME] "
    "[--memory-api-url URL] [--memory-api-key KEY]"
)
# Reading a transcript needs a language model, and Keepmum calls none.
_INGEST_OPTIONS = ("--ingest-transcript", "--model", "--dry-run")
_INGEST_REFUSED = (
    "Keepmum does not read transcripts, because that needs a language model; nothing was stored. Agents store what "
    "they learn as they work (`/memory`), and `keepmum import FILE` imports memories as JSON lines"
)
# The options of Shared Agent Memory, and the variables that they set in this process.
_VARIABLES = {
    "--agent": "KEEPMUM_AGENT",
    "--project": "KEEPMUM_PROJECT",
    "--memory-api-url": "MEMORY_API_BASE_URL",
    "--memory-api-key": "MEMORY_API_KEY",
    "--api-key": "MEMORY_API_KEY",
}


def main(argv: Sequence[str]) -> int:
    """Run the server until the client disconnects; return its exit status, 2 when the command line is wrong."""
    if any(word.partition("=")[0] in _INGEST_OPTIONS for word in argv):
        sys.stderr.write(f"keepmum: {_INGEST_REFUSED}\n")
        return 2
    if argv[:1] in (["-h"], ["--help"]):
        sys.stdout.write(f"{_USAGE}\n")
        return 0
    options = _options(argv)
    if options is None:
        sys.stderr.write(f"{_USAGE}\n")
        return 2
    try:
        _apply(options)
    except ValueError as problem:
        sys.stderr.write(f"keepmum: {problem}\n")
        return 2
    chosen = _switches(os.environ)
    named = options["--dialect"] or os.environ.get("KEEPMUM_DIALECT")
    dialect = named or (chosen.dialect if chosen.dialect in DIALECTS else DEFAULT)
    if dialect not in DIALECTS:
        sys.stderr.write(f"keepmum: unknown dialect; choose one of: {', '.join(DIALECTS)}\n")
        return 2
    surface, open_handlers = DIALECTS[dialect]
    if not chosen.enabled:
        surface = OFF
    return stdio.serve(surface, open_handlers, name="keepmum", version=VERSION)


def _options(argv: Sequence[str]) -> Mapping[str, str] | None:
    """The options by name, empty by default; None for an unknown argument."""
    options = dict.fromkeys(("--client", "--dialect", *_VARIABLES), "")
    words = list(argv)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name not in options or not (equals or words):
            return None
        options[name] = value if equals else words.pop(0)
    return options


def _apply(options: Mapping[str, str]) -> None:
    """Apply the options for agent, project and server; a key given with an address is used for that address only.

    Raises: ValueError with a message, when the address or the key is invalid.
    """
    url, key = options["--memory-api-url"], options["--memory-api-key"] or options["--api-key"]
    if url and key:
        from keepmum.core.errors import KeepmumError
        from keepmum.workspace import credentials, settings

        try:
            credentials.set_for_process(settings.origin_of(url), key)
        except KeepmumError as error:
            raise ValueError(str(error)) from None
    for name, variable in _VARIABLES.items():
        if options[name] and not (url and name.endswith("-key")):
            os.environ[variable] = options[name]


def _switches(environ: Mapping[str, str]) -> switches.Switches:
    """Whether Keepmum is enabled here, and the dialect; read as the hooks read it."""
    home = places.home(environ)
    if home is None:
        home = os.devnull  # has no files; the environment still applies
    session = environ.get("CLAUDE_CODE_SESSION_ID", "")
    try:
        folder = environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    except OSError:
        folder = os.sep
    return switches.read(home, session, folder, environ)
