"""A parser for git configuration files.

Starting `git` costs more than reading the few relevant files; `git.repository` does it only when a file includes
others. Source: https://git-scm.com/docs/git-config ("Syntax"), read 2026-11-21.
"""

from __future__ import annotations

import re

__all__ = ["parse"]

# The alternatives start with different characters, so that no text causes excessive backtracking.
_ITEM = re.compile(
    r"""
      \[ (?P<section> [A-Za-z0-9.-]+ ) (?: [ \t]+ "(?P<subsection> (?: [^"\\\n] | \\. )* )" )? \]
    | (?P<key> [A-Za-z][A-Za-z0-9-]* ) [ \t]*
      (?: = (?P<value> (?: "(?: [^"\\\n] | \\. | \\\n )*" | \\. | \\\n | [^"\\\n#;] )* ) )? [^\n]*
    | [^\n]    # a blank, or the first character of a comment
      (?: (?<= [#;] ) [^\n]* )?
    """,
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "\n": ""}


def parse(text: str) -> list[tuple[str, str]]:
    """The settings of one file, in order, with names as in `git config --list`: `("remote.origin.url", "…")`.

    Section and key are in lower case, a subsection keeps its case; a key without a value has an empty value.
    Invalid lines are skipped: a damaged file may still contain the remote.
    """
    entries: list[tuple[str, str]] = []
    section = ""
    for item in _ITEM.finditer(text.removeprefix("\ufeff").replace("\r\n", "\n")):
        if item["section"]:
            section = item["section"].lower()
            if item["subsection"] is not None:
                section += "." + re.sub(r"\\(.)", r"\1", item["subsection"])
        elif item["key"] and section:
            entries.append((f"{section}.{item['key'].lower()}", _decode(item["value"] or "")))
    return entries


def _decode(raw: str) -> str:
    """A value without quotes, escapes and trailing white space outside quotes."""
    result: list[str] = []
    kept = 0  # the length without trailing white space
    quoted = False
    characters = iter(raw.lstrip())
    for character in characters:
        if character == '"':
            quoted = not quoted
        elif character == "\\":
            following = next(characters, "")
            result.append(_ESCAPES.get(following, following))
        else:
            result.append(character)
        if quoted or not character.isspace():
            kept = len(result)
    return "".join(result[:kept])
