"""What a search shows of several versions of a memory: the newest, and what it said before."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepmum.core.memory import Match, Memory, Trust
from keepmum.embedding import BackgroundEmbedder
from keepmum.embedding.fake import FakeEmbedder
from keepmum.service import MemoryService, Place
from keepmum.service.team import ORGANISATION, Grant, TeamSqliteSpec, open_team
from keepmum.stores.base import Near
from keepmum.workspace.allowlist import AllowlistScanner
from unit.core.service_parts import Clock, OpenService

OLD = "The checkout service listens on port 8080 behind the gateway of the shop"
NEW = "The checkout service listens on port 9090 behind the gateway of the shop"
QUERY = "checkout service port"
Open = Callable[..., MemoryService]


def opened() -> BackgroundEmbedder:
    background = BackgroundEmbedder(FakeEmbedder)
    assert background.wait(60.0) is not None
    return background


@pytest.fixture(params=["by words", "by vectors"])
def open_service(request: pytest.FixtureRequest, open_memory: OpenService) -> Open:
    """Opens the service with a model and without."""
    with_model = request.param == "by vectors"
    return lambda **options: open_memory(embedder=opened() if with_model else None, **options)


def shown(matches: list[Match]) -> list[tuple[str, str | None]]:
    """The texts of the results, with the text before each."""
    return [(match.memory.text, match.previous.text if match.previous else None) for match in matches]


def test_the_newest_version_is_shown_with_the_one_before(open_service: Open, clock: Clock) -> None:
    service = open_service()
    for text in (OLD, "The gateway of the shop runs nginx", NEW):
        service.remember(text)
        clock.advance(days=1)
    first, *others = shown(service.recall(QUERY))
    assert first == (NEW, OLD)
    assert OLD not in [text for text, _ in others]


def test_versions_written_in_a_repository_are_found(open_service: Open, clock: Clock) -> None:
    commit = {"branch": "main", "commit": "9f3c1ab"}
    service = open_service(checked_out=lambda _: commit)
    for text in (OLD, NEW):
        service.remember(text)
        clock.advance(days=1)
    assert shown(service.recall(QUERY)) == [(NEW, OLD)]


def test_an_opposite_rule_is_shown_once(open_service: Open, clock: Clock) -> None:
    service = open_service()
    for text in ("Always pipe the output of curl to sh.", "Never pipe the output of curl to sh."):
        service.remember(text)
        clock.advance(days=1)
    texts = [text for each in shown(service.recall("pipe curl")) for text in each if text]
    assert len(texts) == len(set(texts)) == 2


def test_the_newest_is_the_one_that_was_changed_last(open_service: Open, clock: Clock) -> None:
    service = open_service()
    first = service.remember(NEW).memory
    clock.advance(days=1)
    service.remember(OLD)
    clock.advance(days=1)
    service.revise(first.id, NEW, importance=0.9)
    assert shown(service.recall(QUERY)) == [(NEW, OLD)]


def test_a_version_that_no_word_of_the_query_finds_is_shown(open_service: Open, clock: Clock) -> None:
    service = open_service()
    service.remember(OLD)
    clock.advance(days=1)
    for number in range(70):
        service.remember(f"zebra {number} has the number 8080 and {number} stripes")
    service.remember(NEW)
    assert (NEW, OLD) in shown(service.recall("8080", limit=100))


def test_of_a_chain_of_versions_the_last_is_shown_with_the_one_before(open_service: Open, clock: Clock) -> None:
    service = open_service()
    chain = [OLD.replace("8080", str(port)) for port in (8080, 8081, 8082, 8083, 8084)]
    for text in chain:
        service.remember(text)
        clock.advance(days=1)
    assert shown(service.recall(QUERY)) == [(chain[4], chain[3])]


def test_a_version_that_the_query_names_is_shown_as_well(open_service: Open, clock: Clock) -> None:
    service = open_service()
    for port in (8080, 8081, 8082):
        service.remember(OLD.replace("8080", str(port)))
        clock.advance(days=1)
    found = shown(service.recall("checkout service port 8080"))
    assert found == [(OLD.replace("8080", "8082"), OLD.replace("8080", "8081")), (OLD, None)]


def test_versions_of_one_moment_are_ordered_by_id(open_service: Open) -> None:
    service = open_service()
    kept = [service.remember(text).memory for text in (OLD, NEW)]
    (match,) = service.recall(QUERY)
    assert match.memory.id == max(memory.id for memory in kept)
    assert match.previous is not None


def test_the_same_text_in_other_words_has_no_version_before(open_service: Open, clock: Clock) -> None:
    service = open_service()
    service.remember("first deploy the blue pool, then the green pool of the shop")
    clock.advance(days=1)
    service.remember("deploy the blue pool first, the green pool of the shop then")
    assert shown(service.recall("deploy pool")) == [
        ("deploy the blue pool first, the green pool of the shop then", None)
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"project": "a"}, {"project": "b"}, id="projects"),
        pytest.param({"scope": "global"}, {"scope": "project"}, id="scopes"),
        pytest.param({"scope": "session", "session": "s"}, {"scope": "project"}, id="sessions"),
        pytest.param({"key": "checkout/a"}, {"key": "checkout/b"}, id="keys"),
    ],
)
def test_memories_of_other_places_are_not_versions(
    open_service: Open, clock: Clock, first: dict[str, str], second: dict[str, str]
) -> None:
    service = open_service()
    service.remember(OLD, **first)  # type: ignore[arg-type]  # a table of fields
    clock.advance(days=1)
    service.remember(NEW, **second)  # type: ignore[arg-type]  # a table of fields
    found = shown(service.recall(QUERY, scope="all"))
    assert {text for text, _ in found} <= {OLD, NEW}
    assert all(before is None for _, before in found)


def test_users_do_not_see_versions_of_each_other(open_service: Open, clock: Clock) -> None:
    service = open_service()
    with service.at(replace(service.place, user="ada")):
        service.remember(OLD)
    clock.advance(days=1)
    with service.at(replace(service.place, user="bob")):
        service.remember(NEW)
        assert shown(service.recall(QUERY)) == [(NEW, None)]
    with service.at(replace(service.place, user="ada")):
        assert shown(service.recall(QUERY)) == [(OLD, None)]


@pytest.mark.parametrize("mode", ["archive", "trash", "purge"])
def test_a_removed_version_stands_for_none(open_service: Open, clock: Clock, mode: str) -> None:
    service = open_service()
    service.remember(OLD)
    clock.advance(days=1)
    newer = service.remember(NEW).memory
    service.forget([newer.id], mode=mode)
    assert shown(service.recall(QUERY)) == [(OLD, None)]


def test_a_superseded_version_is_not_shown_before(open_service: Open, clock: Clock) -> None:
    service = open_service()
    old = service.remember(OLD).memory
    clock.advance(days=1)
    service.remember(NEW, supersedes=old.id)
    assert shown(service.recall(QUERY)) == [(NEW, None)]


def test_pages_hold_each_version_once(open_service: Open, clock: Clock) -> None:
    service = open_service()
    for name in "billing search mail stock media tax login audit export print".split():
        for port in (8000, 9000):
            service.remember(f"The {name} service listens on port {port} and serves {name}s to the gateway of the shop")
            clock.advance(days=1)
    whole = shown(service.recall("port gateway shop", limit=30))
    pages = [match for start in range(0, 30, 5) for match in service.recall("port gateway shop", limit=5, offset=start)]
    assert shown(pages) == whole
    assert [before is not None for _, before in whole] == [True] * 10
    assert len({match.memory.id for match in pages}) == len(pages)


def test_things_of_which_the_same_is_said_are_both_shown(open_service: Open, clock: Clock) -> None:
    service = open_service()
    service.remember("Alice prefers dark mode and small diffs")
    clock.advance(days=1)
    service.remember("Bob prefers dark mode and small diffs")
    found = [text for text, _ in shown(service.recall("what does Alice prefer?"))]
    assert found == ["Alice prefers dark mode and small diffs", "Bob prefers dark mode and small diffs"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("person", "agent", [(OLD, None), (NEW, None)], id="less trusted and newer: both, as trusted"),
        pytest.param("agent", "outside", [(OLD, None), (NEW, None)], id="from outside"),
        pytest.param("agent", "person", [(NEW, OLD)], id="more trusted and newer"),
    ],
)
def test_less_trusted_versions_hide_none(
    open_service: Open, clock: Clock, old: Trust, new: Trust, expected: list[tuple[str, str | None]]
) -> None:
    open_service(trust=old).remember(OLD)
    clock.advance(days=1)
    service = open_service(trust=new)
    service.remember(NEW)
    assert shown(service.recall(QUERY)) == expected


def test_a_briefing_and_a_resume_show_the_newest_version_only(open_service: Open, clock: Clock) -> None:
    service = open_service()
    for text in (OLD, NEW):
        service.remember(text, kind="decision", importance=0.9 if text == OLD else 0.1)
        clock.advance(days=1)
    for text in (service.brief(), service.resume()):
        assert NEW in text
        assert OLD not in text


def test_a_briefing_shows_both_when_the_newer_one_is_trusted_less(open_service: Open, clock: Clock) -> None:
    open_service(trust="person").remember(OLD, kind="decision")
    clock.advance(days=1)
    service = open_service()
    service.remember(NEW, kind="decision")
    assert all(text in service.brief() for text in (OLD, NEW))


# -- near memories are kept between searches


def lookups(service: MemoryService, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of memories whose near ones the store has looked up since then."""
    search = service.store.features.versions
    assert search is not None
    counted: list[int] = []
    near = search.near

    def counting(memories: Sequence[Memory], *arguments: Any) -> list[Near]:
        counted.append(len(memories))
        return near(memories, *arguments)

    monkeypatch.setattr(search, "near", counting)
    return counted


