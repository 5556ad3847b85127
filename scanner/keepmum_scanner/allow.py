"""Findings that a person has declared harmless, known by fingerprint only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from keepmum_scanner.finding import Finding


def allow(findings: Iterable[Finding], fingerprints: Collection[str]) -> list[Finding]:
    """The findings that stay when those named by `fingerprints` are allowed.

    A finding without a fingerprint always stays: an empty line in a list must not open the door.
    """
    return [finding for finding in findings if not finding.fingerprint or finding.fingerprint not in fingerprints]
