"""The queue on disk: durable, ordered, limited in size, private; items leave it only as intended."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepmum.core.errors import StoreError
from keepmum.stores.outbox import Outbox
from unit.outbox.outbox_parts import ORIGIN, an_item


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    made = Outbox(str(tmp_path / "home" / "outbox.db"))
    yield made
    made.close()


def test_an_item_is_read_as_it_was_written(outbox: Outbox) -> None:
    item = an_item(text="ünï ☃", tags=("x",))
    assert outbox.put([item]) == 1
    assert outbox.next(ORIGIN) == item


def test_the_queue_is_durable(outbox: Outbox, tmp_path: Path) -> None:
    item = an_item()
    outbox.put([item])
    other = Outbox(str(tmp_path / "home" / "outbox.db"))
    assert other.items() == [item]
    other.close()


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_the_file_is_private(outbox: Outbox, tmp_path: Path) -> None:
    outbox.put([an_item()])
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "home").iterdir()} == {0o600}


def test_a_try_is_counted_before_it_is_made(outbox: Outbox) -> None:
    outbox.put([an_item()])
    outbox.next(ORIGIN)
    assert outbox.items()[0].tries == 1


def test_a_try_that_was_not_sent_does_not_count(outbox: Outbox) -> None:
    outbox.put([an_item()])
    item = outbox.next(ORIGIN)
    assert item is not None
    outbox.mark_failed(item, "it is down", sent=False)
    assert (outbox.items()[0].tries, outbox.items()[0].reason) == (0, "it is down")


def test_writes_to_one_memory_keep_their_order(outbox: Outbox) -> None:
    first = an_item()
    second = an_item(memory=first.memory, action="replace")
    outbox.put([first, second])
    for _ in range(3):
        assert outbox.next(ORIGIN) is not None
    assert [item.tries for item in outbox.items()] == [3, 0], "the second waits until the first was delivered"


def test_a_write_that_always_fails_blocks_no_other(outbox: Outbox) -> None:
    failing, other = an_item(), an_item()
    outbox.put([failing, other])
    assert [one and one.id for one in (outbox.next(ORIGIN), outbox.next(ORIGIN))] == [failing.id, other.id]


def test_a_server_gets_only_its_own_items(outbox: Outbox) -> None:
    outbox.put([an_item()])
    assert outbox.next("https://evil.example") is None
    assert outbox.count_waiting("https://evil.example") == 0


def test_a_full_queue_refuses_the_complete_write(tmp_path: Path) -> None:
    outbox = Outbox(str(tmp_path / "outbox.db"), max_items=2)
    outbox.put([an_item()])
    with pytest.raises(StoreError, match="nothing was stored"):
        outbox.put([an_item(), an_item()])
    assert outbox.count_waiting(ORIGIN) == 1
    outbox.close()


def test_a_queue_over_its_byte_limit_refuses(tmp_path: Path) -> None:
    outbox = Outbox(str(tmp_path / "outbox.db"), max_bytes=1000)
    with pytest.raises(StoreError, match="nothing was stored"):
        outbox.put([an_item(text="x" * 1000)])
    assert outbox.items() == []
    outbox.close()


def test_a_refused_item_is_kept_with_its_reason(outbox: Outbox) -> None:
    outbox.put([an_item()])
    item = outbox.next(ORIGIN)
    assert item is not None
    outbox.mark_refused(item, "the project is closed")
    assert (outbox.count_waiting(ORIGIN), outbox.count_refused(ORIGIN), outbox.next(ORIGIN)) == (0, 1, None)
    assert (outbox.items()[0].state, outbox.items()[0].reason) == ("refused", "the project is closed")


def test_a_refused_item_can_be_retried(outbox: Outbox) -> None:
    item = an_item()
    outbox.put([item])
    outbox.mark_refused(item, "no")
    outbox.pause(ORIGIN, "the key is not taken")
    assert outbox.retry() == 1
    assert (outbox.count_waiting(ORIGIN), outbox.pause_reason(ORIGIN)) == (1, "")


def test_an_item_can_be_dropped(outbox: Outbox) -> None:
    item, other = an_item(), an_item()
    outbox.put([item, other])
    assert [one.id for one in outbox.drop([item.id, "unknown"])] == [item.id]
    assert [one.id for one in outbox.items()] == [other.id]


def test_a_pause_lasts_until_resume(outbox: Outbox, tmp_path: Path) -> None:
    outbox.pause(ORIGIN, "the key is not taken")
    other = Outbox(str(tmp_path / "home" / "outbox.db"))
    assert other.pause_reason(ORIGIN) == "the key is not taken"
    other.resume(ORIGIN)
    assert outbox.pause_reason(ORIGIN) == ""
    other.close()


def test_the_current_id_is_the_last_one_set(outbox: Outbox) -> None:
    outbox.set_current_id("mem_a", "mem_b")
    outbox.set_current_id("mem_b", "mem_c")
    assert [outbox.current_id(one) for one in ("mem_a", "mem_b", "mem_c")] == ["mem_c"] * 3


def test_a_cycle_of_ids_ends(outbox: Outbox) -> None:
    outbox.set_current_id("mem_a", "mem_b")
    outbox.set_current_id("mem_b", "mem_a")
    assert outbox.current_id("mem_a") in {"mem_a", "mem_b"}


def test_a_full_disk_is_reported_with_the_next_step(outbox: Outbox) -> None:
    outbox._db.execute("PRAGMA max_page_count = 1")  # fewer than the file has already
    with pytest.raises(StoreError, match="nothing was queued; make room, and try again"):
        outbox.put([an_item(text="long " * 10_000)])
    assert outbox.items() == []


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "outbox.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match="nothing was queued"):
        Outbox(str(tmp_path / "outbox.db"))


def test_the_keys_of_the_file_stay_the_same(outbox: Outbox, tmp_path: Path) -> None:
    outbox.put([an_item(memory_json={"id": "x"}, base_revision=3)])
    with contextlib.closing(sqlite3.connect(next(tmp_path.rglob("*.db")))) as db:
        ((body,),) = db.execute("SELECT body FROM items").fetchall()
    assert sorted(json.loads(body)) == ["agent", "base", "tags", "text", "title", "whole"]
