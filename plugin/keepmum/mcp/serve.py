"""`keepmum mcp`: serve a client over standard input and output.

Nothing here may cost time before the handshake: clients send their first request to the model after a second or two,
with the tools that were there by then.
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
# Reading a transcript takes a language model, which nothing here ever calls.
_INGESTS = ("--ingest-transcript", "--model", "--dry-run")
_NO_INGESTING = (
    "transcripts are not read here, since that takes a call of a language model; nothing was stored. Agents keep what "
    "they learn as they go (`/memory`), and `keepmum import FILE` takes in memories as JSON lines"
)
# What the options of Shared Agent Memory stand for; a process of its own needs no other way to hand them on.
_VARIABLES = {
    "--agent": "KEEPMUM_AGENT",
    "--project": "KEEPMUM_PROJECT",
    "--memory-api-url": "MEMORY_API_BASE_URL",
    "--memory-api-key": "MEMORY_API_KEY",
    "--api-key": "MEMORY_API_KEY",
}


def main(argv: Sequence[str]) -> int:
    """Exit status of the conversation with the client; 2 when the command line is wrong."""
    if any(word.partition("=")[0] in _INGESTS for word in argv):
        sys.stderr.write(f"keepmum: {_NO_INGESTING}\n")
        return 2
    if argv[:1] in (["-h"], ["--help"]):
        sys.stdout.write(f"{_USAGE}\n")
        return 0
    options = _options(argv)
    if options is None:
        sys.stderr.write(f"{_USAGE}\n")
        return 2
    try:
        _take(options)
    except ValueError as problem:
        sys.stderr.write(f"keepmum: {problem}\n")
        return 2
    chosen = _switches(os.environ)
    named = options["--dialect"] or os.environ.get("KEEPMUM_DIALECT")
    dialect = named or (chosen.dialect if chosen.dialect in DIALECTS else DEFAULT)
    if dialect not in DIALECTS:
        sys.stderr.write(f"keepmum: there is no such dialect; there are: {', '.join(DIALECTS)}\n")
        return 2
    surface, open_handlers = DIALECTS[dialect]
    if not chosen.enabled:
        surface = OFF
    return stdio.serve(surface, open_handlers, name="keepmum", version=VERSION)


def _options(argv: Sequence[str]) -> Mapping[str, str] | None:
    """The options by name, empty where not given; None when something else stands there."""
    options = dict.fromkeys(("--client", "--dialect", *_VARIABLES), "")
    words = list(argv)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name not in options or not (equals or words):
            return None
        options[name] = value if equals else words.pop(0)
    return options


def _take(options: Mapping[str, str]) -> None:
    """Take what the command line says of agent, project and server; a key beside an address is for just that one.

    Raises: ValueError in words, when it can be no address or no key.
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
    """Whether Keepmum is on for this session, project and user, and in which dialect: as the hooks read it."""
    home = places.home(environ)
    if home is None:
        home = os.devnull  # no files to read there; the environment still counts
    session = environ.get("CLAUDE_CODE_SESSION_ID", "")
    try:
        folder = environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    except OSError:
        folder = os.sep
    return switches.read(home, session, folder, environ)
