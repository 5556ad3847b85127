"""What can go wrong while installing, below the product's own errors.

KeepmumError
└── InstallError         one sentence, with the next step
    ├── UneditableFile   a settings file that cannot be edited safely; it was left unchanged
    ├── FileLeft         the same, with its path and what to add by hand; other files can be edited all the same
    └── FileChanged      another program wrote the file between plan and write; planning again is safe
"""

from __future__ import annotations

from keepmum.core.errors import KeepmumError

__all__ = ["FileChanged", "FileLeft", "InstallError", "UneditableFile"]


class InstallError(KeepmumError):
    """A step failed; `next_step` says what the user can do about it."""

    def __init__(self, problem: str, next_step: str = "") -> None:
        super().__init__(problem)
        self.next_step = next_step


class UneditableFile(InstallError):
    """The text is damaged, or written in a way that an edit could break."""

    def __init__(self, line: int, reason: str, column: int | None = None) -> None:
        where = f"line {line}" if column is None else f"line {line}, column {column}"
        super().__init__(f"{where}: {reason}")
        self.line = line
        self.reason = reason


class FileLeft(InstallError):
    """One file was left unchanged; the message names it, and the next step says what to do there by hand."""


class FileChanged(InstallError):
    """The file is no longer the one that the plan was made for; nothing was written."""
