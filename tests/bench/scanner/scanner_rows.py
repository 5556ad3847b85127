"""The scanner on generated texts, as rows of the table of all benchmarks."""

from __future__ import annotations

from collections.abc import Iterator

from bench.scanner.figures import figures
from bench.scanner.generated import generated
from bench.store_figures import Row
from keepmum_scanner import scan

__all__ = ["rows"]

_TARGETS = {"keyword": 0.9, "natural": 0.001}  # recall, and false positives: a check that the harness works


def rows(*, quick: bool) -> Iterator[Row]:  # noqa: ARG001 - it takes a second
    """Recall of named secrets and the rate of false positives."""
    texts = generated()
    found = figures(texts, {row.id: bool(scan(row.text)) for row in texts})
    named, false = found["keyword"] or 0.0, found["natural"] or 0.0
    yield Row("generated notes with a named secret", f"{named:.3f} refused", ">= 0.9", named >= _TARGETS["keyword"])
    yield Row(
        "generated notes without one", f"{1000 * false:.1f} in 1,000 refused", "<= 1", false <= _TARGETS["natural"]
    )
