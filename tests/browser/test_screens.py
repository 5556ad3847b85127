"""Each screen in each theme: accessible, without sideways scrolling, and without a complaint of policy or console."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from browser.conftest import PATIENCE_MS, Served, Tab, Violations, serving, tab
from browser.sample import Sample

SCREENS = (
    "home",
    "memories",
    "memories?q=which pool gets a deploy first",
    "memories?q=nothing has these words zzz",
    "memories?show=archived",
    "review",
    "activity",
    "activity?what=refused",
    "handoffs",
    "health",
    "memories?keys=1",
)

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def served(written: Sample) -> Iterator[Served]:
    """A dashboard that tests look at and leave as it is."""
    with serving(written) as one:
        yield one


@pytest.fixture(scope="module")
def shared(chromium: Browser, served: Served) -> Iterator[Tab]:
    with tab(chromium, served) as one:
        yield one


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_screen_breaks_a_rule_of_accessibility(shared: Tab, violations: Violations, theme: str) -> None:
    shared.page.set_viewport_size({"width": 1440, "height": 900})
    shared.page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
    found = {}
    for screen in SCREENS:
        shared.go(screen)
        found[screen] = violations(shared)
    assert not {screen: broken for screen, broken in found.items() if broken}
    assert not shared.complaints


@pytest.mark.parametrize("width", [320, 720, 900, 1280, 1440])  # 720: a window of 1440 at 200 %
def test_nothing_is_wider_than_its_column(shared: Tab, violations: Violations, width: int) -> None:
    shared.page.set_viewport_size({"width": width, "height": 800})
    wide, broken = {}, []
    for screen in SCREENS:
        shared.go(screen)
        wide[screen] = shared.page.evaluate(_TOO_WIDE)
        broken += violations(shared) if width == 320 else []
    assert not {screen: found for screen, found in wide.items() if found}
    assert not broken


# Parts of a screen that reach out of what holds them, and the page when it scrolls sideways.
_TOO_WIDE = """() => {
    const names = ".card, .col, .list, .detail, .settle, .ver, .lane, .queue > *, .tl svg";
    const parts = [...document.querySelectorAll(names)];
    const right = element => element.getBoundingClientRect().right;
    const scrolls = element => getComputedStyle(element).overflowX === "auto";
    const found = parts.filter(part => part.offsetParent !== null && !scrolls(part.parentElement)
        && right(part) > right(part.parentElement) + 1).map(part => part.className || part.tagName);
    return document.documentElement.scrollWidth > innerWidth ? [...found, "the page"] : found;
}"""


def test_with_forced_colours_what_is_chosen_keeps_an_outline(shared: Tab) -> None:
    shared.page.set_viewport_size({"width": 1440, "height": 900})
    shared.page.emulate_media(forced_colors="active")
    shared.go("memories")
    shared.page.wait_for_selector(".row.open")
    styles = [
        shared.page.eval_on_selector(chosen, "e => getComputedStyle(e).outlineStyle")
        for chosen in (".row.open", ".nav a[aria-current]", ".chip[aria-pressed=true]")
    ]
    shared.page.emulate_media(forced_colors="none")
    assert styles == ["solid"] * 3


def test_text_cannot_become_markup_even_by_a_script(shared: Tab) -> None:
    shared.go("home")
    said = shared.page.evaluate("(() => { try { document.body.innerHTML = '<i>x'; } catch (e) { return e.name; } })()")
    assert said == "TypeError"
    shared.complaints.clear()


def test_the_first_paint_takes_one_call_and_few_requests(chromium: Browser, served: Served) -> None:
    with serving(served.sample) as fresh:
        context = chromium.new_context()
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        asked: list[tuple[str, str]] = []
        page.on("request", lambda request: asked.append((request.url.partition("#")[0], request.post_data or "")))
        page.goto(fresh.address)
        page.wait_for_selector("main h1")
        page.wait_for_load_state("networkidle")
        context.close()
    asked = [each for each in asked if '"live"' not in each[1]]  # asked every five seconds
    assert len([url for url, _ in asked if "/api/" in url]) == 1
    assert len([url for url, _ in asked if not url.startswith("data:")]) <= 25


def test_a_second_tab_gets_the_session_of_the_first(chromium: Browser, served: Served) -> None:
    with serving(served.sample) as fresh, tab(chromium, fresh) as first:
        second = first.page.context.new_page()
        second.goto(f"{fresh.origin}/#/memories")
        second.wait_for_selector("[role=option]")
        first.page.reload()
        first.page.wait_for_selector("main h1")
        other = chromium.new_context().new_page()
        other.set_default_timeout(PATIENCE_MS)
        other.goto(fresh.address)
        other.get_by_text("keepmum dashboard").first.wait_for()
        other.context.close()


def test_looking_changes_nothing(shared: Tab) -> None:
    before = _used(shared.sample)
    for screen in (*SCREENS, "memories?open=deploy.rollback"):
        shared.go(screen)
    assert _used(shared.sample) == before


def _used(sample: Sample) -> list[tuple[object, ...]]:
    with sqlite3.connect(f"file:{sample.home / '.keepmum' / 'memory.db'}?mode=ro", uri=True) as db:
        memories = db.execute("SELECT id, access_count, accessed_at, revision FROM memories ORDER BY id").fetchall()
        (logged,) = db.execute("SELECT count(*) FROM activity").fetchone()
    return [*memories, (logged,)]
