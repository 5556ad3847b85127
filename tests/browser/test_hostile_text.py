"""Text of a memory is text, whatever it holds; and a list of any length stays small."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from browser.conftest import Tab
from browser.sample import Agents

pytestmark = pytest.mark.heavy

MARKUP = (
    "<img src=x onerror=window.PWNED=1><script>window.PWNED=1</script><svg onload=window.PWNED=1>",
    "</script><iframe src=javascript:parent.PWNED=1></iframe>{{constructor.constructor('window.PWNED=1')()}}${PWNED=1}",
    "[x](javascript:window.PWNED=1) <a href=javascript:window.PWNED=1>x</a> `<b onmouseover=window.PWNED=1>`",
)
ODD = ("\u202etxet eht esrever\u2066", "مرحبا بالعالم", "👩‍👩‍👧‍👦 é \ufeff", "x" * 65_000)


def test_nothing_of_a_memory_becomes_markup_or_code(opened: Tab) -> None:
    page = opened.page
    for number, text in enumerate(MARKUP):
        with Agents(opened.sample).at(0, f"agent {text}"[:150]) as agent:
            agent.remember(
                text, title=text[:110], why=text, key=f"hostile.{number}", tags=[text[:90].replace(",", ";")],
                source="javascript:window.PWNED=1" if number else f"https://x.example/{text}"[:400],
                data={text: [text]},
            )  # fmt: skip
            agent.recall(text)
    for number in range(len(MARKUP)):
        opened.go(f"memories?open=hostile.{number}")
        expect(page.locator(".detail .title")).to_have_text(MARKUP[number][:110].strip())
    for screen in ("home", "memories", "memories?q=img src onerror script", "review", "activity", "handoffs", "health"):
        opened.go(screen)
    assert page.evaluate("window.PWNED") is None
    assert page.locator("main img, main iframe, main script, main [onerror], main [onload]").count() == 0
    assert page.locator("a[href^='javascript' i]").count() == 0
    assert not opened.complaints


def test_odd_text_is_shown_and_does_not_widen_the_page(opened: Tab) -> None:
    page = opened.page
    with Agents(opened.sample).at(0, "codex") as agent:
        for number, text in enumerate(ODD):
            agent.remember(text, key=f"odd.{number}", why=text[:4000])
    page.set_viewport_size({"width": 320, "height": 700})
    for number, text in enumerate(ODD):
        opened.go(f"memories?open=odd.{number}")
        expect(page.locator(".detail")).to_contain_text(text.strip("\u202e\u2066\ufeff "))
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
    opened.go("memories")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_list_of_ten_thousand_draws_what_is_in_sight(opened: Tab) -> None:
    page = opened.page
    sample: list[dict[str, Any]] = []

    def pretend(route: Route) -> None:
        """Answer as if there were ten thousand memories."""
        asked = json.loads(route.request.post_data or "{}")
        if asked["view"] != "memories":
            route.continue_()
            return
        answer = route.fetch()
        found, first = answer.json(), asked["args"].get("offset", 0)
        sample.extend(found["data"]["rows"][:1])
        rows = [{**sample[0], "id": f"mem_{n}", "title": f"Memory {n}"} for n in range(first, min(first + 60, 10_000))]
        found["data"] |= {"rows": rows, "total": 10_000}
        route.fulfill(status=200, content_type="application/json", body=json.dumps(found))

    opened.intercept()
    page.route("**/api/ask", pretend)
    opened.go("memories")
    options = page.locator("[role=option]")
    expect(options.first).to_contain_text("Memory 0")
    assert options.count() <= 60
    assert options.first.get_attribute("aria-setsize") == "10000"
    page.locator("#memories").focus()
    page.keyboard.press("End")
    expect(page.get_by_role("option", name="Memory 9999")).to_be_visible()
    assert options.count() <= 60
    page.eval_on_selector("#memories", "e => { e.scrollTop = 300000; }")
    expect(page.get_by_role("option", name=re.compile(r"Memory 44\d\d")).first).to_be_visible()
    assert options.count() <= 60
