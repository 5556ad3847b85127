"""A text without its secrets."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from keepmum_scanner.finding import Finding


def redact(text: str, findings: Iterable[Finding]) -> str:
    """`text` with each finding's place replaced by `[rule removed]`."""
    pieces = []
    done = 0
    for finding in sorted(findings, key=lambda one: one.start):
        pieces += [text[done : finding.start], f"[{finding.rule} removed]"]
        done = finding.end
    return "".join(pieces) + text[done:]
