"""A small part of what `python tests/outages.py` does by hand: a killed database, and an upgrade under load."""

from __future__ import annotations

from pathlib import Path

import pytest

import outages

pytestmark = pytest.mark.heavy


def test_no_acknowledged_write_is_lost_when_the_database_is_killed(tmp_path: Path) -> None:
    outcome = outages.killed(tmp_path, times=1, writers=4, between=20)
    assert (outcome.lost, outcome.doubled) == (0, 0)
    assert outcome.acknowledged >= 40


def test_no_call_fails_while_servers_are_upgraded(tmp_path: Path) -> None:
    """But those that were in flight when a process was killed, at most one of each writer."""
    outcome = outages.upgraded(tmp_path, writers=4, between=20)
    assert (outcome.lost, outcome.doubled) == (0, 0)
    assert outcome.failed.total() <= 4
    assert "failed while the tables changed: 0" in outcome.notes
    assert "failed while processes were replaced: 0" in outcome.notes
