"""The scanner as the guard uses it: what a person has allowed is no finding."""

from __future__ import annotations

from keepmum_scanner import scan as _scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from keepmum_scanner import Finding

__all__ = ["scan"]


def scan(text: str) -> Sequence[Finding]:
    """Findings in `text` that nobody has allowed, with fingerprints where there can be any; a clean text costs no more.

    Key and list are read when something was found, so that a guard that runs for days obeys a change at once.
    """
    found = _scan(text)
    if not found:
        return found
    from keepmum.workspace.allowlist import AllowlistScanner
    from keepmum_hooks import places

    return AllowlistScanner(places.home())(text)
