"""What a person does before the page has drawn or loaded everything: no key is lost, no older answer is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from browser.conftest import PATIENCE_MS, Tab, wait_until

pytestmark = pytest.mark.heavy

# Presses a key in the same task that puts a text into the page: before its frame is drawn.
_PRESS_AT_ONCE = """([place, text, key]) => {
    const press = () => document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    new MutationObserver((_, me) => {
        if (![...document.querySelectorAll(place)].some(each => each.textContent.includes(text))) return;
        me.disconnect();
        press();
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def _press_at_once(page: Page, place: str, text: str, key: str) -> None:
    page.evaluate(_PRESS_AT_ONCE, [place, text, key])


def test_a_key_that_comes_before_the_frame_is_drawn_decides_what_the_page_holds(opened: Tab) -> None:
    page = opened.page
    opened.go("review")
    links = page.get_by_role("navigation", name="To review").get_by_role("link")
    expect(links.nth(1)).to_be_visible()
    second = page.locator(".settle .title")
    first = second.inner_text()
    page.keyboard.press("j")
    expect(second).not_to_have_text(first)
    title = second.inner_text()
    page.keyboard.press("k")
    expect(second).to_have_text(first)
    _press_at_once(page, ".settle .title", title, "s")
    page.keyboard.press("j")
    expect(links.filter(has_text=re.compile(re.escape(title)))).to_have_count(0)
    expect(links.filter(has_text=re.compile(re.escape(first)))).to_have_count(1)
    assert not opened.complaints


def test_keys_in_quick_succession_move_by_as_many_rows(opened: Tab) -> None:
    page = opened.page
    opened.go("memories")
    page.locator("#memories").focus()
    page.keyboard.press("Home")
    page.evaluate("""() => {
        for (let n = 0; n < 4; n++) setTimeout(() => document.getElementById("memories").dispatchEvent(
            new KeyboardEvent("keydown", { key: "j", bubbles: true, cancelable: true })));
    }""")
    expect(page.locator("#memories")).to_have_attribute("aria-activedescendant", "memories-4")
    expect(page.locator(".row").nth(4)).to_have_attribute("aria-current", "true")


@pytest.fixture
def opened(opened: Tab) -> Tab:
    """A tab whose requests can be held."""
    opened.intercept()
    return opened


class _Held:
    """Answers of the server that are held back, by what was asked."""

    def __init__(self, page: Page, path: str, wanted: Callable[[dict[str, Any]], bool], *, old: bool = False) -> None:
        """With `old`, they are what the server said when it was asked; else it is asked when they are released."""
        self._wanted, self._old, self._routes = wanted, old, list[tuple[Route, APIResponse | None]]()
        page.route(path, self._take)

    def _take(self, route: Route) -> None:
        if self._wanted(json.loads(route.request.post_data or "{}")):
            self._routes.append((route, route.fetch() if self._old else None))
        else:
            route.continue_()

    def wait(self, page: Page) -> None:
        """Until one is held."""
        wait_until(page, lambda: bool(self._routes))

    def release(self) -> None:
        """Let all that are held go on."""
        while self._routes:
            route, answer = self._routes.pop(0)
            if answer is None:
                route.continue_()
            else:
                route.fulfill(response=answer)


def _asks(view: str) -> Callable[[dict[str, Any]], bool]:
    return lambda asked: bool(asked.get("view") == view)


def test_a_key_for_a_memory_that_is_loading_acts_when_it_is_there(opened: Tab) -> None:
    page = opened.page
    opened.go("memories?open=deploy.order")
    held = _Held(page, "**/api/ask", _asks("memory"))
    page.locator("#memories").focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    held.wait(page)
    title = page.locator(".row").last.locator("b").inner_text()
    page.keyboard.press("a")
    held.release()
    page.unroute_all(behavior="wait")
    expect(page.locator(".toast")).to_contain_text("rchived")
    expect(page.locator(".row").filter(has_text=title)).to_have_count(0)


def test_the_list_of_a_search_is_entered_when_it_has_loaded(opened: Tab) -> None:
    page = opened.page
    opened.go("memories")
    field = page.get_by_role("searchbox")
    held = _Held(page, "**/api/ask", lambda asked: "query" in str(asked.get("args")))
    field.focus()
    page.evaluate("""() => {
        const field = document.activeElement;
        field.value = "which pool gets a deploy first";
        field.dispatchEvent(new Event("input", { bubbles: true }));
        field.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true }));
    }""")
    held.wait(page)
    expect(page.locator(".row")).to_have_count(0)
    held.release()
    expect(page.locator("#memories")).to_be_focused()
    expect(page.locator("#memories")).to_have_attribute("aria-activedescendant", "memories-0")
    expect(page.locator(".detail .title")).to_contain_text("Deploys go through the blue pool")
    expect(field).to_have_value("which pool gets a deploy first")


def test_what_is_typed_for_a_search_that_is_still_loading_arrives_there(opened: Tab) -> None:
    page = opened.page
    opened.go("activity")
    waiting: list[Route] = []
    page.route("**/screens/memories.js", lambda route: waiting.append(route))  # noqa: PLW0108 - it gets an attribute
    page.keyboard.press("/")
    page.keyboard.type("rollback w#")
    wait_until(page, lambda: bool(waiting))
    for route in waiting:
        route.continue_()
    expect(page.get_by_role("searchbox")).to_have_value("rollback w#")
    expect(page.get_by_role("searchbox")).to_be_focused()
    assert not opened.complaints


def test_a_decision_that_ends_late_leaves_the_person_where_they_are(opened: Tab) -> None:
    page = opened.page
    opened.go("review")
    title = page.locator(".settle .title")
    first = title.inner_text()
    held = _Held(page, "**/api/change", lambda _: True)
    page.keyboard.press("s")
    held.wait(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    third = page.locator("[aria-label='To review'] a").nth(2)
    expect(third).to_have_attribute("aria-current", "true")
    third_title = title.inner_text()
    held.release()
    expect(page.locator("[aria-label='To review'] a").filter(has_text=re.compile(re.escape(first)))).to_have_count(0)
    expect(title).to_have_text(third_title)
    held = _Held(page, "**/api/change", lambda _: True)
    page.keyboard.press("s")
    held.wait(page)
    page.evaluate("location.hash = '#/home'")
    held.release()
    expect(page.locator(".toast")).to_contain_text("Later")
    assert "#/home" in page.url


def test_an_answer_that_was_overtaken_does_not_replace_a_newer_one(opened: Tab) -> None:
    page = opened.page
    opened.go("activity")
    held = _Held(page, "**/api/ask", _asks("activity"))
    chips = page.get_by_role("group", name="What is listed")
    rows = page.locator(".log tbody tr")
    chips.get_by_role("button", name="Refused").press("Enter")
    held.wait(page)
    chips.get_by_role("button", name="Everything").press("Enter")
    all_of_them = rows.count()
    held.release()
    opened.settle()
    assert rows.count() == all_of_them


def _small_pages(page: Page, view: str, rows: int) -> None:
    """Let each page of a list have so few rows that the sample fills several."""

    def shorten(route: Route) -> None:
        asked = json.loads(route.request.post_data or "{}")
        if asked.get("view") == view:
            asked["args"]["limit"] = rows
        route.fallback(post_data=json.dumps(asked))

    page.route("**/api/ask", shorten)


def _asks_for_more(view: str) -> Callable[[dict[str, Any]], bool]:
    return lambda asked: bool(asked.get("view") == view and asked["args"].get("cursor"))


def test_a_page_of_a_log_that_was_left_is_not_appended_to_another(opened: Tab) -> None:
    page = opened.page
    held = _Held(page, "**/api/ask", _asks_for_more("activity"))
    _small_pages(page, "activity", 5)
    opened.go("activity")
    rows = page.locator(".log tbody tr")
    expect(rows).to_have_count(5)
    page.get_by_role("button", name="Show more").press("Enter")
    held.wait(page)
    page.get_by_role("button", name="Refused").press("Enter")
    expect(rows).not_to_have_count(5)
    refused = rows.count()
    held.release()
    opened.settle()
    assert rows.count() == refused
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


def test_a_page_of_the_review_before_a_decision_is_not_appended_after_it(opened: Tab) -> None:
    page = opened.page
    held = _Held(page, "**/api/ask", _asks_for_more("review"))
    _small_pages(page, "review", 2)
    opened.go("review")
    links = page.get_by_role("navigation", name="To review").get_by_role("link")

    def listed() -> list[str]:
        addresses: list[str] = links.evaluate_all("all => all.map(each => each.href)")
        return addresses

    before = listed()
    assert len(before) == 2
    page.get_by_role("button", name="Show more").press("Enter")
    held.wait(page)
    page.keyboard.press("s")
    wait_until(page, lambda: listed() != before)
    left = listed()
    held.release()
    opened.settle()
    assert listed() == left
    page.get_by_role("button", name="Show more").press("Enter")
    held.wait(page)
    held.release()
    expect(links).to_have_count(4)


def test_a_page_that_does_not_come_is_said_and_can_be_asked_for_again(opened: Tab) -> None:
    page = opened.page
    fails = [True]

    def fail_once(route: Route) -> None:
        if fails and _asks_for_more("review")(json.loads(route.request.post_data or "{}")):
            fails.clear()
            route.fulfill(status=503, json={"error": {"kind": "failed", "message": "the store is busy"}})
        else:
            route.fallback()

    page.route("**/api/ask", fail_once)
    _small_pages(page, "review", 2)
    opened.go("review")
    links = page.get_by_role("navigation", name="To review").get_by_role("link")
    expect(links).to_have_count(2)
    page.get_by_role("button", name="Show more").press("Enter")
    expect(page.locator(".toast")).to_contain_text("the store is busy")
    page.get_by_role("button", name="Show more").press("Enter")
    expect(links).to_have_count(4)
    assert not opened.complaints


def test_counts_of_an_overtaken_answer_do_not_come_back(opened: Tab) -> None:
    page = opened.page
    opened.go("review")
    count = page.get_by_role("navigation", name="Main").locator("a[href='#/review'] .num")
    before = int(count.inner_text())
    held_now = [True]
    held = _Held(page, "**/api/ask", lambda asked: bool(held_now and asked["args"].get("about")), old=True)
    title = page.locator(".settle .title")
    first = title.inner_text()
    page.keyboard.press("s")
    held.wait(page)
    held_now.clear()
    expect(title).not_to_have_text(first)
    page.keyboard.press("s")
    expect(count).to_have_text(str(before - 2))
    held.release()
    opened.settle()
    assert count.inner_text() == str(before - 2)


def test_a_search_for_secrets_is_shown_although_its_first_state_comes_late(opened: Tab) -> None:
    page = opened.page
    held_now = [True]
    held = _Held(page, "**/api/ask", lambda asked: bool(held_now) and asked["view"] == "audit", old=True)
    page.evaluate("location.hash = '#/health'")
    held.wait(page)
    held_now.clear()
    page.get_by_role("button", name="Search now").press("Enter")
    found = page.get_by_role("listitem").filter(has_text="Found in what was kept before")
    expect(found).not_to_contain_text("not searched yet")
    held.release()
    opened.settle()
    expect(found).to_contain_text("nothing found")


def test_who_types_when_an_action_ends_goes_on_typing(opened: Tab) -> None:
    page = opened.page
    opened.go("memories?open=deploy.order")
    page.locator("#memories").focus()
    held = _Held(page, "**/api/change", lambda _: True)
    page.keyboard.press("a")
    held.wait(page)
    page.keyboard.press("/")
    page.keyboard.type("ro")
    held.release()
    expect(page.locator(".toast")).to_contain_text("rchived")
    page.keyboard.type("ll")
    expect(page.get_by_role("searchbox")).to_have_value("roll")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_a_second_tab_waits_for_the_secret_of_a_busy_first_one(opened: Tab) -> None:
    opened.page.evaluate("""() => {
        const post = BroadcastChannel.prototype.postMessage;
        BroadcastChannel.prototype.postMessage = function (said) { setTimeout(() => post.call(this, said), 1000); };
    }""")
    second = opened.page.context.new_page()
    second.set_default_timeout(PATIENCE_MS)
    second.goto(f"{opened.page.url.partition('#')[0]}#/memories")
    expect(second.locator(".row").first).to_be_visible()


def test_a_link_that_is_followed_while_the_keys_are_closed_leads_on(opened: Tab) -> None:
    page = opened.page
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.evaluate("""() => {
        document.querySelector("dialog").close();
        document.querySelector("nav a[href='#/memories']").click();
    }""")
    expect(page.locator("#memories")).to_be_visible()
    expect(page.locator("dialog")).to_have_count(0)
