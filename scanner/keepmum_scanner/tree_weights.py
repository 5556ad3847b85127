"""What each feature adds to the sum of the trees: the change of the mean of the leaves that are left, step by step.

The steps of all trees and the mean of all leaves add up to the margin.
"""

from __future__ import annotations

from keepmum_scanner.tree_table import LEAVES, QUESTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from keepmum_scanner.trees import Question

    # Feature and cut of a question, and the leaves that a value above the cut rules out: from the first to the last.
    Node = tuple[int, float, int, int]

_LEAVES = 8  # of a tree


def contributions(
    values: Sequence[float],
    questions: Mapping[int, Sequence[Question]] = QUESTIONS,
    leaves: Sequence[float] = LEAVES,
) -> dict[int, float]:
    """By feature, what the questions about it add for a candidate with these `values`."""
    added = dict.fromkeys(questions, 0.0)
    for tree, nodes in _by_tree(questions).items():
        own = leaves[tree * _LEAVES : (tree + 1) * _LEAVES]
        first, last = 0, len(nodes) + 1
        while inside := [node for node in nodes if first <= node[2] and node[3] < last]:
            feature, cut, _, middle = max((node for node in inside if node[2] == first), key=lambda node: node[3])
            before = _mean(own, first, last)
            first, last = (middle, last) if values[feature] > cut else (first, middle)
            added[feature] += _mean(own, first, last) - before
    return added


def _by_tree(questions: Mapping[int, Sequence[Question]]) -> dict[int, list[Node]]:
    trees: dict[int, list[Node]] = {}
    for feature, asked in questions.items():
        for cut, tree, closed in asked:
            lowest = (closed & -closed).bit_length() - 1
            trees.setdefault(tree, []).append((feature, cut, lowest, closed.bit_length()))
    return trees


def _mean(leaves: Sequence[float], first: int, last: int) -> float:
    return sum(leaves[first:last]) / (last - first)
