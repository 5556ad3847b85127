"""Every run of the property tests has the same examples."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def _examples() -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []

    @given(st.integers(), st.text())
    def collect(number: int, text: str) -> None:
        found.append((number, text))

    collect()
    return found


@pytest.mark.skipif(not settings().derandomize, reason="this run looks for new examples")
def test_examples_do_not_depend_on_the_modules_that_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _examples()
    (tmp_path / "sample_of_constants.py").write_text(
        "".join(f"A{n} = {1_000_007 + n}, 'word {n}'\n" for n in range(99))
    )
    monkeypatch.syspath_prepend(tmp_path)
    __import__("sample_of_constants")
    try:
        assert _examples() == before
    finally:
        del sys.modules["sample_of_constants"]
