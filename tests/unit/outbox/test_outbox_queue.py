"""What waits is kept, in order, within bounds, for its owner alone, and leaves by no back door."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepmum.core.errors import StoreError
from keepmum.stores.outbox import Outbox
from unit.outbox.outbox_parts import ORIGIN, an_item


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Outbox]:
    made = Outbox(str(tmp_path / "home" / "outbox.db"))
    yield made
    made.close()


def test_a_write_comes_out_as_it_went_in(box: Outbox) -> None:
    item = an_item(text="ünï ☃", tags=("x",))
    assert box.put([item]) == 1
    assert box.next(ORIGIN) == item


def test_what_waits_is_there_for_the_next_process(box: Outbox, tmp_path: Path) -> None:
    item = an_item()
    box.put([item])
    other = Outbox(str(tmp_path / "home" / "outbox.db"))
    assert other.items() == [item]
    other.close()


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_the_file_is_for_its_owner_alone(box: Outbox, tmp_path: Path) -> None:
    box.put([an_item()])
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "home").iterdir()} == {0o600}


def test_a_try_is_counted_before_it_is_made(box: Outbox) -> None:
    box.put([an_item()])
    box.next(ORIGIN)
    assert box.items()[0].tries == 1


def test_a_try_that_was_surely_not_sent_counts_for_none(box: Outbox) -> None:
    box.put([an_item()])
    item = box.next(ORIGIN)
    assert item is not None
    box.failed(item, "it is down", sent=False)
    assert (box.items()[0].tries, box.items()[0].reason) == (0, "it is down")


def test_writes_to_one_memory_keep_their_order(box: Outbox) -> None:
    first = an_item()
    second = an_item(memory=first.memory, action="replace")
    box.put([first, second])
    for _ in range(3):
        assert box.next(ORIGIN) is not None
    assert [item.tries for item in box.items()] == [3, 0], "the second waits for the first, however often that fails"


def test_a_write_that_always_fails_holds_up_no_other(box: Outbox) -> None:
    failing, other = an_item(), an_item()
    box.put([failing, other])
    assert [one and one.id for one in (box.next(ORIGIN), box.next(ORIGIN))] == [failing.id, other.id]


def test_a_server_gets_only_what_was_queued_for_it(box: Outbox) -> None:
    box.put([an_item()])
    assert box.next("https://evil.example") is None
    assert box.waiting("https://evil.example") == 0


def test_a_full_queue_refuses_all_of_a_write_and_says_so(tmp_path: Path) -> None:
    box = Outbox(str(tmp_path / "outbox.db"), most_items=2)
    box.put([an_item()])
    with pytest.raises(StoreError, match="nothing was stored"):
        box.put([an_item(), an_item()])
    assert box.waiting(ORIGIN) == 1
    box.close()


def test_a_queue_of_too_many_bytes_refuses(tmp_path: Path) -> None:
    box = Outbox(str(tmp_path / "outbox.db"), most_bytes=1000)
    with pytest.raises(StoreError, match="nothing was stored"):
        box.put([an_item(text="x" * 1000)])
    assert box.items() == []
    box.close()


def test_what_a_server_refused_is_laid_aside_and_seen(box: Outbox) -> None:
    box.put([an_item()])
    item = box.next(ORIGIN)
    assert item is not None
    box.refuse(item, "the project is closed")
    assert (box.waiting(ORIGIN), box.refused(ORIGIN), box.next(ORIGIN)) == (0, 1, None)
    assert (box.items()[0].state, box.items()[0].reason) == ("refused", "the project is closed")


def test_what_was_laid_aside_can_be_sent_again(box: Outbox) -> None:
    item = an_item()
    box.put([item])
    box.refuse(item, "no")
    box.pause(ORIGIN, "the key is not taken")
    assert box.retry() == 1
    assert (box.waiting(ORIGIN), box.paused(ORIGIN)) == (1, "")


def test_what_was_laid_aside_can_be_dropped(box: Outbox) -> None:
    item, other = an_item(), an_item()
    box.put([item, other])
    assert [one.id for one in box.drop([item.id, "unknown"])] == [item.id]
    assert [one.id for one in box.items()] == [other.id]


def test_a_pause_lasts_until_it_is_lifted(box: Outbox, tmp_path: Path) -> None:
    box.pause(ORIGIN, "the key is not taken")
    other = Outbox(str(tmp_path / "home" / "outbox.db"))
    assert other.paused(ORIGIN) == "the key is not taken"
    other.resume(ORIGIN)
    assert box.paused(ORIGIN) == ""
    other.close()


def test_a_memory_is_known_by_the_last_name_it_was_given(box: Outbox) -> None:
    box.rename("mem_a", "mem_b")
    box.rename("mem_b", "mem_c")
    assert [box.name(one) for one in ("mem_a", "mem_b", "mem_c")] == ["mem_c"] * 3


def test_names_that_go_in_a_circle_end(box: Outbox) -> None:
    box.rename("mem_a", "mem_b")
    box.rename("mem_b", "mem_a")
    assert box.name("mem_a") in {"mem_a", "mem_b"}


def test_a_disk_without_room_is_told_with_what_to_do(box: Outbox) -> None:
    box._db.execute("PRAGMA max_page_count = 1")  # of which there are more already
    with pytest.raises(StoreError, match="nothing was queued; make room, and try again"):
        box.put([an_item(text="long " * 10_000)])
    assert box.items() == []


def test_a_file_that_is_no_queue_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "outbox.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match="nothing was queued"):
        Outbox(str(tmp_path / "outbox.db"))
