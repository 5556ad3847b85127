"""The table of `surprise`, and the script that creates it."""

import runpy
from pathlib import Path

from keepmum_scanner import surprise_table

LEARNER = runpy.run_path(str(Path(__file__).parents[3] / "scanner" / "learn_surprise.py"))


def test_table_has_a_cost_for_every_pair() -> None:
    assert len(surprise_table.SYMBOLS) == len(set(surprise_table.SYMBOLS)) == 54
    assert [len(row) for row in surprise_table.ROWS] == [54] * 54


def test_table_has_the_constants_of_the_script() -> None:
    assert LEARNER["SYMBOLS"] == surprise_table.SYMBOLS
    assert LEARNER["STEPS_PER_BIT"] == surprise_table.STEPS_PER_BIT
    assert LEARNER["FIRST"] == surprise_table.FIRST


def test_frequent_pairs_cost_less(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("banana bananas cabana\n" * 3)
    costs = LEARNER["pair_costs"](LEARNER["words"](str(tmp_path)))
    a, n, x = map(LEARNER["SYMBOLS"].index, "anx")
    assert costs[a][n] < costs[a][x]


def test_only_sources_are_read(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("zebra")
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "one.py").write_text("zebra")
    assert LEARNER["words"](str(tmp_path)) == {}


def test_rendered_table_can_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("banana")
    table = tmp_path / "table.py"
    table.write_text(LEARNER["render"](LEARNER["pair_costs"](LEARNER["words"](str(tmp_path)))))
    assert len(runpy.run_path(str(table))["ROWS"]) == 54
