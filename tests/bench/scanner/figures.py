"""How well a scanner does on labelled texts, by class.

Classes of secrets: issued = made by a machine (prefix, random, hex, jwt, uuid, url, pem); composed = passwords that a
person made up, two plain words excepted; undecidable = two plain words, PINs, and, where no credential word is near,
hex, UUID, diceware, name and year, keyboard rows. F1 is that of notes of which one in 100 holds a secret, with the
false positives of natural notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bench.scanner.corpus import Row

__all__ = ["CLASSES", "Figures", "f1", "figures", "is_undecidable"]

Figures = Mapping[str, float | None]  # None where there is no such row
Hits = Mapping[str, bool]  # by id

_ISSUED = {"prefix", "random", "hex", "jwt", "uuid", "url", "pem"}
_UNDECIDABLE = {
    "hex", "uuid", "password:dice", "password:nameyear", "password:keyboard", "password:twowords", "password:plain",
}  # fmt: skip
_OTHERS = 99  # notes without a secret for one with a secret


def is_undecidable(row: Row) -> bool:
    """Whether a reader could not tell the secret from other text."""
    return row.shape in {"password:plain", "pin"} or (row.context == "nokeyword" and row.shape in _UNDECIDABLE)


def _is_composed(row: Row) -> bool:
    return row.shape.startswith("password") and row.shape != "password:plain"


def _notes(row: Row) -> bool:
    return row.is_secret and row.kind == "note"


def _benign(row: Row) -> bool:
    return row.label == "benign"


# The rows of each class; shares of secrets are recall, those of the others false positives.
CLASSES: Mapping[str, Callable[[Row], bool]] = {
    "notes": _notes,
    "notes, decidable": lambda row: _notes(row) and not is_undecidable(row),
    "keyword": lambda row: _notes(row) and row.context == "keyword",
    "no keyword": lambda row: _notes(row) and row.context == "nokeyword",
    "vectors": lambda row: row.is_secret and row.kind != "note",
    "issued, keyword": lambda row: _notes(row) and row.context == "keyword" and row.shape in _ISSUED,
    "issued, no keyword": lambda row: _notes(row) and row.context == "nokeyword" and row.shape in _ISSUED,
    "composed, keyword": lambda row: _notes(row) and row.context == "keyword" and _is_composed(row),
    "composed, no keyword": lambda row: _notes(row) and row.context == "nokeyword" and _is_composed(row),
    "seed phrases": lambda row: _notes(row) and row.shape == "phrase",
    "PINs, keyword": lambda row: _notes(row) and row.shape == "pin" and row.context == "keyword",
    "natural": lambda row: _benign(row) and row.stratum == "natural",
    "enriched": lambda row: _benign(row) and row.stratum == "enriched",
    "hashes": lambda row: _benign(row) and row.context == "hard",
    "twins": lambda row: _benign(row) and row.stratum == "twin",
    "toys": lambda row: row.label == "benign-toy",
}


def figures(rows: Sequence[Row], hits: Hits) -> Figures:
    """The share of refused rows in each class, and both F1."""
    shares: dict[str, float | None] = {name: _share(filter(member, rows), hits) for name, member in CLASSES.items()}
    false = shares["natural"]
    shares["F1"] = f1(shares["notes"], false)
    shares["F1, decidable"] = f1(shares["notes, decidable"], false)
    return shares


def f1(recall: float | None, false: float | None) -> float | None:
    """F1 where 1 note in 100 holds a secret; None when a share is missing."""
    if recall is None or false is None:
        return None
    return 2 * recall * (precision := recall / (recall + _OTHERS * false)) / (precision + recall) if recall else 0.0


def _share(rows: Iterable[Row], hits: Hits) -> float | None:
    found = [hits[row.id] for row in rows]
    return sum(found) / len(found) if found else None
