"""Candidates of the first stage with their evidence, labelled by the rows they come from."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import NamedTuple

from bench.scanner.corpus import Row
from keepmum_scanner.evidence import evidence
from keepmum_scanner.normalise import normalise
from keepmum_scanner.verdict import LENIENCE, units

__all__ = ["Example", "examples"]

_candidates_of = import_module("keepmum_scanner.scan").candidates_of  # the package has a function of the module's name


class Example(NamedTuple):
    """One candidate."""

    row: Row
    evidence: list[float]  # empty when the candidate is settled
    is_secret: bool | None  # None when the row does not tell
    value: str  # for a list of mistakes
    lenience: float = 0.0  # log odds by which it may miss the threshold


def examples(rows: Iterable[Row]) -> list[Example]:
    """Every candidate in the texts of `rows`, and one without evidence where a certain one refuses the text."""
    return [example for row in rows for example in _of_row(row)]


def _of_row(row: Row) -> list[Example]:
    text, value = normalise(row.text).text, normalise(row.value).text
    context, certain, proposed = _candidates_of(text)
    place = text.find(value) if value else -1
    found = [Example(row, [], None, "") for _ in certain[:1]]
    for unit in units(certain, proposed, context):
        (_, start, end, _), votes = unit
        overlaps = place < 0 or (start < place + len(value) and place < end)
        label = None
        if row.label == "benign":
            label = False
        elif row.is_secret and (overlaps or row.kind == "note"):
            label = overlaps
        found.append(
            Example(
                row,
                [float(number) for number in evidence(unit, context)],
                label,
                text[start:end],
                LENIENCE if votes else 0.0,
            )
        )
    return found
