"""Edits of generated code: what became of a cited definition is known, and has to be found out."""

from __future__ import annotations

import functools
import random
from collections import Counter

import pytest

import generated_code
from keepmum.core.citations.freshness import Location
from keepmum.core.citations.outline import Outline, outline
from keepmum.core.citations.relocation import Former, moved, renamed

EDITS = 200  # for each language


@functools.lru_cache(8)
def _outline(path: str, text: str) -> Outline:
    found = outline(path, text)
    assert found is not None
    return found


def _outlines(project: generated_code.Project, language: str) -> dict[str, Outline]:
    return {path: _outline(path, text) for path, text in generated_code.rendered(project, language).items()}


def _judged(
    path: str, symbol: str, before: dict[str, Outline], after: dict[str, Outline]
) -> tuple[str, Location | None]:
    """The verdict, and the new location of a definition that is gone."""
    digest = before[path].digest(symbol)
    assert digest is not None, f"{symbol} was not recognised in {path}"
    now = after[path].digest(symbol)
    if now is not None:
        return ("valid" if now == digest else "changed"), None
    lines = before[path].lines(symbol)
    found = moved(Former(path, symbol, digest, lines), after, before.get)
    return "gone", found or renamed(lines, symbol, path, before[path], after[path])


@pytest.mark.parametrize("language", generated_code.LANGUAGES)
def test_what_an_edit_did_is_found_out(language: str) -> None:
    rng = random.Random(7)
    verdicts: Counter[tuple[str, str]] = Counter()
    located = right = places = 0
    names = list(generated_code.EDITS)
    for number in range(EDITS):
        project = generated_code.new_project(language, rng)
        path = rng.choice([path for path, functions in project.files.items() if functions])
        one = rng.choice(project.files[path])
        chosen = generated_code.Chosen(project, path, one, language, rng)
        edit = generated_code.EDITS[names[number % len(names)]](chosen)
        verdict, location = _judged(path, one.symbol, _outlines(project, language), _outlines(edit.after, language))
        verdicts[edit.verdict, verdict] += 1
        places += bool(edit.path)
        located += location is not None
        right += location is not None and (location.path, location.symbol) == (edit.path, edit.symbol)
    broken = verdicts["gone", "gone"]
    assert broken >= 0.99 * sum(count for (_, said), count in verdicts.items() if said == "gone")
    assert broken >= 0.95 * sum(count for (true, _), count in verdicts.items() if true == "gone")
    worse = sum(count for (true, said), count in verdicts.items() if true != "valid" and said != "valid")
    assert worse >= 0.98 * sum(count for (_, said), count in verdicts.items() if said != "valid")
    assert worse >= 0.95 * sum(count for (true, _), count in verdicts.items() if true != "valid")
    assert right >= 0.95 * located
    assert located >= 0.60 * places
