"""The retrieval measures, compared with values computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.retrieval import retrieval_run
from bench.retrieval.retrieval_data import load
from bench.retrieval.retrieval_measures import hit, ndcg, recall, reciprocal_rank
from bench.retrieval.retrieval_systems import Keepmum

NOTES = Path(retrieval_run.__file__).parent / "notes" / "dev"
ONE = {"a": 1}
TWO = {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("ranked", "grades", "gain"),
    [
        pytest.param("a", ONE, 1.0, id="first"),
        pytest.param("xa", ONE, 0.6309, id="second: 1 / log2(3)"),
        pytest.param("x", ONE, 0.0, id="not found"),
        pytest.param("axb", TWO, 0.9197, id="two of two, one of them late: 1.5 / 1.6309"),
        pytest.param("ba", {"a": 2, "b": 1}, 0.7967, id="the better one second: (1 + 3 / 1.585) / (3 + 1 / 1.585)"),
        pytest.param("0123456789a", ONE, 0.0, id="eleventh"),
    ],
)
def test_gain_is_discounted_by_rank(ranked: str, grades: dict[str, int], gain: float) -> None:
    assert ndcg(list(ranked), grades) == pytest.approx(gain, abs=1e-4)


def test_recall_is_the_share_of_the_answers_found() -> None:
    assert (recall(["a", "x", "b"], TWO, 1), recall(["a", "x", "b"], TWO, 3)) == (0.5, 1.0)


def test_a_hit_is_any_answer() -> None:
    assert (hit(["x", "a"], TWO, 1), hit(["x", "a"], TWO, 2)) == (0.0, 1.0)


def test_the_reciprocal_rank_is_that_of_the_first_answer() -> None:
    assert (reciprocal_rank(["x", "a", "b"], TWO), reciprocal_rank(["x"], TWO)) == (0.5, 0.0)


def test_a_note_is_found_first_by_a_name_path_date_or_keyword_of_its_own_and_by_one_that_is_misspelt() -> None:
    lines = (NOTES / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["type"] for line in lines]
    result = retrieval_run.run(lambda: Keepmum(None), list(load(NOTES)))
    first = {"identifier", "path", "date", "keyword", "typo"}
    missed = [line for line, kind, scores in zip(lines, kinds, result.scores, strict=True) if scores["nDCG@10"] < 1]
    assert [line for line in missed if json.loads(line)["type"] in first] == []
    assert len(missed) < len(lines) / 3, "of all, most are found first by words alone"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two spaces: a memory that answers in one is not expected in the other."""
    folder = tmp_path / "tiny" / "dev"
    folder.mkdir(parents=True)
    memories = [
        {"id": "m1", "ns": "one", "text": "deploys go to the blue pool", "parent": "p1"},
        {"id": "m2", "ns": "one", "text": "lunch is at noon", "parent": "p2"},
        {"id": "m3", "ns": "two", "text": "the zebra runs", "title": "Animals", "tags": ["stripes"]},
    ]
    questions = [
        {"id": "q1", "ns": "one", "query": "which pool gets deploys?", "gold": ["p1"]},
        {"id": "q2", "ns": "two", "query": "stripes", "gold": ["m3"], "grade": {"m3": 2}},
    ]
    for name, lines in (("memories", memories), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return tmp_path


def test_each_space_is_read_with_its_own_questions(data: Path) -> None:
    one, two = load(data / "tiny" / "dev")
    assert ([memory["id"] for memory in one.memories], one.parents) == (["m1", "m2"], {"m1": "p1", "m2": "p2"})
    assert (two.questions[0].grades, two.parents) == ({"m3": 2}, {})


def test_the_table_has_a_line_for_each_system_and_set(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert retrieval_run.main([str(data), "--sets", "tiny"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[:2] for line in lines[2:]] == [
        ["| BM25 alone", "tiny"],
        ["| BM25 alone", "**mean**"],
        ["| Keepmum, words alone", "tiny"],
        ["| Keepmum, words alone", "**mean**"],
    ]
    assert all(" | 1.000 | " in line for line in lines[2:])
