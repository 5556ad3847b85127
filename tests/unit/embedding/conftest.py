from __future__ import annotations

from pathlib import Path

import pytest

from embedding_models import Tiny, Unavailable, installed, published


@pytest.fixture(scope="session")
def published_model(root: Path) -> Path:
    """The folder with the published files of the real model; the test is skipped where they cannot be had."""
    try:
        return published(root / ".cache" / "models")
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def installed_model(root: Path, published_model: Path) -> Path:
    """The folder with the installed files of the real model."""
    return installed(root / ".cache" / "models", published_model)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """A model of the same kind with a few hundred weights."""
    return Tiny(tmp_path_factory.mktemp("tiny"))
