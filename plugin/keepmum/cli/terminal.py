"""Output for people at a terminal: colours, lines that fit, and a pager. In a pipe everything stays plain text.

The standard library is enough for three styles and a wrapped text; rich costs 60 ms of imports for each command.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from keepmum.core import ids, memory_text
from keepmum.core.framing import inline
from keepmum.core.memory import Match, Memory
from keepmum.workspace.entry import trust_of_terminal

__all__ = ["cards", "has_colour", "is_for_person", "page", "styled", "wrapped"]

Style = Literal["bold", "dim", "yellow", "red", "green"]
_CODES: dict[Style, str] = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_WIDEST = 100  # columns of a text; longer lines are hard to read
_LINES = 8  # of a text in a list
_PAGER = "less -FRX"  # ends at once when everything fits


def is_for_person() -> bool:
    """Whether a person at a terminal reads standard output; agents open terminals too, and need the plain form."""
    return trust_of_terminal(os.environ) == "person"


def has_colour(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether output is coloured: on a terminal that can, unless NO_COLOR is set; anywhere with CLICOLOR_FORCE.

    Source: https://no-color.org and https://bixense.com/clicolors, read 2026-11-22.
    """
    if environ.get("NO_COLOR"):
        return False
    if environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return sys.stdout.isatty() and environ.get("TERM") != "dumb" and environ.get("CLICOLOR") != "0"


def styled(text: str, style: Style) -> str:
    """A text in a style, where output is coloured."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if has_colour() and text else text


def wrapped(text: str, indent: str = "") -> list[str]:
    """The lines of a text, each no wider than the terminal; its own line breaks stay."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    fill = textwrap.TextWrapper(width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    return [line for part in text.splitlines() for line in (fill.wrap(part) or [""])]


def cards(
    found: Sequence[Match], projects: Mapping[str, str], remarks: Mapping[str, str], *, explain: bool = False
) -> list[str]:
    """Each match as a person reads it: title, facts, and the text or its beginning.

    Args:
        found: what is shown together.
        projects: the names of projects other than the current one, by their ids.
        remarks: by memory id, a phrase to warn with, such as that the code it cites has changed.
        explain: also say why each matched.
    """
    short = ids.shortened(match.memory.id for match in found)
    return [
        "\n".join(_card(match, short[match.memory.id], projects, remarks, explain=explain)) + "\n" for match in found
    ]


def _card(
    match: Match, name: str, projects: Mapping[str, str], remarks: Mapping[str, str], *, explain: bool
) -> Iterable[str]:
    memory = match.memory
    title, *more = wrapped(inline(memory.title))
    yield styled(title, "bold")
    yield from (styled(line, "bold") for line in more)
    facts = [name, memory.kind, memory_text.provenance(memory), *_marks(memory, projects)]
    yield from (styled(line, "dim") for line in wrapped(" · ".join(facts), "  "))
    if memory.id in remarks:
        yield from (styled(line, "yellow") for line in wrapped(inline(remarks[memory.id]), "  "))
    text = _beyond_title(memory)
    lines = wrapped(text, "  ")
    yield from lines[:_LINES]
    if len(lines) > _LINES:
        yield styled(f"  … {len(lines) - _LINES} more lines: keepmum load {name}", "dim")
    if memory.why:
        yield from wrapped(f"why: {inline(memory.why)}", "  ")
    if match.previous is not None:
        yield from (styled(line, "dim") for line in wrapped(f"before: {inline(match.previous.text)}", "  ")[:_LINES])
    if explain and match.why:
        yield from (styled(line, "dim") for line in wrapped(match.why, "  "))


def _marks(memory: Memory, projects: Mapping[str, str]) -> Iterable[str]:
    yield from ["pinned"] if memory.pinned else []
    yield from [f"key {inline(memory.key)}"] if memory.key else []
    yield from [memory.scope] if memory.scope != "project" else []
    if memory.project and memory.project in projects:
        yield f"in {inline(projects[memory.project])}"
    yield from [memory.status] if memory.status != "active" else []
    yield from [" ".join(f"#{inline(tag)}" for tag in memory.tags)] if memory.tags else []


def _beyond_title(memory: Memory) -> str:
    """The text as a terminal may show it, without control characters, and without a first line that is the title."""
    lines = [inline(line) for line in memory.text.strip().splitlines()]
    if lines and lines[0].lstrip("# ").strip() == inline(memory.title).strip():
        lines = lines[1:]
    return "\n".join(lines).strip("\n")


def page(lines: Iterable[str], environ: Mapping[str, str] = os.environ) -> None:
    """Print lines, through the user's pager where they do not fit on the terminal.

    KEEPMUM_PAGER or PAGER names another pager than less; empty or `cat` for none.
    """
    text = "".join(f"{line}\n" for line in lines)
    pager = _pager(environ)
    fits = text.count("\n") < shutil.get_terminal_size().lines
    if fits or not is_for_person() or pager in ([], ["cat"]) or shutil.which(pager[0]) is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    with subprocess.Popen(pager, stdin=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            process.communicate(text)
        except (BrokenPipeError, KeyboardInterrupt):  # the person has seen enough
            process.wait()


def _pager(environ: Mapping[str, str]) -> list[str]:
    """The command of the pager; empty for none, and for one with a quotation that does not end."""
    chosen = environ.get("KEEPMUM_PAGER", environ.get("PAGER", _PAGER))
    try:
        return shlex.split(chosen if chosen != "less" else _PAGER)
    except ValueError:
        return []
