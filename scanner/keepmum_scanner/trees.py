"""Evaluates the boosted trees of `tree_table`.

Each tree has at most eight leaves, one bit each, so a tree is one byte of a long number. A question that a value
answers with "more" clears the leaves on its other side; the lowest bit that is left is the leaf. The questions are
sorted by feature and cut, with their masks combined on first use, so that a feature costs one search and one "and".

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

    __slots__ = ("_bias", "_every", "_features", "_firsts", "_leaves", "_size")

    def __init__(self, bias: float, questions: Mapping[int, Sequence[Question]], leaves: Sequence[float]) -> None:
        self._bias, self._leaves = bias, leaves
        self._size = len(leaves) // _LEAVES
        self._firsts = range(0, len(leaves), _LEAVES)
        self._every = (1 << len(leaves)) - 1
        # A feature, its questions, their cuts, and the masks that were needed by the number of cuts below the value.
        self._features: list[tuple[int, Sequence[Question], list[float], dict[int, int]]] = [
            (feature, one, [cut for cut, _, _ in one], {0: self._every}) for feature, one in questions.items()
        ]

    def _mask(self, questions: Sequence[Question]) -> int:
        """The leaves that are left above the cuts of `questions`."""
        left = bytearray(b"\xff") * self._size
        for _, tree, closed in questions:
            left[tree] &= ~closed
        return int.from_bytes(left, "little")

    def margin(self, values: Sequence[float]) -> float:
        """The log odds that a candidate with this evidence is a secret, less those at the threshold."""
        open_leaves, leaves = self._every, self._leaves
        for feature, questions, cuts, masks in self._features:
            count = bisect_left(cuts, values[feature])
            mask = masks.get(count)
            if mask is None:  # a process that judges one candidate needs few of them
                mask = masks[count] = self._mask(questions[:count])
            open_leaves &= mask
        lowest = open_leaves.to_bytes(self._size, "little").translate(_LOWEST)
        return self._bias + sum([leaves[first + leaf] for first, leaf in zip(self._firsts, lowest)])


margin = Trees(BIAS, QUESTIONS, LEAVES).margin
