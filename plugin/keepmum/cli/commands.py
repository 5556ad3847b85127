"""The table of commands, and what is printed without parsing: version, overview, and the answer to an unknown command.

It imports nothing, so `keepmum --help` costs little more than Python itself; the module of a command is imported when
that command runs. To add a command, add a line here, and a function `register` in its module.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ABOUT", "ALIASES", "COMMANDS", "answer", "module_of", "overview", "suggestion"]

_GROUPS: dict[str, tuple[tuple[str, str, str], ...]] = {  # heading: name, module, what it does
    "memories": (
        ("remember", "memories", "store a memory"),
        ("recall", "memories", "search memories, or list the latest"),
        ("load", "memories", "show memories in full"),
        ("forget", "memories", "remove memories; --undo works for 30 days"),
        ("resume", "memories", "summarise what is needed to continue this project"),
        ("standup", "standup", "list recent memories of every project"),
        (
            "review",
            "review",
            "decide about memories that contradict or repeat others, are outdated, or come from outside",
        ),
        ("dashboard", "dashboard", "see, correct and review what agents remember, in the browser"),
    ),
    "secrets": (
        ("scan", "scan", "scan files or standard input for secrets; stores nothing"),
        ("audit", "audit", "scan stored memories, or files, for secrets"),
        ("allow", "allow", "accept a refused text as harmless; for people, at a terminal"),
        (
            "guard",
            "guard",
            "refuse secrets in writes to another MCP server: `guard -- COMMAND` runs it, `guard add` sets it up",
        ),
    ),
    "transfer": (
        ("export", "transfer", "write memories as JSON lines, or as Markdown files"),
        ("import", "transfer", "import memories from `export` or other tools; each is scanned"),
        ("promote", "promote", "move a memory to the team server or into the repository"),
        ("demote", "promote", "move a memory back from the team server or the repository"),
        ("migrate", "migrate", "copy memories from one store into another; run again to resume"),
    ),
    "team server": (
        ("backend", "backend", "where memories are stored: list, use, test"),
        ("login", "login", "store a key for a team server; reads it from the terminal or a pipe"),
        ("logout", "login", "remove the key for a server"),
        ("whoami", "login", "show the configured server, the source of its key, and its status"),
        ("outbox", "outbox", "writes that are queued for a server, or that it refused"),
        ("serve", "serve", "run the server of a team, over SQLite or PostgreSQL"),
        ("people", "people", "who may use the server of this machine: add, list, remove, restore, role"),
        ("keys", "people", "the keys of the server of this machine: make, list, withdraw, rotate"),
    ),
    "vector search": (
        ("model", "model", "install, check or remove the embedding model for vector search"),
        (
            "reembed",
            "review",
            "compute the vectors of all memories with the installed model; resumes if interrupted",
        ),
    ),
    "this installation": (
        ("status", "installation", "show what is installed, and how much is remembered"),
        ("doctor", "installation", "find problems, and say what to do about them"),
        ("on", "switches", "enable it again"),
        ("off", "switches", "disable Keepmum: no tools, no hooks, no briefing"),
        ("install", "installation", "install Keepmum in the coding agents on this machine"),
        ("upgrade", "installation", "install a newer version, or go back to the one before"),
        ("uninstall", "installation", "undo what `install` did; memories stay"),
        ("completion", "completion", "print a script that completes commands in bash, zsh or fish"),
    ),
    "started by clients": (
        ("mcp", "hook", "run the MCP server on standard input and output (started by clients)"),
        ("hook", "hook", "run one hook (started by clients)"),
    ),
}
COMMANDS = {name: says for group in _GROUPS.values() for name, _, says in group}
"""What each command does, by name."""
_MODULES = {name: module for group in _GROUPS.values() for name, module, _ in group}

ALIASES = {
    alias: command
    for command, aliases in {
        "remember": "add save store",
        "recall": "search find list ls",
        "load": "show get",
        "forget": "rm delete remove",
        "status": "info",
    }.items()
    for alias in aliases.split()
}
"""Names from other programs that do the same here, without options of their own."""

_CALLED_ELSEWHERE = {
    word: command
    for command, words in {
        "remember": "create insert new note put set write",
        "recall": "ask grep log query",
        "load": "cat open print read view",
        "load --history": "diff history revisions versions",
        "forget": "clean clear del discard drop purge",
        "forget --undo": "recover restore revert undelete undo",
        "resume": "brief briefing context continue summary",
        "review": "dedupe duplicates stale",
        "dashboard": "browser gui page ui web",
        "scan": "check lint secrets",
        "audit": "redact verify",
        "export": "backup dump",
        "import": "ingest",
        "status": "config settings stats project",
        "doctor": "diagnose health test",
        "model status": "embed embedding embeddings",
        "backend list": "backends remote server stores use",
        "outbox": "push queue sync",
        "login": "auth key",
        "on": "enable start",
        "off": "disable pause stop",
        "install": "init setup",
        "upgrade": "update",
    }.items()
    for word in words.split()
}
_INDENT = 13
_USAGE = "usage: keepmum COMMAND ...\n"
ABOUT = "One memory that coding agents share and that never keeps a secret."
_OPTIONS = (("-h, --help", "show this help message and exit"), ("--version", "show the version and exit"))
_LONGEST_WORD = 20  # that is repeated in a message


def answer(argv: Sequence[str]) -> int | None:
    """Print what needs no parser, and return the exit status; None for a command that must be run."""
    first = argv[0] if argv else "--help"
    if first in {"--version", "version"} and len(argv) <= 1:
        from keepmum.core.version import VERSION

        sys.stdout.write(f"keepmum {VERSION}\n")
        return 0
    if first in {"-h", "--help", "help"} and len(argv) <= 1:
        sys.stdout.write(overview())
        return 0
    if _is_plain(first) and first not in COMMANDS and first not in ALIASES and first != "help":
        sys.stderr.write(f"{_USAGE}keepmum: error: {suggestion(first)}\n")
        return 2
    return None


def module_of(command: str) -> str:
    """The full name of the module that registers a command."""
    return f"keepmum.cli.{_MODULES[command]}"


def overview() -> str:
    """The help of the program: all commands under their headings, wrapped to the terminal's width."""
    width = _width() - 2
    lines = [_USAGE, *_wrapped(ABOUT, width), "", "options:", *(f"  {name:<11}{says}" for name, says in _OPTIONS)]
    for heading, group in _GROUPS.items():
        lines += ["", f"{heading}:"]
        for name, _, says in group:
            first, *more = _wrapped(says, max(width - _INDENT, _INDENT))
            lines += [f"  {name:<11}{first}", *(" " * _INDENT + line for line in more)]
    return "\n".join([*lines, "", "`keepmum COMMAND --help` shows the options of a command.", ""])


