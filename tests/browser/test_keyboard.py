"""All that a person does, with the keyboard alone; and what happens when it goes wrong."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Tab, press_sequence
from browser.sample import Agents

pytestmark = pytest.mark.heavy
TITLE = ".detail .title"


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_search_move_select_and_act_without_a_mouse(opened: Tab) -> None:
    page = opened.page
    press_sequence(page, "g", "m")
    expect(page.locator("#memories").first).to_be_visible()
    _press(page, "/")
    page.keyboard.type("which pool gets a deploy first")
    expect(page.locator(".row .legs").first).to_be_visible()
    _press(page, "ArrowDown")
    expect(page.locator("#memories")).to_be_focused()
    expect(page.locator(TITLE)).to_contain_text("Deploys go through the blue pool")
    expect(page.locator("#memories")).to_have_attribute("aria-activedescendant", "memories-0")
    first = page.inner_text(TITLE)
    _press(page, "j")
    expect(page.locator(TITLE)).not_to_have_text(first)
    _press(page, "k")
    expect(page.locator(TITLE)).to_have_text(first)
    expect(page.locator("#memories")).to_have_attribute("aria-activedescendant", "memories-0")
    expect(page.locator("#memories-0")).to_have_attribute("aria-posinset", "1")
    _press(page, "x", "j", "x")
    expect(page.locator(".bulk")).to_contain_text("2 selected")
    _press(page, "a")
    expect(page.locator(".toast")).to_contain_text("rchived")
    expect(page.locator("#memories")).to_be_focused()
    _press(page, "u")
    expect(page.locator("[role=option]").first).to_contain_text(first)
    assert not opened.complaints


def test_each_action_on_one_memory_has_a_key_and_can_be_undone(opened: Tab) -> None:
    page = opened.page
    opened.go("memories?open=deploy.order")
    expect(page.locator(TITLE)).to_contain_text("Deploys go through the blue pool")
    _press(page, "v")
    expect(page.locator(".detail .flag", has_text=re.compile("^confirmed$"))).to_be_visible()
    _press(page, "p")
    expect(page.locator(".detail .flag", has_text="pinned")).to_be_visible()
    for key in ("a", "w", "#"):
        opened.go("memories?open=deploy.order")
        expect(page.locator(TITLE)).to_contain_text("Deploys go through the blue pool")
        page.locator("#memories").focus()
        _press(page, key)
        expect(page.get_by_role("option", name=re.compile("Deploys go through"))).to_have_count(0)
        _press(page, "u")
        expect(page.get_by_role("option", name=re.compile("Deploys go through"))).to_have_count(1)
    assert not opened.complaints


def test_an_edit_is_kept_shown_as_a_difference_and_put_back(opened: Tab) -> None:
    page = opened.page
    opened.go("memories?open=deploy.order")
    expect(page.locator(TITLE).first).to_be_visible()
    _press(page, "e")
    field = page.get_by_label("Text", exact=True)
    field.fill(field.input_value().replace("ten quiet minutes", "twenty quiet minutes"))
    _press(page, "Control+Enter")
    expect(page.locator(".hist ins").first).to_have_text("twenty")
    expect(page.locator(".hist del").first).to_have_text("ten")
    page.get_by_role("button", name="Put back revision 1").press("Enter")
    expect(page.locator(".detail .body")).to_contain_text("ten quiet minutes")


def test_a_secret_is_refused_at_its_field_and_what_was_typed_stays(opened: Tab) -> None:
    page, secret = opened.page, "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    opened.go("memories?open=deploy.order")
    expect(page.locator(TITLE).first).to_be_visible()
    _press(page, "e")
    typed = f"Deploys need a key.\nIt is {secret}"
    page.get_by_label("Text", exact=True).fill(typed)
    _press(page, "Control+Enter")
    problem = page.locator("#edit-text-problem")
    expect(problem).to_contain_text("in text, line 2. Nothing was stored.")
    expect(page.get_by_label("Text", exact=True)).to_be_focused()
    expect(page.get_by_label("Text", exact=True)).to_have_value(typed)
    expect(problem).not_to_contain_text(secret)


def test_when_an_agent_was_faster_both_are_shown_and_mine_can_be_taken(opened: Tab) -> None:
    page = opened.page
    opened.go("memories?open=payments.retry")
    expect(page.locator(TITLE).first).to_be_visible()
    _press(page, "e")
    page.get_by_label("Text", exact=True).fill("Payments retry 4 times.")
    with Agents(opened.sample).at(0, "codex") as agent:
        agent.remember("Payments retry 2 times.", key="payments.retry")
    _press(page, "Control+Enter")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Codex changed this")
    expect(page.locator(".edit ins")).to_contain_text("4")
    page.get_by_role("button", name="Take mine").press("Enter")
    expect(page.locator(".detail .body")).to_have_text("Payments retry 4 times.")


def test_more_than_twenty_are_forgotten_only_after_their_number_was_typed(opened: Tab) -> None:
    page = opened.page
    with Agents(opened.sample).at(0, "codex") as agent:
        for number in range(22):
            agent.remember(f"Shop number {number} closes at {number} o'clock", tags=["shops"])
    opened.go("memories?tag=shops")
    expect(page.locator("[role=option]").first).to_be_visible()
    page.locator("#memories").focus()
    _press(page, "Home", "x", "End", "Shift+X")
    expect(page.locator(".bulk")).to_contain_text("22 selected")
    _press(page, "#")
    expect(page.get_by_label(re.compile("go into the trash"))).to_be_focused()
    page.keyboard.type("2")
    expect(page.get_by_role("button", name="Forget 22")).to_be_disabled()
    page.keyboard.type("2")
    _press(page, "Enter")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    _press(page, "u")
    expect(page.locator(".fit").first).to_contain_text("22 memories")


def test_the_review_is_settled_with_single_keys(opened: Tab) -> None:
    page = opened.page
    _press(page, "r")
    expect(page.locator(".settle").first).to_be_visible()
    first = page.inner_text(".settle .title")
    in_queue = page.get_by_role("navigation", name="To review").get_by_role("link", name=re.compile(re.escape(first)))
    _press(page, "j")
    expect(page.locator(".settle .title")).not_to_have_text(first)
    _press(page, "k")
    expect(page.locator(".settle .title")).to_have_text(first)
    _press(page, "s")
    expect(in_queue).to_have_count(0)
    _press(page, "u")
    in_queue.press("Enter")
    expect(page.locator(".settle .title")).to_have_text(first)
    _press(page, "1")
    expect(in_queue).to_have_count(0)
    assert not opened.complaints


def test_keys_are_shown_and_can_be_switched_off(opened: Tab) -> None:
    page = opened.page
    _press(page, "?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("still true")
    dialog.get_by_role("button", name="switch off").press("Enter")
    _press(page, "Escape")
    expect(dialog).to_have_count(0)
    press_sequence(page, "g", "r")
    assert "home" in page.evaluate("location.hash")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Memories").press("Enter")
    expect(page.locator("#memories")).to_be_visible()
    expect(page.locator("kbd").first).to_have_css("display", "none")


def test_handoffs_and_activity_are_undone_by_a_person(opened: Tab) -> None:
    page = opened.page
    opened.go("handoffs")
    page.get_by_role("button", name="Withdraw").first.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Withdrew")
    opened.go("activity")
    page.get_by_role("button", name="Undo what Cursor did").press("Enter")
    page.locator(".since select").select_option("7")
    undo = page.get_by_role("button", name=re.compile(r"^Undo \d"))
    expect(undo).to_be_enabled()
    undo.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Undone, of what Cursor wrote")
    assert not opened.complaints
