"""Whether recall says that nothing fits when nothing does: questions of other sets, and questions whose answer is gone.

    python tests/bench/retrieval/retrieval_abstention.py DATA --model FOLDER [--sets a,b] [--near a,b] [--foreign 200]

The sets are folders of DATA, and `notes`, the set in this folder. For each set:

- kept: of the questions that are answered among the first ten when nothing is left out, those that still are;
- foreign: questions of the other sets. False recall is the share with a match; "at 95 %" is that share at the threshold
  that keeps 95 % of the set's own questions;
- near: its own questions after their answers were forgotten. AUC: how often an answerable question has the better fit.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of the tests

from bench import store_figures  # noqa: F401 - puts our folders on the path
from bench.retrieval.retrieval_data import Question, Space, load
from bench.retrieval.retrieval_systems import Keepmum, ReadOnce
from keepmum.core.memory import Match
from keepmum.embedding.minilm import MiniLm

__all__ = ["Asked", "auc", "false_recall", "main", "measure"]

_DEPTH = 10
_KEPT = 0.95
_SETS = "amb,devmem,changelog,locomo,cosqa,notes"
_COLUMNS = ("set", "questions", "kept", "matches", "foreign", "false recall", "at 95 %", "returned", "near AUC")


class Asked(NamedTuple):
    """What recall gave for one question."""

    fit: float  # of the best memory, with nothing left out; 0 without one
    returned: int
    is_match: bool
    kept: bool | None  # whether the answer is returned; None when it is not among the first ten anyway


def measure(system: Keepmum, questions: Sequence[Question], parents: Mapping[str, str]) -> list[Asked]:
    """What recall gives for each question."""
    return [_ask(system, question, parents) for question in questions]


def auc(better: Sequence[float], worse: Sequence[float]) -> float:
    """How often a value of the first is greater than one of the second; equal ones count half."""
    pairs = sum((one > other) + (one == other) / 2 for one in better for other in worse)
    return pairs / (len(better) * len(worse))


def false_recall(own: Sequence[float], foreign: Sequence[float]) -> float:
    """The share of `foreign` at or above the threshold that keeps 95 % of `own`."""
    threshold = sorted(own)[math.floor((1 - _KEPT) * len(own))]
    return statistics.fmean(value >= threshold for value in foreign)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown, a line for each set."""
    options = _options(argv)
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = os.environ["KEEPMUM_HOME"] = home
        embedder = ReadOnce(MiniLm.open(str(options.model))) if options.model else None
        names = dict.fromkeys([*options.sets.split(","), *options.others.split(",")])
        spaces = {name: list(load(_folder(options.data, name))) for name in names}
        print("| " + " | ".join(_COLUMNS) + " |\n|" + "---|" * len(_COLUMNS))  # noqa: T201 - a report
        for name in options.sets.split(","):
            foreign = _foreign({other: found for other, found in spaces.items() if other != name}, options.foreign)
            with_near = name in options.near.split(",")
            print(_line(name, embedder, spaces[name], foreign, with_near=with_near), flush=True)  # noqa: T201
    return 0


def _line(
    name: str, embedder: ReadOnce | None, spaces: Sequence[Space], foreign: Sequence[Question], *, with_near: bool
) -> str:
    own: list[Asked] = []
    far: list[Asked] = []
    near: list[float] = []
    for number, space in enumerate(spaces):
        system = Keepmum(embedder)
        system.index(space.memories)
        own += measure(system, space.questions, space.parents)
        far += measure(system, foreign[number :: len(spaces)], space.parents)
        if with_near:
            near += _without_answers(system, space)
        system.close()
    fits, far_fits = [one.fit for one in own], [one.fit for one in far]
    answered = [one for one in own if one.kept is not None]
    figures = (
        str(len(own)),
        f"{statistics.fmean(bool(one.kept) for one in answered):.3f}",
        f"{statistics.fmean(one.is_match for one in answered):.3f}",
        str(len(far)),
        f"{statistics.fmean(one.is_match for one in far):.2f}",
        f"{false_recall(fits, far_fits):.2f}",
        f"{statistics.fmean(one.returned for one in far):.1f}",
        f"{auc(fits, near):.3f}" if near else "",
    )
    return "| " + " | ".join((name, *figures)) + " |"


def _ask(system: Keepmum, question: Question, parents: Mapping[str, str]) -> Asked:
    everything = system.memory.recall(question.text, limit=_DEPTH, weak=True)
    given = system.memory.recall(question.text, limit=_DEPTH)
    answered = _has_answer(system, everything, question, parents)
    return Asked(
        max((match.fit for match in everything), default=0.0),
        len(given),
        any(match.band == "match" for match in given),
        _has_answer(system, given, question, parents) if answered else None,
    )


def _has_answer(system: Keepmum, found: Sequence[Match], question: Question, parents: Mapping[str, str]) -> bool:
    names = [system.ids[match.memory.id] for match in found]
    return any(parents.get(name, name) in question.grades for name in names)


def _without_answers(system: Keepmum, space: Space) -> Iterator[float]:
    """The best fit for each question while its answers are forgotten."""
    for question in space.questions:
        answers = [memory for memory, name in system.ids.items() if space.parents.get(name, name) in question.grades]
        if answers:
            system.memory.forget(answers)
        found = system.memory.recall(question.text, limit=_DEPTH, weak=True)
        yield max((match.fit for match in found), default=0.0)
        for answer in answers:
            system.memory.undo(answer)


def _foreign(others: Mapping[str, Sequence[Space]], count: int) -> list[Question]:
    """About `count` questions, equally many of each set."""
    chosen: list[Question] = []
    for name, spaces in others.items():
        questions = [question for space in spaces for question in space.questions]
        chosen += random.Random(name).sample(questions, min(count // len(others), len(questions)))
    return chosen


def _folder(data: Path, name: str) -> Path:
    return (Path(__file__).parent if name == "notes" else data) / name / "dev"


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, help="folder of the sets")
    parser.add_argument("--model", type=Path, help="folder of the installed model; without it search is lexical")
    parser.add_argument("--sets", default=_SETS, help="names, with commas")
    parser.add_argument("--others", default=_SETS, help="sets whose questions are foreign to each other")
    parser.add_argument("--near", default="amb,devmem,notes", help="sets whose answers are forgotten for each question")
    parser.add_argument("--foreign", type=int, default=200, help="questions of other sets asked of each")
    return parser.parse_args(argv)


if __name__ == "__main__":
    raise SystemExit(main())
