"""Seeded damages of a store's files, as a fault of the disk, a crash, a sync tool or a person causes them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["DAMAGES", "Damage", "damages"]

PAGE = 4096
DB, WAL, SHM = "memory.db", "memory.db-wal", "memory.db-shm"
Step = Callable[[Path, random.Random, Sequence[Path]], None]  # a file, chance, folders with older versions of it


class Damage(NamedTuple):
    """What happens to some files of a store."""

    name: str
    steps: tuple[tuple[str, Step], ...]

    def apply(self, home: Path, seed: int, older: Sequence[Path]) -> None:
        """Damage the files in `home`; those in `older` are earlier versions."""
        chance = random.Random(seed)
        for name, step in self.steps:
            step(home / name, chance, [folder / name for folder in older])


def _edit(path: Path, offset: int, data: bytes) -> None:
    if path.exists():
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(data)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _flip(path: Path, chance: random.Random, _: Sequence[Path]) -> None:
    """One bit."""
    if size := _size(path):
        offset = chance.randrange(size)
        _edit(path, offset, bytes([path.read_bytes()[offset] ^ 1 << chance.randrange(8)]))


def _flips(path: Path, chance: random.Random, older: Sequence[Path]) -> None:
    """Many bits."""
    for _ in range(30):
        _flip(path, chance, older)


def _zero_page(path: Path, chance: random.Random, _: Sequence[Path]) -> None:
    if size := _size(path):
        page = chance.randrange(max(1, size // PAGE))
        _edit(path, page * PAGE, bytes(min(PAGE, size - page * PAGE)))


def _junk(path: Path, chance: random.Random, _: Sequence[Path]) -> None:
    """A range of random bytes."""
    if size := _size(path):
        start = chance.randrange(size)
        _edit(path, start, chance.randbytes(min(chance.choice([7, 100, 5000, 60_000]), size - start)))


def _zero_header(path: Path, _chance: random.Random, _: Sequence[Path]) -> None:
    _edit(path, 0, bytes(min(100, _size(path))))


def _all_junk(path: Path, chance: random.Random, _: Sequence[Path]) -> None:
    _edit(path, 0, chance.randbytes(_size(path)))


def _all_zero(path: Path, _chance: random.Random, _: Sequence[Path]) -> None:
    _edit(path, 0, bytes(_size(path)))


def _truncate(path: Path, chance: random.Random, _: Sequence[Path]) -> None:
    if size := _size(path):
        with path.open("r+b") as file:
            file.truncate(chance.randrange(size))


def _truncate_at_page(path: Path, chance: random.Random, _: Sequence[Path]) -> None:
    if size := _size(path):
        header, unit = (32, PAGE + 24) if path.name == WAL else (0, PAGE)
        with path.open("r+b") as file:
            file.truncate(header + unit * chance.randrange(max(1, size // unit)))


def _empty(path: Path, _chance: random.Random, _: Sequence[Path]) -> None:
    if path.exists():
        path.write_bytes(b"")


def _append(path: Path, chance: random.Random, _: Sequence[Path]) -> None:
    if path.exists():
        with path.open("ab") as file:
            file.write(chance.randbytes(chance.choice([1, PAGE, 3 * PAGE + 72])))


def _delete(path: Path, _chance: random.Random, _: Sequence[Path]) -> None:
    path.unlink(missing_ok=True)


def _older(path: Path, chance: random.Random, older: Sequence[Path]) -> None:
    """An earlier version of the file."""
    versions = [version for version in older if version.exists()]
    if versions:
        shutil.copyfile(chance.choice(versions), path)
    else:
        path.unlink(missing_ok=True)


def _swap_pages(path: Path, chance: random.Random, _: Sequence[Path]) -> None:
    if (size := _size(path)) >= 4 * PAGE:
        one, other = (chance.randrange(1, size // PAGE) * PAGE for _ in range(2))
        data = path.read_bytes()
        _edit(path, one, data[other : other + PAGE])
        _edit(path, other, data[one : one + PAGE])


def _duplicate_page(path: Path, chance: random.Random, _: Sequence[Path]) -> None:
    if (size := _size(path)) >= 4 * PAGE:
        one, other = (chance.randrange(1, size // PAGE) * PAGE for _ in range(2))
        _edit(path, one, path.read_bytes()[other : other + PAGE])


STEPS: Mapping[str, Step] = {
    step.__name__.strip("_"): step
    for step in (
        _flip,
        _flips,
        _zero_page,
        _junk,
        _zero_header,
        _all_junk,
        _all_zero,
        _truncate,
        _truncate_at_page,
        _empty,
        _append,
        _delete,
        _older,
        _swap_pages,
        _duplicate_page,
    )
}
DAMAGES: tuple[Damage, ...] = tuple(
    Damage(f"{name} {file}", ((file, step),)) for file in (DB, WAL, SHM) for name, step in STEPS.items()
)


def damages(count: int, seed: int = 1) -> list[tuple[int, Damage]]:
    """`count` damages with their seeds: each one alone, then pairs of different files."""
    chance = random.Random(seed)
    found = [(number, damage) for number, damage in enumerate(DAMAGES)]
    while len(found) < count:
        first, second = chance.sample(DAMAGES, 2)
        if chance.random() < 0.4:  # the same kinds again, elsewhere
            found.append((len(found), first))
        elif first.steps[0][0] != second.steps[0][0]:
            found.append((len(found), Damage(f"{first.name}, {second.name}", first.steps + second.steps)))
    return found[:count]
