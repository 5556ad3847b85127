"""Files and folders judged by the scanner: memory files such as `.memories/`, `CLAUDE.md` and `AGENTS.md`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keepmum.core import validation
from keepmum.core.errors import ScannerFailed

__all__ = ["LONGEST", "Spot", "Unread", "audit", "files_of"]

LONGEST = 10 * 1024 * 1024  # bytes of a file
_PASSED_OVER = frozenset({".git"})


@dataclass(frozen=True, slots=True)
class Spot:
    """A finding in a file, by place; never its text."""

    file: str
    line: int
    column: int
    rule: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.rule}"


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was not judged, and why; `wanted` where a text may stand in it all the same."""

    file: str
    reason: str
    wanted: bool


def files_of(paths: Sequence[str]) -> Iterator[str]:
    """The regular files at and below `paths`, without what git keeps for itself; links are not followed."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
            for name in sorted(names):
                inside = os.path.join(folder, name)
                if os.path.isfile(inside) and not os.path.islink(inside):
                    yield inside


def audit(path: str, scan: validation.Scan) -> list[Spot] | Unread:
    """What is found in the file at `path`, or why it was not judged.

    Raises: ScannerFailed.
    """
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            return Unread(path, "is no file", wanted=True)
        if about.st_size > LONGEST:
            return Unread(path, f"is larger than {LONGEST // 1024 // 1024} MiB", wanted=True)
        with open(path, "rb") as file:
            content = file.read(LONGEST + 1)
    except OSError as error:
        return Unread(path, error.strerror or "cannot be read", wanted=True)
    try:
        from keepmum_scanner.inputs import Unreadable, to_text  # here: a damaged scanner breaks no command without it
    except Exception:  # noqa: BLE001 - a damaged file raises anything
        raise ScannerFailed from None
    try:
        text = to_text(content, path)
    except Unreadable:
        return Unread(path, "is binary", wanted=False)
    return [_spot(path, text, finding) for finding in validation.scan_text(text, scan)]


def _spot(path: str, text: str, finding: validation.Finding) -> Spot:
    start = finding.start
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    return Spot(path, line, column, finding.rule, finding.fingerprint)