def suggestion(word: str) -> str:
    """The message for an unknown command, with the one that does what other programs call so, or the closest match."""
    near = ALIASES.get(word.lower()) or _CALLED_ELSEWHERE.get(word.lower()) or _closest(word)
    instead = f"did you mean `keepmum {near}`?" if near else "`keepmum help` lists them"
    return f"there is no command {word!r}; {instead}"


def _closest(word: str) -> str:
    """The command whose name differs least from `word`; empty when every one differs in more than a third."""
    name = min((*COMMANDS, *ALIASES), key=lambda name: _distance(word.lower(), name))
    is_close = _distance(word.lower(), name) * 3 <= max(len(word), len(name))
    return ALIASES.get(name, name) if is_close else ""


def _distance(one: str, other: str) -> int:
    """How many letters must be inserted, removed, changed or swapped with the next to get from `one` to `other`."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        older, before, row = before, row, [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != wanted))
            if older and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _is_plain(word: str) -> bool:
    """Whether a word can be repeated without a scan: short, of lower-case letters and single hyphens only."""
    return len(word) <= _LONGEST_WORD and all(part.isalpha() and part.islower() for part in word.split("-"))


def _width() -> int:
    """The width of the terminal in characters."""
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal() and int(chosen):
        return int(chosen)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80 if sys.__stdout__ else 80
    except (OSError, ValueError):
        return 80


def _wrapped(text: str, width: int) -> Iterator[str]:
    """The lines of a text, broken at spaces."""
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}".lstrip()
    yield line
