"""Fixtures for the Markdown store: a repository, and stores over it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keepmum.stores.markdown import MarkdownStore
from unit.markdown.markdown_parts import opened

Open = Callable[[], MarkdownStore]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository for one test."""
    path = tmp_path / "repository"
    path.mkdir()
    return path


@pytest.fixture
def open_again(folder: Path) -> Iterator[Open]:
    """Opens the store of the repository, each time as a new process would."""
    with contextlib.ExitStack() as stack:

        def open_one() -> MarkdownStore:
            store = opened(folder)
            stack.callback(store.close)
            return store

        yield open_one


@pytest.fixture
def store(open_again: Open) -> MarkdownStore:
    return open_again()
