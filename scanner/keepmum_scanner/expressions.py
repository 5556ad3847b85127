"""The one door to regular expressions, each compiled when it is first used.

Most texts meet the guards of few rules, and a process that scans one text only would spend ten times as long on
compiling what it never runs. So no module of this package imports `re` by itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

__all__ = ["compiled"]

_METHODS = ("findall", "finditer", "fullmatch", "match", "search", "sub")


class _Lazy:
    """An expression that becomes its pattern with the first call of a method."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __getattr__(self, name: str) -> object:
        made = _compile(self.pattern)
        self.__dict__.update((method, getattr(made, method)) for method in _METHODS)  # found there from now on
        return getattr(made, name)


_known: dict[str, _Lazy] = {}


def compiled(expression: str) -> re.Pattern[str]:
    """The expression as a pattern, one a process; flags are written into it, as in "(?i)…".

    It costs nothing until one of its methods is called, and no more than any pattern from then on.
    """
    known = _known.get(expression)
    if known is None:
        known = _known[expression] = _Lazy(expression)
    return known  # type: ignore[return-value]  # it has a pattern's methods, and nobody asks for more


def _compile(expression: str) -> re.Pattern[str]:
    import re

    return re.compile(expression)
