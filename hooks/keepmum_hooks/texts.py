"""Every text in the input of a tool, with the name of its place, whatever the fields are called.

JSON that a text carries is looked into as well, since its escapes can hide a secret from a scan of the text itself.
"""

from __future__ import annotations

from keepmum_hooks.payload import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any, Callable, Optional

    Steps = Optional[tuple["Steps", str, int]]  # the way to a text from its end: steps above, name, number

__all__ = ["Text", "texts"]

_LEVELS = 8  # of JSON within JSON; each doubles the backslashes, so that an honest text has two at most
_LONGEST_NAME = 32
_LONGEST_NAMED = 512  # characters of a string that its name may govern; longer ones tell for themselves
_NO_CREDENTIAL = "key"  # what most memory servers call the name of a memory


class Text:
    """One text to be scanned; `start` is where the value begins behind the name that governs it."""

    __slots__ = ("_steps", "start", "text")

    def __init__(self, text: str, start: int, steps: Steps) -> None:
        self.text = text
        self.start = start
        self._steps = steps

    def place(self, is_clean: Callable[[str], bool]) -> str:
        """Where the text stands, as in `entities[0].notes`; a name that is not clean is given by its number."""
        words: list[str] = []
        steps = self._steps
        while steps is not None:
            steps, name, number = steps
            if not name:
                words.append(f"[{number}]")
            elif name == _INSIDE:
                words.append(" (JSON)")
            else:
                words.append(f".{name}" if _is_plain(name) and is_clean(name) else f".(field {number + 1})")
        return "".join(reversed(words)).lstrip(".")

    def line(self, at: int) -> int:
        """The line of the value, from 1, that the character at `at` stands on."""
        return self.text.count("\n", self.start, max(at, self.start)) + 1


_INSIDE = "\0"  # the step from a text to the JSON that it carries
_NAMELESS = "\1"  # a field whose name is empty, as the places in a list have none


def texts(value: Mapping[str, Any], leave_out: Collection[str] = ()) -> Iterator[Text]:
    """Every text in the value: names and strings at any depth; fields named in `leave_out` are passed over.

    A short string comes twice: as it is, since a name must not excuse it, and as `name: string`, since a name like
    "password" tells what it is.
    """
    waiting: list[tuple[object, str, Steps, int]] = [(value, "", None, 0)]
    while waiting:
        one, name, steps, level = waiting.pop()
        if isinstance(one, dict):
            for number, (key, item) in enumerate(one.items()):
                if key not in leave_out:
                    below = (steps, key or _NAMELESS, number)
                    if not isinstance(item, str):
                        yield Text(key, len(key), below)
                    waiting.append((item, key, below, level))
        elif isinstance(one, list):
            waiting.extend((item, name, (steps, "", number), level) for number, item in enumerate(one))
        elif isinstance(one, str):
            yield Text(one, 0, steps)
            if name and name != _NO_CREDENTIAL and len(one) <= _LONGEST_NAMED:
                yield Text(f"{name}: {one}", len(name) + 2, steps)
            inner = loads(one) if level < _LEVELS and one.lstrip()[:1] in ("{", "[", '"') else None
            if inner is not None:
                waiting.append((inner, name, (steps, _INSIDE, 0), level + 1))


def _is_plain(name: str) -> bool:
    """Whether the name is a word or two, as fields are called; a secret has digits, or is longer."""
    return len(name) <= _LONGEST_NAME and name.isascii() and name.replace("_", "").isalpha()
