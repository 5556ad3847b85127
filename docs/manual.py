"""Render docs/keepmum.1, the manual page, from the program: `python3 docs/manual.py`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("plugin", "scanner", "hooks", "installers")]
PAGE = ROOT / "docs" / "keepmum.1"

_STATUS = (
    ("0", "done"),
    ("1", "refused or failed, with the reason on standard error; for a search, nothing was found"),
    ("2", "wrong usage"),
    ("3", "a bug; the lines that are printed contain no memory"),
    ("130", "interrupted"),
)
_VARIABLES = (
    ("KEEPMUM_HOME", "the folder of all state; default: ~/.keepmum"),
    ("KEEPMUM_PAGER, PAGER", "the pager for long output at a terminal; empty for none"),
    ("NO_COLOR", "no colours"),
    ("CLICOLOR_FORCE", "colours also in a pipe"),
)


def render() -> str:
    """The page in the form of man(7)."""
    from keepmum.cli.commands import ABOUT
    from keepmum.cli.parser import build_parser
    from keepmum.core.version import VERSION

    lines = [
        f'.TH KEEPMUM 1 "" "keepmum {VERSION}" "Keepmum"',
        ".SH NAME",
        f"keepmum \\- {_escaped(ABOUT[:1].lower() + ABOUT[1:].rstrip('.'))}",
        ".SH SYNOPSIS",
        ".B keepmum\n.I COMMAND\n[argument ...]",
        ".SH COMMANDS",
        *_below("keepmum", build_parser()),
        ".SH EXIT STATUS",
        *_terms(_STATUS),
        ".SH ENVIRONMENT",
        *_terms(_VARIABLES),
        ".SH SEE ALSO",
        "docs/reference.md lists tools and settings.",
    ]
    return "\n".join(lines) + "\n"


def _below(words: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:  # noqa: SLF001 - argparse shows them in no other way
        if not isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001 - as above
        for name, command in action.choices.items():
            yield f".SS {_escaped(f'{words} {name}')}"
            yield _escaped(helps[name])
            arguments = [each for each in command._actions if each.dest != "help" and each.help]  # noqa: SLF001 - as above
            yield from _terms((_spelled(each), " ".join(str(each.help).split())) for each in arguments)
            yield from _below(f"{words} {name}", command)


def _spelled(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    return " ".join(filter(None, (", ".join(action.option_strings), value)))


def _terms(pairs: Iterator[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Iterator[str]:
    for term, says in pairs:
        yield f".TP\n.B {_escaped(term)}\n{_escaped(says)}"


def _escaped(text: str) -> str:
    """A text that man reads as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def main(argv: list[str]) -> int:
    """Write the page, or with `--check` compare it."""
    page = render()
    if "--check" in argv:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page)
    PAGE.write_text(page, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
