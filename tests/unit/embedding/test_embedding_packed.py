"""The packed form of a model gives the vectors that the model gives, or is made anew, or is done without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from embedding_models import Tiny
from keepmum.embedding import packed
from keepmum.embedding.minilm import MiniLm

if TYPE_CHECKING:
    from keepmum.embedding.base import Vectors

TEXTS = ["deploy the staging service", "a cat sat on the mat. " * 20, ""]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def vectors(tiny: Tiny, cache: Path | None) -> Vectors:
    return MiniLm.open(str(tiny.installed), tiny.model, str(cache) if cache else "").embed(TEXTS)


def form(cache: Path) -> Path:
    """The folder of the only packed form."""
    (found,) = cache.glob("packed-*")
    return found


def test_the_packed_form_gives_the_same_vectors_when_it_is_made_and_later(tiny: Tiny, cache: Path) -> None:
    plain = vectors(tiny, None)
    assert vectors(tiny, cache) == pytest.approx(plain, abs=1e-6)
    assert vectors(tiny, cache) == pytest.approx(plain, abs=1e-6)


def test_it_is_made_once(tiny: Tiny, cache: Path) -> None:
    vectors(tiny, cache)
    made = (form(cache) / "packed.bin").stat().st_mtime_ns
    vectors(tiny, cache)
    assert (form(cache) / "packed.bin").stat().st_mtime_ns == made


@pytest.mark.parametrize("name", ["packed.bin", "packed.onnx", "state.json"])
@pytest.mark.parametrize("content", [b"", b"nothing that fits", None])
def test_one_that_is_damaged_is_made_anew(tiny: Tiny, cache: Path, name: str, content: bytes | None) -> None:
    plain = vectors(tiny, cache)
    path = form(cache) / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    assert np.array_equal(vectors(tiny, cache), plain)
    assert path.read_bytes() not in {b"", b"nothing that fits"}


def test_one_that_gives_other_vectors_is_made_anew(tiny: Tiny, cache: Path) -> None:
    plain = vectors(tiny, cache)
    path = form(cache) / "state.json"
    state = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(state | {"probe": [-value for value in state["probe"]]}), encoding="utf-8")
    assert np.array_equal(vectors(tiny, cache), plain)
    assert json.loads(path.read_text(encoding="utf-8")) == state


def test_where_none_can_be_kept_the_model_opens_as_it_is(tiny: Tiny, cache: Path) -> None:
    cache.write_text("no folder", encoding="utf-8")
    assert vectors(tiny, cache) == pytest.approx(vectors(tiny, None), abs=1e-6)


def test_a_new_one_takes_the_place_of_those_of_other_versions(tiny: Tiny, cache: Path) -> None:
    old = cache / "packed-0000"
    old.mkdir(parents=True)
    (cache / "vectors-1").mkdir()
    vectors(tiny, cache)
    assert not old.exists()
    assert (cache / "vectors-1").exists()


def test_removing_leaves_nothing_of_it(tiny: Tiny, cache: Path) -> None:
    vectors(tiny, cache)
    packed.remove(str(cache))
    assert list(cache.iterdir()) == []


def test_it_depends_on_the_weights() -> None:
    assert packed._key("one") != packed._key("two")
