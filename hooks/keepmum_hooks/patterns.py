"""Patterns for files and tools, matched without the `re` and `fnmatch` modules, which would double the time of a hook.

A pattern for files is a path in which `*` stands for any characters within a part and `**` for any number of parts.
One that is neither absolute nor begins with `~/` holds in every folder. Case does not count: on macOS and Windows
`claude.md` is the same file as `CLAUDE.md`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FilePattern", "fits", "parts_of"]


class FilePattern:
    """One pattern for files; `literal`, of the last of its parts that has one, is in every path that it fits."""

    __slots__ = ("literal", "parts")

    def __init__(self, text: str, user: str) -> None:
        """Read `text`, in which `~` is the folder `user`."""
        whole = f"{user}{text[1:]}" if text.startswith("~/") else text
        parts = parts_of(whole)
        anchored = whole.startswith("/") or whole[1:2] == ":"
        self.parts = parts if anchored else ("**", *parts)
        self.literal = next(filter(None, (max(part.split("*"), key=len) for part in reversed(parts))), "")

    def fits(self, path: Sequence[str]) -> bool:
        """Whether the pattern fits the path, given by its parts in lower case."""
        return _fit(self.parts, path)


def parts_of(path: str) -> tuple[str, ...]:
    """The parts of a path in lower case; dots are resolved by name, links are not."""
    parts: list[str] = []
    for part in path.replace("\\", "/").lower().split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts)


def fits(pattern: str, name: str) -> bool:
    """Whether `pattern`, in which `*` stands for any characters, fits the whole name; case does not count."""
    first, *rest = pattern.lower().split("*")
    left = name.lower()
    if not left.startswith(first):
        return False
    if not rest:
        return left == first
    left = left[len(first) :]
    *middle, last = rest
    for piece in middle:
        place = left.find(piece)
        if place < 0:
            return False
        left = left[place + len(piece) :]
    return left.endswith(last)


def _fit(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the parts of the pattern fit all parts of the path: each place is looked at once a part."""
    places = {0}
    for part in pattern:
        if part == "**":
            places = set(range(min(places), len(path) + 1)) if places else places
        else:
            places = {place + 1 for place in places if place < len(path) and fits(part, path[place])}
    return len(path) in places
