from __future__ import annotations

import threading

import numpy as np
import pytest

from keepmum.core.errors import ModelMissing
from keepmum.embedding import BackgroundEmbedder, Embedder
from keepmum.embedding.fake import FakeEmbedder

LIMIT = 60.0  # seconds that no wait of a test may take


def test_nothing_is_opened_before_the_start() -> None:
    background = BackgroundEmbedder(FakeEmbedder)
    assert (background.ready(), background.problem) == (None, "")


def test_ready_does_not_wait_while_the_embedder_opens() -> None:
    go_on = threading.Event()

    def slowly() -> Embedder:
        assert go_on.wait(LIMIT)
        return FakeEmbedder()

    background = BackgroundEmbedder(slowly)
    background.start()
    assert background.ready() is None
    go_on.set()
    assert background.wait(LIMIT) is background.ready() is not None


def test_it_is_opened_once() -> None:
    opened: list[int] = []

    def counted() -> Embedder:
        opened.append(1)
        return FakeEmbedder()

    background = BackgroundEmbedder(counted)
    background.start()
    background.start()
    background.wait(LIMIT)
    assert opened == [1]


def test_a_missing_model_is_reported_with_the_command() -> None:
    def missing() -> Embedder:
        raise ModelMissing("there is no model; run `keepmum model install`")

    background = BackgroundEmbedder(missing)
    assert background.wait(LIMIT) is None
    assert background.problem == "there is no model; run `keepmum model install`"


def test_an_unexpected_error_is_reported_without_its_message() -> None:
    def broken() -> Embedder:
        raise RuntimeError("words that may quote a memory")

    background = BackgroundEmbedder(broken)
    assert background.wait(LIMIT) is None
    assert "RuntimeError" in background.problem
    assert "quote" not in background.problem


@pytest.mark.parametrize("text", ["", "   ", "word", "word word word"])
def test_the_fake_returns_rows_of_length_one(text: str) -> None:
    rows = FakeEmbedder(16).embed([text])
    assert rows.shape == (1, 16)
    assert np.linalg.norm(rows[0]) == pytest.approx(1)


def test_the_fake_gives_texts_with_common_words_similar_vectors() -> None:
    query, near, far = FakeEmbedder().embed(["release notes", "notes of the release", "a cat sat"])
    assert query @ near > query @ far + 0.3


class Later:
    """An embedder that cannot be opened until it is installed."""

    def __init__(self) -> None:
        self.installed = False
        self.attempts = 0

    def __call__(self) -> Embedder:
        self.attempts += 1
        if not self.installed:
            raise ModelMissing("there is no model; run `keepmum model install`")
        return FakeEmbedder()


def test_retry_opens_a_model_that_was_installed_later() -> None:
    opening = Later()
    background = BackgroundEmbedder(opening, retry_seconds=0)
    assert background.wait(LIMIT) is None
    opening.installed = True
    background.retry()
    assert background.wait(LIMIT) is not None
    assert background.problem == ""


def test_a_failure_is_reported_until_an_attempt_succeeds() -> None:
    background = BackgroundEmbedder(Later(), retry_seconds=0)
    background.wait(LIMIT)
    background.retry()
    background.wait(LIMIT)
    assert "keepmum model install" in background.problem


def test_retry_waits_between_attempts() -> None:
    opening = Later()
    background = BackgroundEmbedder(opening, retry_seconds=LIMIT)
    background.wait(LIMIT)
    background.retry()
    background.wait(LIMIT)
    assert opening.attempts == 1


def test_retry_does_not_open_an_open_embedder() -> None:
    opening = Later()
    opening.installed = True
    background = BackgroundEmbedder(opening, retry_seconds=0)
    background.wait(LIMIT)
    background.retry()
    background.wait(LIMIT)
    assert opening.attempts == 1
