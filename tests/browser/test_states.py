"""States of the page that are rare: what they say, what they let a person do, and that they break no rule."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, expect

from browser.conftest import Tab, Violations, serving, tab
from browser.pictures import STATES
from browser.sample import Agents, Sample
from keepmum.core.memory import Change

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_state_breaks_a_rule_of_accessibility(
    chromium: Browser, written: Sample, violations: Violations, theme: str
) -> None:
    found = {}
    with serving(written) as served, tab(chromium, served, theme) as one:
        for name, (route, act) in STATES.items():
            one.page.unroute_all(behavior="wait")
            one.page.reload()
            one.go(route)
            act(one)
            found[name] = violations(one)
    assert not {name: broken for name, broken in found.items() if broken}
    assert {"refused", "bulk", "read-only", "closed", "loading"} <= set(found)


def test_a_memory_that_is_switched_off_says_so_and_is_still_shown(
    chromium: Browser, sample: Sample, violations: Violations
) -> None:
    with serving(sample, KEEPMUM_ENABLED="false") as served, tab(chromium, served) as one:
        one.go("memories")
        banner = one.page.locator(".banner")
        expect(banner).to_contain_text("switched off")
        expect(banner).to_contain_text("keepmum on")
        expect(one.page.locator("[role=option]").first).to_be_visible()
        assert not violations(one)
        assert not one.complaints


def test_a_secret_that_was_kept_before_is_taken_out(opened: Tab) -> None:
    page, key = opened.page, "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    with Agents(opened.sample).at(0, "codex") as agent:
        memory = agent.remember("how staging is reached").memory
        agent.store.commit([Change(memory, replace(memory, revision=2, text=f"with {key}"))])
    opened.go("health")
    page.get_by_role("button", name="Search now").press("Enter")
    found = page.get_by_role("listitem").filter(has_text="Found in what was kept before")
    expect(found).to_contain_text("github.token in")
    assert key not in page.content()
    page.get_by_role("button", name="Take it out").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("cannot be undone")
    page.get_by_role("button", name="Leave").press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Take it out").press("Enter")
    page.get_by_role("button", name="Take them out").press("Enter")
    expect(page.locator(".toast")).to_contain_text("Took out what was found in 1 place")
    expect(found).to_contain_text("nothing found")
    with Agents(opened.sample).at(0, "codex") as agent:
        assert agent.store.get([memory.id])[0].text == "with [github.token removed]"
    assert not opened.complaints


def test_what_agents_learn_meanwhile_is_counted_and_shown_when_wanted(opened: Tab, violations: Violations) -> None:
    page = opened.page
    opened.go("memories")
    top = page.locator(".row b").first
    first = top.inner_text()
    with Agents(opened.sample).at(0, "codex") as agent:
        for number in range(3):
            agent.remember(f"Shop number {number} closes at {number} o'clock")
    page.evaluate("dispatchEvent(new Event('focus'))")  # as by the clock, every five seconds
    news = page.get_by_role("button", name=re.compile("3 new"))
    expect(news).to_be_visible()
    expect(top).to_have_text(first)  # the list stays as it is until the person wants it
    assert not violations(opened)
    news.press("Enter")
    expect(page.locator("[role=option]").first).to_contain_text("Shop number")
    expect(news).to_have_count(0)
    assert not opened.complaints
