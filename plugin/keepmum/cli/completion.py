"""`keepmum completion SHELL`: a script that completes commands and options in bash, zsh or fish.

The script holds all words, so that completing starts no process. It is rendered from the parser of all commands.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from keepmum.cli import console
from keepmum.cli.commands import ALIASES

__all__ = ["SHELLS", "register", "script"]


class _Word(NamedTuple):
    text: str
    says: str


class _Level(NamedTuple):
    """What may follow some words of a command line."""

    path: tuple[str, ...]  # `("review", "do")`; empty for the first word
    words: tuple[_Word, ...]  # commands and choices
    options: tuple[_Word, ...]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    command = commands.add_parser("completion")
    command.add_argument("shell", choices=sorted(SHELLS), metavar="SHELL", help=f"one of {', '.join(sorted(SHELLS))}")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    console.out(script(arguments.shell))
    return 0


def script(shell: str) -> str:
    """The completion script for a shell, without a final line break."""
    from keepmum.cli.parser import build_parser  # which imports every command

    return "\n".join(SHELLS[shell](list(_levels((), build_parser()))))


def _levels(path: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[_Level]:
    words: list[_Word] = []
    options: list[_Word] = []
    below: list[_Level] = []
    for action in parser._actions:  # noqa: SLF001 - argparse shows them in no other way
        says = "" if action.help in {None, argparse.SUPPRESS} else " ".join(str(action.help).split())
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            described = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001 - as above
            for name, command in action.choices.items():
                words.append(_Word(name, described.get(name, "")))
                below += _levels((*path, name), command)
        elif action.option_strings:
            options += [_Word(name, says) for name in action.option_strings if name.startswith("--")]
        elif action.choices:
            words += [_Word(str(choice), says) for choice in action.choices]
    if not path:
        words += [_Word(alias, f"the same as {command}") for alias, command in ALIASES.items()]
        options.append(_Word("--version", "show the version and exit"))
        for alias, command in ALIASES.items():
            below += [level._replace(path=(alias,)) for level in below if level.path == (command,)]
    yield _Level(path, tuple(words), tuple(options))
    yield from below


def _bash(levels: Iterable[_Level]) -> Iterator[str]:
    yield '# bash completion of keepmum: eval "$(keepmum completion bash)"'
    yield "_keepmum() {"
    yield "    local current=${COMP_WORDS[COMP_CWORD]} path= words= word"
    yield '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield '        case $word in -*) ;; *) path="$path $word" ;; esac'
    yield "    done"
    yield '    case "$path " in'
    for level in sorted(levels, key=lambda level: -len(level.path)):
        pattern = "".join(f" {name}" for name in level.path)
        words = " ".join(word.text for word in (*level.words, *level.options))
        # `*` after a command: its arguments may be there already. The first word is completed once.
        yield f"        '{pattern} '{'*' if level.path else ''}) words='{words}' ;;"
    yield "    esac"
    yield '    COMPREPLY=($(compgen -W "$words" -- "$current"))'
    yield "}"
    yield "complete -o default -F _keepmum keepmum"


def _zsh(levels: Iterable[_Level]) -> Iterator[str]:
    yield "#compdef keepmum"
    yield "# zsh completion of keepmum: keepmum completion zsh > a folder of $fpath, as _keepmum"
    yield "_keepmum() {"
    yield "    local path_= word"
    yield "    local -a words_ options_"
    yield '    for word in ${words[2,CURRENT-1]}; do [[ $word == -* ]] || path_+=" $word"; done'
    yield '    case "$path_ " in'
    for level in sorted(levels, key=lambda level: -len(level.path)):
        pattern = "".join(f" {name}" for name in level.path)
        words = " ".join(_zsh_word(word) for word in level.words)
        options = " ".join(_zsh_word(word) for word in level.options)
        yield f"        '{pattern} '{'*' if level.path else ''}) words_=({words}); options_=({options}) ;;"
    yield "    esac"
    yield "    if [[ ${words[CURRENT]} == -* ]]; then _describe option options_; else"
    yield "        (( $#words_ )) && _describe word words_"
    yield "        _files"
    yield "    fi"
    yield "}"
    yield '[[ $funcstack[1] == _keepmum ]] && _keepmum "$@" || compdef _keepmum keepmum'


def _zsh_word(word: _Word) -> str:
    escaped = word.text.replace(":", "\\:")
    return _quoted(f"{escaped}:{word.says}")


def _fish(levels: Iterable[_Level]) -> Iterator[str]:
    yield "# fish completion of keepmum: keepmum completion fish > ~/.config/fish/completions/keepmum.fish"
    for level in levels:
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in level.path)
        when = _quoted(seen or "__fish_use_subcommand")
        for word in level.words:
            yield f"complete -c keepmum -n {when} -a {_quoted(word.text)} -d {_quoted(word.says)}"
        for option in level.options:
            yield f"complete -c keepmum -n {when} -l {option.text.removeprefix('--')} -d {_quoted(option.says)}"


def _quoted(text: str) -> str:
    """A text in single quotes, as all three shells read it; an apostrophe becomes a typographic one."""
    return "'" + text.replace("'", "\u2019").replace("\\", "\\\\") + "'"


SHELLS: dict[str, Callable[[list[_Level]], Iterator[str]]] = {"bash": _bash, "fish": _fish, "zsh": _zsh}
"""The shells, each with what renders its script."""
