"""Evaluates the boosted trees of `tree_table`.

Each tree has at most eight leaves, one bit each, so a tree is one byte of a long number. A question that a value
answers with "more" clears the leaves on its other side; the lowest bit that is left is the leaf. The questions are
sorted by feature and cut, with their masks combined, so that a feature costs one search and one "and".

Source: https://dl.acm.org/doi/10.1145/2766462.2767733 (QuickScorer), read 2026-11-22
"""

from __future__ import annotations

from bisect import bisect_left

from keepmum_scanner.evidence import NAMES
from keepmum_scanner.tree_table import BIAS, FEATURES, LEAVES, QUESTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Question = tuple[float, int, int]  # cut, tree, and the leaves that a value above the cut rules out

_LEAVES = 8  # of a tree
_LOWEST = bytes([0] + [(byte & -byte).bit_length() - 1 for byte in range(1, 256)])  # the lowest bit of each byte

if len(NAMES) != FEATURES or len(LEAVES) % _LEAVES or max(QUESTIONS, default=0) >= FEATURES:
    raise ImportError("the table of trees is damaged")


class Trees:
    """Boosted trees, ready to be evaluated."""

    __slots__ = ("_bias", "_every", "_firsts", "_leaves", "_masks", "_size")

    def __init__(self, bias: float, questions: Mapping[int, Sequence[Question]], leaves: Sequence[float]) -> None:
        self._bias, self._leaves = bias, leaves
        self._size = len(leaves) // _LEAVES
        self._firsts = range(0, len(leaves), _LEAVES)
        self._every = (1 << len(leaves)) - 1
        self._masks = [self._combined(feature, one) for feature, one in questions.items()]

    def _combined(self, feature: int, questions: Sequence[Question]) -> tuple[int, list[float], list[int]]:
        """A feature, its cuts, and the leaves that are left above the first none, one, two and more of them."""
        open_leaves, masks = self._every, [self._every]
        for _, tree, closed in questions:
            open_leaves &= ~(closed << (_LEAVES * tree))
            masks.append(open_leaves)
        return feature, [cut for cut, _, _ in questions], masks

    def margin(self, values: Sequence[float]) -> float:
        """The log odds that a candidate with this evidence is a secret, less those at the threshold."""
        open_leaves, leaves = self._every, self._leaves
        for feature, cuts, masks in self._masks:
            open_leaves &= masks[bisect_left(cuts, values[feature])]
        lowest = open_leaves.to_bytes(self._size, "little").translate(_LOWEST)
        return self._bias + sum([leaves[first + leaf] for first, leaf in zip(self._firsts, lowest)])


margin = Trees(BIAS, QUESTIONS, LEAVES).margin
