"""Regular expressions that are compiled on first use, or loaded from codes that an earlier process compiled.

A text needs few of the expressions, and compiling all would take ten times as long as scanning it. So no other module
of this package imports `re`. A process with a cache stores its codes (`newly_compiled`), the next loads them
(`load_codes`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    # Arguments of `_sre.compile`: flags, code as 32-bit numbers, number of groups, their names, and names by group.
    Code = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]

__all__ = ["compiled", "load_codes", "newly_compiled"]

_METHODS = ("findall", "finditer", "fullmatch", "match", "search", "sub")


class _LazyPattern:
    """A pattern that is compiled at the first call of a method."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __getattr__(self, name: str) -> object:
        made = _compile(self.pattern)
        self.__dict__.update((method, getattr(made, method)) for method in _METHODS)  # later calls bypass this method
        return getattr(made, name)


_patterns: dict[str, _LazyPattern] = {}
_codes: dict[str, Code] = {}  # loaded ones, by expression


def compiled(expression: str) -> re.Pattern[str]:
    """The pattern of `expression`, the same object at every call; flags are written as in "(?i)…".

    Costs nothing until one of its methods is called, and as much as any pattern from then on.
    """
    pattern = _patterns.get(expression)
    if pattern is None:
        pattern = _patterns[expression] = _LazyPattern(expression)
    return pattern  # type: ignore[return-value]  # it has the methods of a pattern that are used here


def load_codes(codes: Mapping[str, Code]) -> None:
    """Use `codes` instead of compiling their expressions; the caller vouches that `codes_of` returned them."""
    _codes.update(codes)


def newly_compiled() -> list[str]:
    """The expressions that this process used and had to compile."""
    return [one for one, pattern in _patterns.items() if one not in _codes and "match" in vars(pattern)]


def _compile(expression: str) -> re.Pattern[str]:
    code = _codes.get(expression)
    if code is not None:
        try:
            return restored(expression, code)
        except Exception:  # noqa: BLE001 - a private API may fail in any way; then the public one is used
            del _codes[expression]
    import re

    return re.compile(expression)


def restored(expression: str, code: Code) -> re.Pattern[str]:
    """The pattern of `expression`, made from `code`; equal to the result of `re.compile`.

    Raises: whatever the interpreter raises for a code that it rejects.
    """
    import _sre  # type: ignore[import-not-found]  # private, no stub

    flags, numbers, groups, names, by_group = code
    pattern: re.Pattern[str] = _sre.compile(
        expression, flags, memoryview(numbers).cast("I").tolist(), groups, names, by_group
    )
    return pattern
