"""How well changes are recognised and new versions are found: a small run of `tests/bench/retrieval/version_run.py`."""

from __future__ import annotations

from pathlib import Path

from bench.retrieval.version_run import measure

NOTES = Path(__file__).parents[2] / "bench" / "retrieval" / "notes" / "dev"


def test_new_versions_are_found_and_changes_are_recognised_by_words() -> None:
    shares = measure(NOTES, None, most=6).shares()
    assert (shares["hidden"], shares["skip advised"]) == (0.0, 0.0)
    assert shares["newer first"] >= 0.95
    assert shares["recognised"] >= 0.97
    assert shares["false alarms"] <= 0.01
