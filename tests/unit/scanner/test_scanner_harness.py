"""The harness that measures the scanner: its folds share nothing, its figures count what they say."""

import json
from pathlib import Path

import pytest

from bench.scanner.corpus import Row, encoded, read
from bench.scanner.families import FAMILIES, without
from bench.scanner.figures import figures
from bench.scanner.folds import PARTITIONS, folds
from bench.scanner.generated import generated
from keepmum_scanner import scan

ROWS = generated()


def row(name: str, label: str, **changes: object) -> Row:
    plain = Row(name, "text", label, "note", "source", "", "", "keyword", "natural", "", permissive=True)
    return plain._replace(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("partition", sorted(PARTITIONS))
def test_no_group_and_no_value_is_in_two_parts_of_a_fold(partition: str) -> None:
    key = PARTITIONS[partition]
    for fold in folds(ROWS, partition):
        assert {key(one) for one in fold.judged}.isdisjoint(key(one) for one in fold.learned)
        assert {one.value for one in fold.judged if one.value}.isdisjoint(one.value for one in fold.learned)


@pytest.mark.parametrize("partition", sorted(PARTITIONS))
def test_each_row_judges_once(partition: str) -> None:
    assert sorted(one.id for fold in folds(ROWS, partition) for one in fold.judged) == sorted(one.id for one in ROWS)


def test_generated_rows_are_the_same_at_every_call() -> None:
    assert generated() == ROWS
    assert len({one.id for one in ROWS}) == len(ROWS)


def test_rows_survive_their_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(encoded(ROWS)))
    assert [(one.id, one.text, one.value, one.label) for one in read(file)] == [
        (one.id, one.text, one.value, one.label) for one in ROWS
    ]
    assert json.loads(file.read_text().splitlines()[0])["kind"] == "note"


def test_f1_assumes_one_secret_in_a_hundred_notes() -> None:
    rows = [row("a", "secret"), row("b", "secret"), *(row(f"c{number}", "benign") for number in range(99))]
    hits = {one.id: one.id in {"a", "c0"} for one in rows}
    assert figures(rows, hits)["F1"] == pytest.approx(2 * 0.5 * (1 / 3) / (0.5 + 1 / 3))


def test_toys_count_neither_way() -> None:
    rows = [row("a", "secret"), row("b", "benign"), row("c", "benign-toy")]
    assert figures(rows, {"a": True, "b": False, "c": True})["F1"] == 1.0


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_family_is_off_only_while_it_is_measured(family: str) -> None:
    text = "user | password\n--- | ---\nada | " + "Wint" + "er2001!"
    before = scan(text)
    with without(family):
        scan(text)
    assert scan(text) == before