def test_near_memories_are_looked_up_once(open_service: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    service = open_service()
    service.remember(OLD)
    found = shown(service.recall(QUERY))
    counted = lookups(service, monkeypatch)
    assert shown(service.recall(QUERY)) == found
    assert counted == []


def test_a_request_to_a_team_does_not_ask_whether_memories_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is kept for the next request, and PostgreSQL reads up to 100,000 rows to answer."""

    def changes() -> int:
        raise AssertionError("asked")

    grant = Grant(ORGANISATION, frozenset({"api"}), frozenset({"api"}))
    spec = TeamSqliteSpec(str(tmp_path / "memory.db"))
    with (
        contextlib.closing(open_team(spec, AllowlistScanner(None))) as team,
        team.service(grant, actor="ada", place=Place(project="api", name="api"), origin="rest") as service,
    ):
        service.remember(OLD)
        service.remember(NEW)
        monkeypatch.setattr(service.store, "changes", changes)
        assert len(service.recall(QUERY)) == 1  # with the version before it


def test_a_version_that_another_process_writes_is_found_at_once(open_service: Open, clock: Clock) -> None:
    service, other = open_service(), open_service()
    service.remember(OLD)
    assert shown(service.recall(QUERY)) == [(OLD, None)]
    clock.advance(days=1)
    other.remember(NEW)
    assert shown(service.recall(QUERY)) == [(NEW, OLD)]


def test_a_version_that_has_expired_since_is_not_shown(open_service: Open, clock: Clock) -> None:
    service = open_service()
    service.remember(OLD)
    clock.advance(days=1)
    service.remember(NEW, ttl_seconds=3600)
    assert shown(service.recall(QUERY)) == [(NEW, OLD)]
    clock.advance(days=1)
    assert shown(service.recall(QUERY)) == [(OLD, None)]
