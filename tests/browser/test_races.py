"""What a person does before the page has drawn or loaded everything: no key is lost, no older answer is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from browser.conftest import Tab

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


class _Held:
    """Answers of the server that are held back, by what was asked."""

    def __init__(self, page: Page, path: str, wanted: Callable[[dict[str, object]], bool]) -> None:
        self._wanted, self._routes = wanted, list[Route]()
        page.route(path, self._take)

    def _take(self, route: Route) -> None:
        if self._wanted(json.loads(route.request.post_data or "{}")):
            self._routes.append(route)
        else:
            route.continue_()

    def wait(self, page: Page, count: int = 1) -> None:
        """Until so many are held."""
        while len(self._routes) < count:
            page.wait_for_timeout(10)

    def release(self, number: int = 0) -> None:
        """Let one go on."""
        self._routes.pop(number).continue_()


def _asks(view: str) -> Callable[[dict[str, object]], bool]:
    return lambda asked: asked.get("view") == view


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
    while held._routes:
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
    assert waiting
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
