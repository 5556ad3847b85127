"""Compiles expressions to codes that another process of the same interpreter can load.

Uses private parts of the standard library. So each code is checked: an expression whose code does not give the pattern
of `re.compile` has none.
"""

from __future__ import annotations

import re
import sys
from array import array

from keepmum_scanner.expressions import restored

if sys.version_info >= (3, 11):
    from re import _compiler as compiler  # type: ignore[attr-defined,unused-ignore]  # private, no stub
    from re import _parser as parser  # type: ignore[attr-defined,unused-ignore]  # likewise; other packages import it too
else:
    import sre_compile as compiler
    import sre_parse as parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from keepmum_scanner.expressions import Code

__all__ = ["codes_of"]


def codes_of(expressions: Iterable[str]) -> dict[str, Code]:
    """The code of each expression that has one, valid for this version of the interpreter only."""
    found = {}
    for expression in expressions:
        try:
            code = _code(expression)
            if restored(expression, code) == re.compile(expression):  # compares codes, not source text
                found[expression] = code
        except Exception:  # noqa: BLE001, S112, PERF203 - a private API may fail in any way; then the expression has no code
            continue
    return found


def _code(expression: str) -> Code:
    tree = parser.parse(expression)
    names = dict(tree.state.groupdict)
    by_group: list[str | None] = [None] * tree.state.groups
    for name, group in names.items():
        by_group[group] = name
    numbers = array("I", compiler._code(tree, 0))  # noqa: SLF001 - the reason for the check above
    return (tree.state.flags, numbers.tobytes(), tree.state.groups - 1, names, tuple(by_group))
