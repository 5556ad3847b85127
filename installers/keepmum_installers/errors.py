"""What can go wrong while installing, below the product's own errors.

KeepmumError
└── InstallError         said in one sentence, with the next step
    ├── NotPlainJson     a settings file that cannot be edited without harm; it was left alone
    └── FileChanged      somebody wrote the file between plan and write; planning again is safe
"""

from __future__ import annotations

from keepmum.core.errors import KeepmumError

__all__ = ["FileChanged", "InstallError", "NotPlainJson"]


class InstallError(KeepmumError):
    """A step failed; `next_step` says what the user can do about it."""

    def __init__(self, problem: str, next_step: str = "") -> None:
        super().__init__(problem)
        self.next_step = next_step


class NotPlainJson(InstallError):
    """The text is not plain JSON with an object at its root, so an edit could harm it."""

    def __init__(self, line: int, reason: str, column: int | None = None) -> None:
        place = f"line {line}" if column is None else f"line {line}, column {column}"
        super().__init__(f"{place}: {reason}")
        self.line = line
        self.reason = reason


class FileChanged(InstallError):
    """The file is no longer what the plan was made for; nothing was written."""
