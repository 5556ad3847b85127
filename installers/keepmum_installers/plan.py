"""What is to be done, as values: planned first, shown, then carried out.

A plan is made from what the machine looks like now, so planning again after it was carried out gives an empty one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from keepmum_installers import files, formats
from keepmum_installers.blocks import Block, Mark, put
from keepmum_installers.errors import InstallError, NotPlainJson
from keepmum_installers.merge import Undo, append

__all__ = ["Call", "Change", "Link", "Plan", "Step", "add_block", "edit_keys", "own_file"]


@dataclass(frozen=True, slots=True)
class Change:
    """One file that gets another content."""

    path: str
    before: str | None
    """The digest of the content that the plan was made for; None when there was no file."""
    after: bytes
    why: str
    mode: int = 0o644
    undo: tuple[Undo, ...] | Mark | None = None
    """How to take our keys or our block out again; None when the whole file is ours."""

    def __str__(self) -> str:
        return f"{'create' if self.before is None else 'edit'} {self.path}: {self.why}"


@dataclass(frozen=True, slots=True)
class Call:
    """One command of the client, which writes the client's own files."""

    client: str
    what: str
    """What it sets up, one word: the same thing set up twice is undone once."""
    program: str
    arguments: tuple[str, ...]
    why: str
    undo: tuple[str, ...]
    """The arguments of the command that undoes it; empty when it changed nothing that has to be undone."""
    settings: str
    """The file that the client writes settings to; it gets its bytes back when everything is undone."""
    leaves: tuple[str, ...] = ()
    """Folders that the client makes and does not take away again, outer ones first."""

    def __str__(self) -> str:
        return f"run `{os.path.basename(self.program)} {' '.join(self.arguments)}`: {self.why}"


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link where nothing is yet."""

    path: str
    target: str
    why: str

    def __str__(self) -> str:
        return f"link {self.path}: {self.why}"


Step = Change | Call | Link


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in their order, and what the user should be told besides."""

    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    """What stands at the very end: what others still have to do."""


def own_file(path: str, content: str, why: str, mode: int) -> Change | None:
    """The change that makes a file of our own hold content; None when it does."""
    before, after = files.read(path), content.encode()
    return None if before == after else Change(path, files.digest(before), after, why, mode)


def edit_keys(
    path: str,
    wanted: Sequence[tuple[Sequence[str], object]],
    why: str,
    items: Sequence[tuple[Sequence[str], object]] = (),
    secrets: Sequence[tuple[Sequence[str], str]] = (),
) -> Change | None:
    """The change that sets each wanted value at its key path, and keeps every other byte; None when all are set.

    Each of `items` is put at the end of the list at its key path. `secrets` are set as well, and are in no message and
    in no record of ours.

    Raises: InstallError when the file cannot be edited without harm; it says what to add by hand.
    """
    before, form = files.read(path), formats.of(path)
    undo: list[Undo] = []
    try:
        text = original = (before or b"").decode("utf-8")
        for keys, value in wanted:
            text, step = form.merge(text, keys, value)
            undo += [step] if step else []
        for keys, item in items:
            text, steps = append(text, keys, item)
            undo += steps
        for keys, secret in secrets:
            text, step = form.merge(text, keys, secret)
            # What takes a new one out needs no value; of one that was replaced the older is nothing to bring back.
            undo += [replace(step, now="")] if step and step.was is None else []
    except UnicodeDecodeError:
        raise _by_hand(path, "not UTF-8 text", [*wanted, *_masked(secrets)], items) from None
    except NotPlainJson as error:
        raise _by_hand(path, str(error), [*wanted, *_masked(secrets)], items) from None
    if text == original:
        return None
    return Change(path, files.digest(before), text.encode(), why, undo=tuple(undo))


def add_block(path: str, block: Block, why: str) -> Change | None:
    """The change that puts a block of ours into the file, and keeps every other byte; None when it is there.

    Raises: InstallError when the file is no UTF-8 text.
    """
    before = files.read(path)
    try:
        text = (before or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise InstallError(
            f"{path} was left alone: not UTF-8 text", f"Mend it and run this again, or add by hand:\n{block.lines}"
        ) from None
    text, mark = put(text, block)
    return None if mark is None else Change(path, files.digest(before), text.encode(), why, undo=mark)


def _masked(secrets: Sequence[tuple[Sequence[str], str]]) -> Iterator[tuple[Sequence[str], str]]:
    """What stands for a secret where it is shown."""
    return ((keys, "THE SERVER, A SPACE AND THE KEY") for keys, _ in secrets)


def _by_hand(
    path: str,
    reason: str,
    wanted: Sequence[tuple[Sequence[str], object]],
    items: Sequence[tuple[Sequence[str], object]],
) -> InstallError:
    text = formats.of(path).by_hand(wanted)
    for keys, item in items:
        text, _ = append(text, keys, item)
    return InstallError(
        f"{path} was left alone: {reason}", f"Mend it and run this again, or add by hand:\n{text.rstrip()}"
    )
