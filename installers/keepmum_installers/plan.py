"""The steps of an installation as values: planned first, then shown, then executed.

A plan is made from the present state of the machine, so planning again after executing it gives an empty plan.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from keepmum_installers import files, formats
from keepmum_installers.blocks import Block, Mark, put
from keepmum_installers.errors import FileLeft, UneditableFile
from keepmum_installers.json_edit import Undo, append

__all__ = ["Change", "Command", "Item", "Link", "Plan", "Step", "add_block", "edit_keys", "own_file", "planned"]


@dataclass(frozen=True, slots=True)
class Change:
    """New content for one file."""

    path: str
    before: str | None
    """The digest of the content that the plan was made for; None when there was no file."""
    after: bytes
    why: str
    mode: int = 0o644
    undo: tuple[Undo, ...] | Mark | None = None
    """How to remove our keys or our block; None when the whole file is ours."""

    def __str__(self) -> str:
        return f"{'create' if self.before is None else 'edit'} {self.path}: {self.why}"


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the client, which writes the client's files."""

    client: str
    what: str
    """What it sets up, in one word: setting up the same thing twice is undone once."""
    program: str
    arguments: tuple[str, ...]
    why: str
    undo: tuple[str, ...]
    """The arguments of the command that undoes it; empty when there is nothing to undo."""
    settings: str
    """The settings file that the client writes; undoing restores its bytes."""
    state: tuple[str, ...] = ()
    """Files of the client's own that list what is installed; undoing restores them as well."""
    leaves: tuple[str, ...] = ()
    """Folders that the client creates and never removes, outermost first."""
    copies: tuple[str, ...] = ()
    """Folders with copies of the generated plugin, which no session reads and the client does not remove."""

    def __str__(self) -> str:
        return f"run `{os.path.basename(self.program)} {' '.join(self.arguments)}`: {self.why}"


@dataclass(frozen=True, slots=True)
class Link:
    """A new symbolic link."""

    path: str
    target: str
    why: str

    def __str__(self) -> str:
        return f"link {self.path}: {self.why}"


Step = Change | Command | Link

Item = tuple[Sequence[str], object, Sequence[object]]
"""Where a list is, what is added to it, and the older forms of that."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in their order, and lines for the user."""

    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    title: str = ""
    """The client's name; empty for steps of no client."""
    starts: str = ""
    """When the client has it: a sentence, the same in meaning for every client."""
    closing: tuple[str, ...] = ()
    """The last lines of the output: what others still have to do."""
    reads: str | None = None
    """The folder with the code that the client runs from now on."""
    problems: tuple[FileLeft, ...] = ()
    """The files that could not be edited."""


def planned(makers: Iterable[Callable[[], Step | None]], closing: tuple[str, ...] = ()) -> Plan:
    """The plan of the steps that these functions make; a file that cannot be edited does not stop the others.

    Raises: InstallError for every other problem.
    """
    steps, problems = [], []
    for make in makers:
        try:
            steps.append(make())
        except FileLeft as problem:
            problems.append(problem)
    return Plan(tuple(step for step in steps if step), closing=closing, problems=tuple(problems))


def own_file(path: str, content: str, why: str, mode: int) -> Change | None:
    """The change that gives a file of ours this content; None when it has it."""
    before, after = files.read(path), content.encode()
    return None if before == after else Change(path, files.digest(before), after, why, mode)


def edit_keys(  # noqa: PLR0913 - what to set in three forms, for every client
    path: str,
    wanted: Sequence[tuple[Sequence[str], object]],
    why: str,
    items: Sequence[Item] = (),
    secrets: Sequence[tuple[Sequence[str], str]] = (),
    *,
    comments: bool = False,
) -> Change | None:
    """The change that sets each wanted value at its key path and keeps every other byte; None when all are set.

    Each of `items` is appended to the list at its key path, or takes the place of its older form. `secrets` are set
    too, but appear in no message and no record. `comments` when the client reads JSON with comments and trailing
    commas.

    Raises: FileLeft when the file cannot be edited safely; it says what to add by hand.
    """
    before, form = files.read(path), formats.of(path, comments=comments)
    undo: list[Undo] = []
    try:
        text = original = (before or b"").decode("utf-8")
        for keys, value in wanted:
            text, step = form.merge(text, keys, value)
            undo += [step] if step else []
        for keys, item, older in items:
            text, steps = form.append(text, keys, item, older=older)
            undo += steps
        for keys, secret in secrets:
            text, step = form.merge(text, keys, secret)
            # Removing a new secret needs no value, and a replaced one must not be restored.
            undo += [replace(step, now="")] if step and step.was is None else []
    except UnicodeDecodeError:
        raise _by_hand(path, "not UTF-8 text", wanted, items, secrets) from None
    except UneditableFile as error:
        raise _by_hand(path, str(error), wanted, items, secrets) from None
    if text == original:
        return None
    return Change(path, files.digest(before), text.encode(), why, undo=tuple(undo))


def add_block(path: str, block: Block, why: str) -> Change | None:
    """The change that adds our block to the file and keeps every other byte; None when it is there.

    Raises: FileLeft when the file is not UTF-8 text.
    """
    before = files.read(path)
    try:
        text = (before or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise FileLeft(
            f"{path} was left unchanged: not UTF-8 text", f"Fix it and run this again, or add by hand:\n{block.lines}"
        ) from None
    text, mark = put(text, block)
    return None if mark is None else Change(path, files.digest(before), text.encode(), why, undo=mark)


def _by_hand(
    path: str,
    reason: str,
    wanted: Sequence[tuple[Sequence[str], object]],
    items: Sequence[Item],
    secrets: Sequence[tuple[Sequence[str], str]],
) -> FileLeft:
    masked = [(keys, "THE SERVER, A SPACE AND THE KEY") for keys, _ in secrets]
    text = formats.of(path).by_hand([*wanted, *masked])
    for keys, item, _ in items:
        text, _ = append(text, keys, item)
    return FileLeft(
        f"{path} was left unchanged: {reason}", f"Fix it and run this again, or add by hand:\n{text.rstrip()}"
    )
