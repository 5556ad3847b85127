"""A store is closed while another thread reads it, as when a session moves to another repository."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from keepmum.core.errors import StoreError
from keepmum.core.memory import Filter
from keepmum.stores.markdown import MarkdownStore
from keepmum.stores.markdown.file_table import FileTable
from unit.markdown.markdown_parts import NOW

LIMIT = 60.0  # seconds


def test_closing_waits_for_the_read_of_another_thread(store: MarkdownStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite would crash the process."""
    reading, release, closed = threading.Event(), threading.Event(), threading.Event()
    refresh = FileTable.refresh

    def refresh_slowly(table: FileTable) -> None:
        reading.set()
        assert release.wait(LIMIT)
        refresh(table)

    def close() -> None:
        store.close()
        closed.set()

    monkeypatch.setattr(FileTable, "refresh", refresh_slowly)
    with ThreadPoolExecutor(2) as threads:
        counted = threads.submit(store.count, Filter(now=NOW))
        assert reading.wait(LIMIT)
        threads.submit(close)
        assert not closed.wait(0.2)
        release.set()
        assert counted.result(LIMIT) == 0
        assert closed.wait(LIMIT)


def test_a_closed_store_says_so(store: MarkdownStore) -> None:
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.count(Filter(now=NOW))
