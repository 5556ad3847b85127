"""The scanner without the findings that the user has allowed."""

from __future__ import annotations

from keepmum_scanner import scan as _scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from keepmum_scanner import Finding

__all__ = ["scan"]


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
