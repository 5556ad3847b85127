"""The one door to regular expressions, each compiled when it is first used.

Most texts meet the guards of few rules, and a process that scans one text only would spend ten times as long on
compiling what it never runs. So no module of this package imports `re` by itself; and a process that can keep what
was compiled hands it to the next one (`compiled_here`, `recall`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    # What `_sre.compile` makes a pattern of: flags, code as 32-bit numbers, groups, their names, and names by group.
    Code = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]

__all__ = ["compiled", "compiled_here", "recall"]

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
_codes: dict[str, Code] = {}  # of expressions that were compiled before


def compiled(expression: str) -> re.Pattern[str]:
    """The expression as a pattern, one a process; flags are written into it, as in "(?i)…".

    It costs nothing until one of its methods is called, and no more than any pattern from then on.
    """
    known = _known.get(expression)
    if known is None:
        known = _known[expression] = _Lazy(expression)
    return known  # type: ignore[return-value]  # it has a pattern's methods, and nobody asks for more


def recall(codes: Mapping[str, Code]) -> None:
    """Take these codes instead of compiling their expressions; they are trusted to be what `codes_of` gave."""
    _codes.update(codes)


def compiled_here() -> list[str]:
    """The expressions that this process used and had to compile."""
    return [expression for expression, known in _known.items() if expression not in _codes and "match" in vars(known)]


def _compile(expression: str) -> re.Pattern[str]:
    code = _codes.get(expression)
    if code is not None:
        try:
            return restored(expression, code)
        except Exception:  # noqa: BLE001 - a private API may fail in any way; the public one decides
            del _codes[expression]
    import re

    return re.compile(expression)


def restored(expression: str, code: Code) -> re.Pattern[str]:
    """The pattern that `re.compile` gives, made of what it was compiled to before.

    Raises: whatever the interpreter raises when it does not take the code.
    """
    import _sre  # type: ignore[import-not-found]  # private, no stub

    flags, numbers, groups, names, by_group = code
    pattern: re.Pattern[str] = _sre.compile(
        expression, flags, memoryview(numbers).cast("I").tolist(), groups, names, by_group
    )
    return pattern
