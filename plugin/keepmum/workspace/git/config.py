"""The text of a git configuration file, read by hand.

A `git` child costs more than reading the few files that matter (see `git_facts`, which asks it only when a file
includes others). Source: https://git-scm.com/docs/git-config ("Syntax"), read 2026-11-21.
"""

from __future__ import annotations

import re

__all__ = ["parse"]

# Every alternative starts with a character of its own, so that no text makes the expression go back far.
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
    """The settings of one file, in its order: `("remote.origin.url", "…")`, named as `git config --list` names them.

    Section and key are in lower case, a subsection keeps its case; a key without a value has an empty one.
    What git would refuse is passed over: half a file still says where the repository came from.
    """
    entries: list[tuple[str, str]] = []
    section = ""
    for item in _ITEM.finditer(text.removeprefix("\ufeff").replace("\r\n", "\n")):
        if item["section"]:
            section = item["section"].lower()
            if item["subsection"] is not None:
                section += "." + re.sub(r"\\(.)", r"\1", item["subsection"])
        elif item["key"] and section:
            entries.append((f"{section}.{item['key'].lower()}", _decoded(item["value"] or "")))
    return entries


def _decoded(raw: str) -> str:
    """A value without its quotes, its escapes, and the blanks outside its quotes."""
    result: list[str] = []
    kept = 0  # blanks after this length are dropped, unless something follows them
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
