"""The review queue in a terminal: one item at a time, one key for each decision."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Sequence
from contextlib import suppress

from keepmum.cli import console
from keepmum.cli.keyboard import Keyboard
from keepmum.core import memory_text
from keepmum.core.errors import KeepmumError, NotFound
from keepmum.core.framing import inline, labelled, quoted
from keepmum.core.memory import Memory
from keepmum.core.review import Decision, Group
from keepmum.service import Choice, MemoryService, ReviewItem

__all__ = ["run"]

_KEYS: dict[str, Decision] = {
    "a": "accept",
    "v": "still-true", "c": "confirm", "w": "wrong", "e": "edit", "m": "merge", "p": "pin", "f": "forget", "s": "later",
    "b": "both", "o": "put-back",
}  # fmt: skip
_MEANINGS = {
    "a": "accept: this file counts as the team's until it changes",
    "v": "still true",
    "c": "confirm: it is true, and yours",
    "w": "wrong: to the trash; who writes it again learns it",
    "e": "edit in $EDITOR",
    "m": "merge: the first stays, the second is superseded",
    "o": "the older value is right: put it back",
    "b": "both are true",
    "1": "the first is meant",
    "2": "the second is meant",
    "p": "pin: it never fades",
    "l": "the whole text, if it is long",
    "f": "forget: to the trash for 30 days",
    "s": "later: when it has changed",
    "n": "next, without a decision",
    "u": "undo the last decision",
    "q": "quit",
    "?": "this help",
}
_SHORT = {
    **_KEYS, "1": "first", "2": "second", "n": "next", "u": "undo", "q": "quit", "?": "help",
}  # fmt: skip
_PAGE = 50
_MIN_WIDTH = 20  # columns
_SHOWN = 20  # lines of a text, before it is asked for


def run(memory: MemoryService, groups: Sequence[Group]) -> tuple[int, str]:
    """Go through the queue until it ends or the person quits.

    Returns how many items were decided, and what undoes the last decision.
    """
    with Keyboard() as keyboard:
        session = _Session(memory, groups, keyboard)
        with suppress(EOFError):
            session.run()
        return session.decided, session.last


class _Session:
    def __init__(self, memory: MemoryService, groups: Sequence[Group], keyboard: Keyboard) -> None:
        self._memory = memory
        self._groups = groups
        self._keyboard = keyboard
        self._undo: list[tuple[ReviewItem, str]] = []
        self.decided = 0

    def run(self) -> None:
        """Show item after item; the queue is read again after each page."""
        cursor, shown = "", False
        while True:
            page = self._memory.review(groups=self._groups, limit=_PAGE, cursor=cursor)
            total = sum(count for group, count in page.counts.items() if not self._groups or group in self._groups)
            for number, item in enumerate(page.items):
                if self._undo and not self._is_left(item):
                    continue
                shown = True
                self._show(item, total - number)
                self._ask(item)
            cursor = page.cursor
            if not cursor:
                break
        _say("Nothing is left to review." if shown else "Nothing to review.")

    @property
    def last(self) -> str:
        """What undoes the last decision; empty without one."""
        return self._undo[-1][1] if self._undo else ""

    def _is_left(self, item: ReviewItem) -> bool:
        """Whether an item is still in the queue, after decisions about others."""
        try:
            self._memory.review_item(item.id)
        except NotFound:
            return False
        return True

    def _ask(self, item: ReviewItem) -> None:
        """Wait for keys until the item is decided or passed over.

        Raises: EOFError when the person quits.
        """
        meant = item.memories[0]
        keys = [key for key, decision in _KEYS.items() if decision in item.actions]
        extra = ["1", "2"] if len(item.memories) > 1 else []
        offered = [*keys, *extra, "n", *(["u"] if self._undo else []), "q", "?"]
        _say(" ".join(f"[{key}]{_SHORT[key]}" for key in offered))
        while True:
            key = self._keyboard.read()
            if key in {"q", ""}:
                raise EOFError
            if key == "n":
                return
            if key in extra:
                meant = item.memories[int(key) - 1]
                _say(f"Meant is the {'first' if key == '1' else 'second'}: {inline(meant.title)}")
            elif key == "u":
                self._revert()
            elif key == "?":
                self._help([*keys, *extra, "l", "n", "u", "q", "?"])
            elif key == "l":
                _say(quoted(meant.text), "> ")
            elif key in keys and self._decide(item, _KEYS[key], meant):
                return

    def _decide(self, item: ReviewItem, decision: Decision, meant: Memory) -> bool:
        """Carry out a decision; False when it was refused, or the person thought better of it."""
        choice = Choice(decision, memory=meant.id)
        try:
            if decision == "wrong":
                with self._keyboard.released():
                    choice = choice._replace(reason=_line("Why is it wrong? (Enter for no reason) "))
            elif decision == "edit":
                with self._keyboard.released():
                    text = _edited(meant.text)
                if text is None:
                    _say("Nothing was changed.")
                    return False
                choice = choice._replace(text=text)
            done = self._memory.decide(item.id, choice)
        except KeepmumError as error:
            _say(str(error))
            return False
        self._undo.append((item, done.undo))
        self.decided += 1
        waits = f"; queued, {done.queued} in the queue" if done.queued else ""
        _say(f"Decided: {decision}{waits}. [u] undoes it.")
        return True

    def _revert(self) -> None:
        if not self._undo:
            _say("There is nothing to undo.")
            return
        item, token = self._undo.pop()
        try:
            self._memory.undo_decision(token)
        except KeepmumError as error:
            _say(str(error))
            return
        self.decided -= 1
        _say(f"Undone: {inline(item.memories[0].title)}. It comes again with the next `keepmum review`.")

    @staticmethod
    def _show(item: ReviewItem, left: int) -> None:
        _say("")
        _say(f"{item.group}, {left:,} left. {item.reason}")
        for number, memory in enumerate(item.memories, start=1):
            label = f"{number}. " if len(item.memories) > 1 else ""
            _say(f"{label}{memory_text.index_line(memory)[2:]}")
            lines = _fitted(quoted(memory.text), "> ")
            for line in lines[:_SHOWN]:
                console.out(line)
            if len(lines) > _SHOWN:
                _say(f"({len(lines) - _SHOWN:,} more lines: [l] shows the whole text)")
            if memory.why:
                _say(labelled("Why", memory.why))

    @staticmethod
    def _help(keys: Sequence[str]) -> None:
        for key in keys:
            _say(f"{key}  {_MEANINGS[key]}", "   ")


def _say(text: str, indent: str = "  ") -> None:
    """Print a text in lines that fit the terminal."""
    for line in _fitted(text, indent):
        console.out(line)


def _fitted(text: str, indent: str) -> list[str]:
    """The lines of a text, wrapped to the width of the terminal."""
    width = max(_MIN_WIDTH, shutil.get_terminal_size().columns - 1)
    return [
        part
        for line in text.split("\n")
        for part in textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
    ]


def _line(question: str) -> str:
    """A line that the person types; empty at the end of the input."""
    try:
        return input(question).strip()
    except EOFError:
        return ""


def _edited(text: str) -> str | None:
    """The text after the person edited it; None when it is empty, unchanged, or no editor could be run."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    with tempfile.TemporaryDirectory(prefix="keepmum-") as folder:
        path = os.path.join(folder, "memory.md")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        try:
            status = subprocess.run([*shlex.split(editor), path], check=False).returncode  # the user's own choice
        except (OSError, ValueError) as error:
            _say(f"{inline(editor)} cannot be run ({type(error).__name__}); set EDITOR to your editor")
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            edited = file.read()
    if status or not edited.strip() or edited.strip() == text.strip():
        return None
    return edited.strip("\n")
