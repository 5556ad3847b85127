"""The scanner without the findings that the user has allowed."""

from __future__ import annotations

from keepmum.guard.message import decode
from keepmum_scanner import scan as _scan
from keepmum_scanner.records import find_related

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from keepmum.guard.message import Members
    from keepmum_scanner import Finding
    from keepmum_scanner.records import Found

__all__ = ["related", "scan"]


def scan(text: str) -> Sequence[Finding]:
    """Findings in `text` that are not allowed, with fingerprints.

    The allowlist is read only when something was found, and each time: a running guard follows a change at once.
    """
    found = _scan(text)
    if not found:
        return found
    from keepmum.workspace.allowlist import AllowlistScanner
    from keepmum_hooks import places

    return AllowlistScanner(places.home())(text)


def related(arguments: Members) -> Sequence[Found]:
    """Findings in the fields that other fields name and that are not allowed, with fingerprints."""
    found = find_related(arguments, decode=decode)
    if not found:
        return found
    from keepmum.workspace.allowlist import AllowlistScanner
    from keepmum_hooks import places

    return AllowlistScanner(places.home()).related(arguments, decode)
