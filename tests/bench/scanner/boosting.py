"""Fits gradient-boosted trees of at most eight leaves with logistic loss; the same input gives the same trees.

Needs numpy, which only training does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Node", "Settings", "Tree", "fit", "margins"]

_Numbers = NDArray[np.float64]
_Bins = NDArray[np.int64]

LEAVES = 8
_BINS = 64
_LEAST = 1e-12


class Settings(NamedTuple):
    """How the trees are fitted."""

    trees: int = 200
    rate: float = 0.08
    rows: float = 0.8  # share of the rows that each tree sees
    columns: float = 0.5  # share of the features that each tree sees
    fewest: int = 10  # rows in a leaf
    ridge: float = 1.0
    seed: int = 20261122


class Node(NamedTuple):
    """A question: rows with a value above `cut` are in none of the leaves of `left`."""

    feature: int
    cut: float
    left: frozenset[int]


class Tree(NamedTuple):
    """Questions, and the value of each leaf, from left to right: a row is in the first leaf that is left."""

    nodes: Sequence[Node]
    leaves: Sequence[float]


class _Leaf:
    def __init__(self, rows: NDArray[np.int64]) -> None:
        self.rows = rows
        self.gain, self.feature, self.bin = -1.0, -1, -1
        self.total = (0.0, 0.0)


def fit(values: _Numbers, wanted: _Numbers, weights: _Numbers, settings: Settings) -> tuple[float, list[Tree]]:
    """The bias and the trees for rows of `values`; `wanted` is 0 or 1."""
    rng = np.random.default_rng(settings.seed)
    cuts = [_cuts(values[:, column]) for column in range(values.shape[1])]
    bins = np.stack([np.searchsorted(cut, values[:, column]) for column, cut in enumerate(cuts)], axis=1).astype(
        np.int64
    )
    share = float((weights * wanted).sum() / weights.sum())
    bias = math.log(share / (1 - share))
    margin = np.full(len(values), bias)
    trees = []
    for _ in range(settings.trees):
        chance = 1 / (1 + np.exp(-margin))
        slope, curve = weights * (wanted - chance), np.maximum(weights * chance * (1 - chance), _LEAST)
        rows = np.flatnonzero(rng.random(len(values)) < settings.rows)
        columns = np.sort(rng.permutation(values.shape[1])[: max(1, int(settings.columns * values.shape[1]))])
        trees.append(_grown(bins, slope, curve, rows, columns, cuts, settings))
        margin += margins_of(trees[-1], values)
    return bias, trees


def margins(bias: float, trees: Sequence[Tree], values: _Numbers) -> _Numbers:
    """The log odds of each row."""
    return bias + sum((margins_of(tree, values) for tree in trees), np.zeros(len(values)))


def margins_of(tree: Tree, values: _Numbers) -> _Numbers:
    """What one tree adds to the log odds of each row."""
    open_leaves = np.ones((len(values), len(tree.leaves)), dtype=bool)
    for node in tree.nodes:
        above = values[:, node.feature] > node.cut
        for leaf in node.left:
            open_leaves[above, leaf] = False
    found: _Numbers = np.asarray(tree.leaves, dtype=float)[open_leaves.argmax(axis=1)]
    return found


def _cuts(column: _Numbers) -> _Numbers:
    """Values that separate rows, rounded so that the table is short."""
    known = np.unique(column)
    middles = (known[:-1] + known[1:]) / 2
    if len(middles) >= _BINS:
        middles = np.quantile(column, np.linspace(0, 1, _BINS + 1)[1:-1])
    return np.unique(np.round(middles, 3))


def _grown(  # noqa: PLR0917 - all of it is needed
    bins: _Bins,
    slope: _Numbers,
    curve: _Numbers,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    cuts: Sequence[_Numbers],
    settings: Settings,
) -> Tree:
    leaves = [_Leaf(rows)]
    nodes: list[tuple[int, float, list[_Leaf]]] = []  # feature, cut, and the leaves on the left
    _examine(leaves[0], bins, slope, curve, columns, settings)
    while len(leaves) < LEAVES:
        best = max(leaves, key=lambda one: one.gain)
        if best.gain <= 0:
            break
        goes_left = bins[best.rows, best.feature] <= best.bin
        new = _Leaf(best.rows[~goes_left])
        for _, _, left in nodes:
            if best in left:
                left.append(new)
        nodes.append((best.feature, float(cuts[best.feature][best.bin]), [best]))
        best.rows = best.rows[goes_left]
        leaves.insert(leaves.index(best) + 1, new)  # right of the leaf that it was a part of
        for leaf in (best, new):
            _examine(leaf, bins, slope, curve, columns, settings)
    values = [settings.rate * one.total[0] / (one.total[1] + settings.ridge) for one in leaves]
    return Tree(
        [Node(feature, cut, frozenset(map(leaves.index, left))) for feature, cut, left in nodes],
        [round(value, 4) for value in values],
    )


def _examine(  # noqa: PLR0917 - same
    leaf: _Leaf, bins: _Bins, slope: _Numbers, curve: _Numbers, columns: NDArray[np.int64], settings: Settings
) -> None:
    """Find the best question for the rows of `leaf`."""
    rows = leaf.rows
    own_slope, own_curve = slope[rows], curve[rows]
    total, total_curve = float(own_slope.sum()), float(own_curve.sum())
    leaf.total, leaf.gain = (total, total_curve), -1.0
    if len(rows) < 2 * settings.fewest:
        return
    keys = (bins[np.ix_(rows, columns)] + (np.arange(len(columns)) * _BINS)).ravel()
    size = len(columns) * _BINS
    shape = (len(columns), _BINS)
    width = len(columns)
    slopes = np.bincount(keys, np.repeat(own_slope, width), size).reshape(shape).cumsum(axis=1)
    curves = np.bincount(keys, np.repeat(own_curve, width), size).reshape(shape).cumsum(axis=1)
    counts = np.bincount(keys, minlength=size).reshape(shape).cumsum(axis=1)
    gains = (
        slopes**2 / (curves + settings.ridge)
        + (total - slopes) ** 2 / (total_curve - curves + settings.ridge)
        - total**2 / (total_curve + settings.ridge)
    )
    gains[(counts < settings.fewest) | (len(rows) - counts < settings.fewest)] = -1.0
    at = int(gains.argmax())
    leaf.gain = float(gains.ravel()[at])
    leaf.feature, leaf.bin = int(columns[at // _BINS]), at % _BINS
