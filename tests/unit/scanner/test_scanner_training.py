"""The trained scorer: its table, its training, and the limits of its scores."""

import base64
import itertools
import json
import os
import runpy
from pathlib import Path

import pytest

from keepmum_scanner import score_table
from keepmum_scanner.context import ASSIGNED, UNNAMED
from keepmum_scanner.scorer import MAX_SCORE, THRESHOLD, Features, inputs, trained_score

SCANNER = Path(__file__).parents[3] / "scanner"
TRAINER = runpy.run_path(str(SCANNER / "train_scorer.py"))


def features(naming: int = UNNAMED, *, surprise: float = 8.0, identity: bool = False, path: bool = False) -> Features:
    return Features(
        surprise=surprise,
        length=32,
        run=32,
        switches=8,
        mixed=True,
        naming=naming,
        identity=identity,
        path=path,
    )


def test_table_has_a_weight_for_every_input() -> None:
    assert len(score_table.WEIGHTS) == len(inputs(features()))


def test_table_is_small() -> None:
    assert os.path.getsize(score_table.__file__) < 100_000


def test_random_spelling_scores_high() -> None:
    assert trained_score(features()) >= THRESHOLD
    words = features(surprise=4.0)
    words.switches, words.mixed = 0, False
    assert trained_score(words) < THRESHOLD


@pytest.mark.parametrize("scorer", [trained_score, TRAINER["manual_score"]])
def test_paths_and_unnamed_ids_score_low_with_any_spelling(scorer) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - two functions
    assert scorer(features(ASSIGNED, path=True)) < THRESHOLD
    assert scorer(features(identity=True)) < THRESHOLD


def test_score_stays_below_explicit_candidates() -> None:
    assert trained_score(features(ASSIGNED, surprise=13.0)) == MAX_SCORE


def test_generated_texts_are_reproducible() -> None:
    assert list(TRAINER["generated"]()) == list(TRAINER["generated"]())


def test_training_is_reproducible() -> None:
    rows = [*itertools.islice(TRAINER["generated"](), 40), *itertools.islice(TRAINER["generated"](), 1500, 1600)]
    data = list(TRAINER["examples"](rows))
    assert TRAINER["train"](data) == TRAINER["train"](data)


def test_only_permissive_rows_are_read(tmp_path: Path) -> None:
    text = base64.b64encode(b"it says nothing").decode()
    rows = [{"source": "s", "text_b64": text, "label": "benign", "permissive": allowed} for allowed in (True, False)]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert len(list(TRAINER["corpus"]([str(file)]))) == 1


def test_row_is_held_out_by_its_source_or_its_text() -> None:
    held = TRAINER["is_held_out"]
    parts = [str(number) for number in range(30)]
    assert {held("generated", part) for part in parts} == {True, False}
    assert any(all(held(source, part) for part in parts) for source in parts)


def test_report_compares_both_scorers() -> None:
    report = (SCANNER / "score_report.md").read_text(encoding="utf-8")
    assert "Held out, manual" in report
    assert "Held out, trained" in report
