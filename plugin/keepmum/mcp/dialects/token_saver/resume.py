"""`smart_resume`: what a session needs to continue, within a token budget. Pure.

Each section has room of its own, so that many notes of one kind leave out no other kind. Room that a section does not
need goes to the others, the project and the current work first.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from keepmum.core import memory_text
from keepmum.core.framing import inline, word
from keepmum.core.memory import JsonValue, Memory
from keepmum.core.token_saver import text_of
from keepmum.mcp.dialects.token_saver import entry

__all__ = ["SECTIONS", "resume", "tokens"]

SECTIONS = ("project", "current", "discovered", "next", "shared")
_ALWAYS_SHOWN = ("project", "current")  # not empty while they have memories, whatever the budget and the settings
_PREFIXES = {
    "project": ("project.",),
    "current": ("current.",),
    "discovered": ("discovered.", "error.", "debug."),
    "next": ("next.", "todo."),
    "shared": ("shared.",),
}
_OTHER = "other"  # keys outside the namespaces; in the section of the project, after its own keys
_SHARES = {"project": 0.25, "current": 0.3, _OTHER: 0.1, "discovered": 0.15, "next": 0.1, "shared": 0.1}
_NOTE_ROOM = 220  # characters for the note on what was left out
_LEAST = 40  # characters of a value that is shown because its section would be empty without it
_SMALLEST = 80  # characters of a memory without its key and value
_MISSES = 20  # memories in a row that do not fit, after which no further ones are tried
_EMPTY = "There are no memories here yet. Store what later sessions need with write_memory."

_Placed = tuple[int, Memory]  # a memory with its position in the order of importance


class _Shown(NamedTuple):
    """A memory as the answer has it: twice, as JSON and as a line of the briefing."""

    group: str
    row: JsonValue
    line: str


def resume(
    memories: Sequence[Memory], budget: int, passes: Callable[[Memory], bool] = lambda _: True
) -> dict[str, JsonValue]:
    """Briefing, context and token count; at most `budget` tokens, unless the smallest complete answer is larger.

    `memories` are sorted by importance. Those that fail `passes` are shown only where the section of the project or of
    the current work would be empty without them. `left_out` counts the others that are not shown; the briefing says of
    which sections they are.
    """
    groups: dict[str, list[_Placed]] = {name: [] for name in _SHARES}
    hidden: dict[str, list[_Placed]] = {name: [] for name in _SHARES}
    for placed in enumerate(memories):
        (groups if passes(placed[1]) else hidden)[_group(placed[1])].append(placed)
    selection = _Selection(4 * budget - len(_json(_answer({}, "", 0))) - _NOTE_ROOM)
    for name, share in _SHARES.items():
        selection.fill(groups[name], int(share * selection.size))
        if name in _ALWAYS_SHOWN:
            every = [placed for source in (groups, hidden) for of in _groups_of(name) for placed in source[of]]
            selection.show_one(every)
    for name in SECTIONS:
        selection.show_one([placed for of in _groups_of(name) for placed in groups[of]], selection.left)
    for name in _ALWAYS_SHOWN:
        selection.fill(groups[name], selection.left)
    selection.fill(sorted(itertools.chain(*groups.values())), selection.left)
    left_out = Counter(_section(name) for name, those in groups.items() for at, _ in those if at not in selection.shown)
    omitted = sum(at not in selection.shown for those in hidden.values() for at, _ in those)
    return _answer(selection.shown, _note(left_out, omitted), left_out.total())


def tokens(text: str) -> int:
    """Estimated tokens of a text: four characters each, rounded up."""
    return -(-len(text) // 4)


class _Selection:
    """The memories that are shown, by position, and how many characters are left."""

    def __init__(self, size: int) -> None:
        self.size = max(0, size)
        self.left = self.size
        self.shown: dict[int, _Shown] = {}

    def fill(self, placed: Iterable[_Placed], room: int) -> None:
        """Show the memories that fit into `room` characters together; values that do not fit are cut."""
        room, misses = min(room, self.left), 0
        for at, memory in placed:
            if room < _SMALLEST or misses == _MISSES:
                return
            if at in self.shown or _least_cost(memory) > room:
                continue
            for length in (None, entry.SHORT):
                if length is None and len(memory.text) > room:
                    continue
                shown = _shown(memory, length)
                if (cost := _cost(shown)) <= room:
                    self.shown[at] = shown
                    self.left -= cost
                    room -= cost
                    misses = 0
                    break
            else:
                misses += 1

    def show_one(self, placed: Sequence[_Placed], room: int | None = None) -> None:
        """Show the first of these memories in its shortest form, if none is shown and it fits into `room`."""
        if not placed or any(at in self.shown for at, _ in placed):
            return
        at, memory = placed[0]
        shown = _shown(memory, _LEAST)
        if room is None or _cost(shown) <= room:
            self.shown[at] = shown
            self.left -= _cost(shown)


def _answer(shown: dict[int, _Shown], note: str, left_out: int) -> dict[str, JsonValue]:
    ordered = sorted(shown.items(), key=lambda item: (item[1].group == _OTHER, item[0]))
    by_section = {section: [one for _, one in ordered if _section(one.group) == section] for section in SECTIONS}
    blocks = [
        "\n".join([f"{name.capitalize()}:", *(one.line for one in those)])
        for name, those in by_section.items()
        if those
    ]
    answer: dict[str, JsonValue] = {
        "briefing": "\n".join(filter(None, [*blocks, note])) or _EMPTY,
        "context": {section: [one.row for one in those] for section, those in by_section.items()},
        "token_count": 0,
        "left_out": left_out,
    }
    # The count itself has digits, too; six are room for any.
    return {**answer, "token_count": tokens(_json(answer) + "00000")}


def _note(left_out: Counter[str], omitted: int) -> str:
    """What the answer does not show, and how to read it; "" for nothing."""
    parts = []
    if left_out:
        counts = ", ".join(f"{section} {left_out[section]}" for section in SECTIONS if left_out[section])
        parts.append(f"Left out for lack of room: {counts}; read_memory with a pattern such as current.* has them.")
    if omitted:
        parts.append(f"Not shown for their importance or verbosity: {omitted}; `verbose` includes them.")
    return " ".join(parts)


def _group(memory: Memory) -> str:
    key = memory.key or ""
    named = next((section for section, prefixes in _PREFIXES.items() if key.startswith(prefixes)), None)
    return named or ("shared" if memory.scope == "shared" else _OTHER)


def _section(group: str) -> str:
    return "project" if group == _OTHER else group


def _groups_of(section: str) -> list[str]:
    return [group for group in _SHARES if _section(group) == section]


def _shown(memory: Memory, length: int | None) -> _Shown:
    """A memory, reduced to what a session needs; with `length` its value is cut and large tags left out."""
    value, text = entry.value(memory), " ".join(text_of(entry.value(memory)).split())
    row: dict[str, JsonValue] = {"key": memory.key, "value": value, "scope": memory.scope, "tags": list(memory.tags)}
    if length is not None:
        row["value"] = entry.shortened(value, length)
        if len(_json(row["tags"])) > length:
            row["tags"] = []
        if row["value"] != value or len(memory.tags) != len(row["tags"]):  # type: ignore[arg-type]  # a list
            row["truncated"] = True
    most = min(length or entry.SHORT, entry.SHORT)
    by = f"{word(memory.updated_by)} {memory_text.day(memory.updated_at)}"
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return _Shown(_group(memory), row, f"- {inline(memory.key or memory.title)}: {inline(cut)} ({by})")


def _least_cost(memory: Memory) -> int:
    """What a memory costs at least, to skip those that cannot fit without rendering them."""
    return _SMALLEST + 2 * len(memory.key or "") + min(len(memory.text), entry.SHORT)


def _cost(shown: _Shown) -> int:
    return len(_json(shown.row)) + len(_json(shown.line)) + 4


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
