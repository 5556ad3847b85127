"""The calibration of models: measured once, kept in the cache, and the same results with every model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import keepmum
from keepmum.core.calibration import COMMON, Calibration
from keepmum.core.errors import EmbeddingError
from keepmum.embedding import BackgroundEmbedder, calibrate
from keepmum.embedding.calibration import measure
from keepmum.embedding.fake import FakeEmbedder
from keepmum.embedding.minilm import MiniLm
from keepmum.embedding.sample_texts import SAMPLE_TEXTS
from keepmum_scanner import scan

if TYPE_CHECKING:
    from keepmum.embedding.base import Vectors

LIMIT = 60.0  # seconds
NOTES = Path(__file__).resolve().parents[2] / "bench" / "retrieval" / "notes" / "dev"


class Counting(FakeEmbedder):
    """Counts how often it is measured."""

    calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        return super().embed(texts)


class Squeezed:
    """Another model's vectors with one more number, so that every cosine is between .7 and 1."""

    def __init__(self, model: MiniLm) -> None:
        self.model, self.dimensions = f"squeezed {model.model}", model.dimensions + 1
        self._model = model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text."""
        rows = self._model.embed(texts) * np.sqrt(0.3)
        return np.hstack([rows, np.full((len(rows), 1), np.sqrt(0.7), dtype=np.float32)])


def test_the_sample_texts_are_many_and_differ_and_hold_no_secret() -> None:
    assert len(set(SAMPLE_TEXTS)) == len(SAMPLE_TEXTS) == 200
    assert [text for text in SAMPLE_TEXTS if scan(text)] == []


@pytest.mark.parametrize("mean", [-0.1, 0.2, 0.78, 0.95])
def test_unrelated_and_equal_texts_are_at_the_same_points_of_the_scale_for_every_model(mean: float) -> None:
    calibration = Calibration(mean)
    assert calibration.to_common(mean) == pytest.approx(COMMON.mean)
    assert calibration.to_common(1.0) == 1.0
    assert calibration.to_common(calibration.from_common(0.97)) == pytest.approx(0.97)


def test_the_local_model_has_the_common_scale(installed_model: Path) -> None:
    assert measure(MiniLm.open(str(installed_model))) == COMMON


def test_a_model_is_measured_once(tmp_path: Path) -> None:
    embedder = Counting()
    first = calibrate(embedder, str(tmp_path))
    assert (calibrate(embedder, str(tmp_path)), embedder.calls) == (first, 1)


def test_another_model_is_measured_on_its_own(tmp_path: Path) -> None:
    calibrate(Counting(), str(tmp_path))
    other = Counting(model="other")
    calibrate(other, str(tmp_path))
    assert other.calls == 1


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("", id="empty"),
        pytest.param("[]", id="another form"),
        pytest.param('{"version": 1, "model": "fake-64", "mean": NaN}', id="no number"),
        pytest.param('{"version": 1, "model": "fake-64", "mean": 1.0}', id="out of range"),
        pytest.param('{"version": 1, "model": "other", "mean": 0.1}', id="of another model"),
        pytest.param('{"version": 0, "model": "fake-64", "mean": 0.1}', id="of other texts"),
        pytest.param("\x00\xff", id="binary"),
    ],
)
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: str) -> None:
    right = calibrate(Counting(), str(tmp_path))
    (file,) = (tmp_path / "cache" / "calibration").iterdir()
    file.write_text(damage, encoding="utf-8")
    assert calibrate(Counting(), str(tmp_path)) == right
    assert json.loads(file.read_text(encoding="utf-8"))["mean"] == right.mean


def test_a_home_that_cannot_be_written_is_not_a_failure(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder belongs", encoding="utf-8")
    assert calibrate(Counting(), str(tmp_path)) == measure(FakeEmbedder())


def test_a_model_that_cannot_tell_texts_apart_is_refused() -> None:
    class Constant(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            return np.full((len(texts), self.dimensions), self.dimensions**-0.5, dtype=np.float32)

    with pytest.raises(EmbeddingError, match="choose another"):
        measure(Constant())


def test_the_embedder_is_ready_only_when_it_is_measured() -> None:
    background = BackgroundEmbedder(FakeEmbedder, calibrate=lambda _: Calibration(0.5))
    assert background.calibration == COMMON
    assert background.wait(LIMIT) is not None
    assert background.calibration == Calibration(0.5)


def test_a_failing_measurement_is_a_problem_of_the_embedder() -> None:
    def failing(_: object) -> Calibration:
        raise EmbeddingError("no answer")

    background = BackgroundEmbedder(FakeEmbedder, calibrate=failing)
    assert (background.wait(LIMIT), background.problem) == (None, "no answer")


def test_another_model_gives_the_same_ranking_bands_and_duplicates(installed_model: Path, tmp_path: Path) -> None:
    def lines(name: str) -> list[dict[str, str]]:
        return [json.loads(line) for line in (NOTES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]

    model = MiniLm.open(str(installed_model))
    similar: list[dict[str, float]] = []
    fits: list[dict[str, float]] = []
    for name, embedder in (("plain", model), ("squeezed", Squeezed(model))):
        with keepmum.open_memory(tmp_path / f"{name}.db", embedder) as memory:
            for note in lines("memories")[:8]:
                memory.remember(note["text"], title=note["title"])
            again = memory.remember(f"{lines('memories')[0]['text']} So it is.")
            similar.append({one.memory.text: one.cosine for one in again.similar})
            found = [memory.recall(question["query"], weak=True) for question in lines("queries")[:24:3]]
            fits.append({f"{number} {one.memory.text}": one.fit for number, all_ in enumerate(found) for one in all_})
    assert similar[1] == pytest.approx(similar[0], abs=0.01)
    # Vectors are stored in half precision, which costs the squeezed ones three times as much.
    assert fits[1] == pytest.approx(fits[0], abs=0.02)
