"""The dashboard of a team's server in a real browser: what each role sees and does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.conftest import PATIENCE_MS, Tab, Violations, press_sequence
from browser.sample import Sample
from browser.team import API, TITLES, WEB, TeamServed, enter_key, signed_in, team_serving
from keepmum.server.people.keys import make_key

pytestmark = pytest.mark.heavy
ADMIN = ("people", "keys", "audit", "usage")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[TeamServed]:
    with team_serving(tmp_path) as one:
        yield one


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(reduced_motion="reduce", locale="en-GB")
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert not complaints


@pytest.fixture
def root(chromium: Browser, served: TeamServed) -> Iterator[Tab]:
    """An administrator of every project."""
    with signed_in(chromium, served, "root") as one:
        yield one
        assert not one.complaints


def _actors(served: TeamServed) -> list[tuple[str, str]]:
    """Who did what by the end of the audit log."""
    served.team.records.seal()
    return [(row.actor, row.action) for row in served.team.records.audit(before=10**9, limit=3)]


# -- others than administrators


def test_a_reader_signs_in_and_sees_the_project_without_actions(page: Page, served: TeamServed) -> None:
    page.goto(served.address)
    enter_key(page, make_key().text)
    expect(page.get_by_role("alert")).to_contain_text("this key is unknown to this server")
    enter_key(page, served.keys["rea"])
    page.get_by_label("Project").fill(WEB)
    page.get_by_role("button", name="Open").click()
    page.get_by_role("link", name="Memories").click()
    page.get_by_text(TITLES[WEB]).first.click()
    expect(page.get_by_text("as everybody knows").first).to_be_visible()
    assert TITLES[API] not in page.inner_text("body")
    for action in ("Forget", "Edit", "Archive", "Pin", "Confirm", "Wrong", "Still true"):
        assert page.get_by_role("button", name=action).count() == 0
    assert page.get_by_role("link", name="Health").count() == 0
    page.get_by_role("link", name="On your team").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Your key for this server")).to_be_visible()
    page.goto(served.address)
    expect(page.get_by_label("Your key for this server")).to_be_visible()


def test_a_curator_changes_a_memory_and_sees_no_trace_of_the_administration(
    chromium: Browser, served: TeamServed
) -> None:
    with signed_in(chromium, served, "cur") as one:
        asked: list[str] = []
        one.page.on("request", lambda request: asked.append(request.url))
        one.go("memories")
        one.page.get_by_text(TITLES[WEB]).first.click()
        one.page.get_by_role("button", name="Pin").first.click()
        expect(one.page.get_by_text("Pinned “Colours").last).to_be_visible()
        for screen in ADMIN:
            one.go(screen)
            expect(one.page.get_by_role("heading", level=1)).to_contain_text("What your agents know")
        for name in ("People", "Keys", "Audit", "Usage"):
            assert one.page.get_by_role("link", name=name, exact=True).count() == 0
        one.page.keyboard.press("?")
        expect(one.page.get_by_role("dialog")).to_contain_text("go to memories")
        expect(one.page.get_by_role("dialog")).not_to_contain_text("go to people")
        assert not [url for url in asked if "/admin/" in url]
        assert not one.complaints


# -- accessible


def _states(one: Tab) -> Iterator[str]:
    """Each screen of an administrator, with its forms, questions and what they lead to."""
    page = one.page
    for screen in (*ADMIN, "keys?show=all", "audit?action=key-made", "audit?subject=nothing", "usage?days=7"):
        one.go(screen)
        yield screen
    one.go("people")
    page.get_by_role("button", name="Roles of lead").click()
    page.get_by_role("button", name="Add someone").click()
    yield "people: forms"
    page.get_by_label("Name").fill("lead")
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_selector("#person-name-problem")
    yield "people: a name that is taken"
    page.get_by_role("button", name="Remove rea").click()
    yield "people: the question"
    page.keyboard.press("Escape")
    one.go("people?show=removed")
    yield "people: nobody was removed"
    page.get_by_role("button", name="Have access").click()
    page.get_by_role("button", name="Remove build").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove build").click()
    page.get_by_role("button", name="Removed", exact=True).click()
    page.get_by_role("button", name="Restore build").click()
    yield "people: the question about a removed one"
    page.get_by_role("dialog").get_by_role("button", name="Restore build").click()
    one.settle()
    one.go("keys")
    page.get_by_role("button", name="Make a key").click()
    yield "keys: form"
    page.get_by_role("button", name="Make", exact=True).click()
    page.wait_for_selector(".made")
    yield "keys: a new key"
    page.get_by_role("button", name="Withdraw laptop of root").click()
    yield "keys: the question"
    page.keyboard.press("Escape")


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 320)])
def test_no_state_of_an_administrators_screens_breaks_a_rule(
    chromium: Browser, served: TeamServed, violations: Violations, theme: str, width: int
) -> None:
    with signed_in(chromium, served, "root", theme, width) as one:
        found = {state: violations(one) + _too_wide(one) for state in _states(one)}
        assert not {state: broken for state, broken in found.items() if broken}
        assert not one.complaints


def _too_wide(one: Tab) -> list[str]:
    wide = one.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return ["the page scrolls sideways"] if wide else []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_sign_in_breaks_no_rule(page: Page, served: TeamServed, violations: Violations, theme: str) -> None:
    page.add_init_script(f"localStorage.setItem('keepmum.theme', '{theme}')")
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(served.address)
    one = Tab(page, Sample(served.folder, served.folder), [])
    expect(page.get_by_label("Your key for this server")).to_be_focused()
    assert not violations(one)
    enter_key(page, make_key().text)
    expect(page.get_by_role("alert")).to_contain_text("unknown to this server")
    assert not violations(one)
    enter_key(page, served.keys["rea"])
    expect(page.get_by_label("Project")).to_be_focused()
    assert not violations(one)


# -- what administrators do, with the keyboard


def test_a_person_is_added_gets_a_role_and_is_removed(root: Tab, served: TeamServed) -> None:
    page = root.page
    expect(page.get_by_role("link", name="People", exact=True)).to_be_visible()  # with its key
    press_sequence(page, "g", "p")
    page.get_by_role("button", name="Add someone").press("Enter")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("mia")
    page.get_by_label("Project", exact=True).fill(API)
    page.get_by_label("Project", exact=True).press("Enter")
    row = page.get_by_role("listitem").filter(has_text="mia")
    expect(row).to_contain_text(f"writer in {API}")
    page.get_by_role("button", name="Roles of mia").press("Enter")
    row.get_by_role("combobox", name=API).select_option("curator")
    expect(page.locator(".toast")).to_contain_text("mia is curator")
    expect(row.locator(".roles")).to_contain_text(f"curator in {API}")
    page.get_by_role("button", name="Remove mia").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("You can restore mia later")
    expect(dialog.get_by_role("button", name="Leave")).to_be_focused()
    page.keyboard.press("Enter")
    expect(row).to_have_count(1)
    page.get_by_role("button", name="Remove mia").press("Enter")
    expect(dialog.get_by_role("button", name="Leave")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(row).to_have_count(0)
    assert _actors(served) == [("root", "person-removed"), ("root", "role-curator"), ("root", "person-added")]


def test_a_removed_person_is_restored(root: Tab, served: TeamServed) -> None:
    served.admin.remove("wri")
    page = root.page
    root.go("people")
    page.get_by_role("button", name="Removed", exact=True).press("Enter")
    page.get_by_role("button", name="Restore wri").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"wri will be writer in {API} again")
    expect(dialog.get_by_role("button", name="Leave")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Restore wri").press("Enter")
    expect(dialog.get_by_role("button", name="Leave")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nobody was removed")).to_be_visible()
    page.get_by_role("button", name="Have access").press("Enter")
    expect(page.get_by_role("listitem").filter(has_text="wri")).to_contain_text(f"writer in {API}")
    assert _actors(served)[:2] == [("root", "person-restored"), ("root", "key-withdrawn")]


def test_a_name_that_is_taken_by_now_is_not_restored(root: Tab, served: TeamServed) -> None:
    served.admin.remove("wri")
    served.admin.add("wri", {WEB: "reader"})
    root.go("people?show=removed")
    root.page.get_by_role("button", name="Restore wri").press("Enter")
    root.page.get_by_role("dialog").get_by_role("button", name="Restore wri").press("Enter")
    expect(root.page.locator(".toast")).to_contain_text("wri is taken; remove that person first")
    expect(root.page.get_by_role("button", name="Restore wri")).to_have_count(1)


def test_a_new_key_is_shown_once_and_is_nowhere_afterwards(root: Tab, served: TeamServed) -> None:
    page = root.page
    root.go("keys")
    page.get_by_role("button", name="Make a key").press("Enter")
    page.get_by_label("For").select_option("wri")
    page.get_by_label("Name").fill("phone")
    page.get_by_label("Name").press("Enter")
    expect(page.locator(".made")).to_be_focused()
    key = page.inner_text(".made code.secret")
    assert key.startswith("kmt_")
    kept = (
        "() => JSON.stringify([location.href, {...localStorage}, {...sessionStorage}, history.state, document.cookie])"
    )
    assert key not in page.evaluate(kept)
    page.get_by_role("button", name="Done").press("Enter")
    for screen in ("keys", "home", "keys"):
        root.go(screen)
        assert key not in page.content()
    page.go_back()
    page.go_back()
    assert key not in page.content()
    page.reload()
    page.wait_for_selector(".team")
    assert key not in page.content() + page.evaluate(kept)
    assert served.admin.keys_of("wri")[-1].name == "phone"


def test_withdrawing_asks_and_says_when_the_key_was_last_used(root: Tab, served: TeamServed) -> None:
    page = root.page
    root.go("keys")
    page.get_by_role("button", name="Withdraw laptop of wri").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("It was never used")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert served.admin.keys_of("wri")[0].withdrawn_at is None
    page.get_by_role("button", name="Withdraw laptop of wri").press("Enter")
    dialog.get_by_role("button", name="Withdraw it").press("Enter")
    expect(page.locator(".toast")).to_contain_text("Withdrew")
    expect(page.get_by_role("button", name="Withdraw laptop of wri")).to_have_count(0)
    assert served.admin.keys_of("wri")[0].withdrawn_at


def test_who_withdraws_their_own_last_key_is_warned_and_signed_out(root: Tab) -> None:
    page = root.page
    root.go("keys")
    page.get_by_role("button", name="Withdraw laptop of root").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("last used less than an hour ago")
    expect(dialog).to_contain_text("you will be signed out")
    expect(dialog).to_contain_text("keepmum keys make")
    dialog.get_by_role("button", name="Withdraw it").press("Enter")
    expect(page.get_by_label("Your key for this server")).to_be_visible()


def test_a_rotated_key_is_replaced_with_an_overlap(root: Tab, served: TeamServed) -> None:
    page = root.page
    root.go("keys?person=wri")
    page.get_by_role("button", name="Rotate laptop of wri").press("Enter")
    expect(page.locator(".made")).to_contain_text("The former key is valid until")
    expect(page.get_by_role("listitem").filter(has_text="ends in 7 days")).to_have_count(1)
    assert len(served.admin.keys_of("wri")) == 2


def test_the_last_administrator_is_not_removed(root: Tab, served: TeamServed) -> None:
    page = root.page
    root.go("people")
    page.get_by_role("button", name="Remove root").press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("This is you")
    page.get_by_role("dialog").get_by_role("button", name="Remove root").press("Enter")
    expect(page.locator(".toast")).to_contain_text("no one else is admin of every project")
    assert "root" in [person.name for person in served.admin.people()]


def test_the_audit_is_filtered_verified_and_saved(root: Tab) -> None:
    page = root.page
    root.go("audit")
    expect(page.locator(".verdict")).to_contain_text("Whole up to row")
    page.get_by_label("What was done").select_option("key-made")
    root.settle()
    expect(page.locator(".audit tbody tr")).to_have_count(6)
    expect(page.locator(".audit tbody")).to_contain_text("key “laptop”")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export").press("Enter")
    lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6
    assert '"action":"key-made"' in lines[0]
    head = page.inner_text(".chain code.secret")
    page.get_by_label("Compare with a head").fill(head[:-1] + ("0" if head[-1] != "0" else "1"))
    page.get_by_role("button", name="Check and compare").press("Enter")
    expect(page.locator(".chain")).to_contain_text("The log was changed")
    page.get_by_label("Compare with a head").fill(head)
    page.get_by_role("button", name="Check and compare").press("Enter")
    expect(page.locator(".verdict")).to_contain_text("it has the row of your head")
    page.get_by_label("Compare with a head").fill("nonsense")
    page.get_by_role("button", name="Check and compare").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("hexadecimal")


def test_usage_says_who_uses_the_memory_and_holds_no_text(root: Tab) -> None:
    root.go("usage")
    text = root.page.inner_text("main")
    assert "Five of six used the memory in the last 30 days" in text
    assert not [title for title in TITLES.values() if title in text]
    row = root.page.get_by_role("row").filter(has_text="rea").first
    expect(row).to_contain_text("never")


def test_an_administrator_of_one_project_decides_about_roles_there(chromium: Browser, served: TeamServed) -> None:
    with signed_in(chromium, served, "lead") as one:
        one.go("people")
        assert one.page.get_by_role("button", name="Add someone").count() == 0
        assert one.page.get_by_role("button", name="Remove").count() == 0
        one.go("people?show=removed")
        assert one.page.get_by_role("button", name="Removed").count() == 0
        expect(one.page.get_by_role("listitem").filter(has_text="wri")).to_be_visible()
        assert WEB not in one.page.inner_text("main")
        assert one.page.get_by_role("link", name="Keys", exact=True).count() == 0
        one.go("audit")
        assert one.page.locator(".chain").count() == 0
        assert not one.complaints


def test_names_are_text_whatever_they_hold(root: Tab, served: TeamServed) -> None:
    """A route refuses such names; one that came by another way is shown as text."""
    script = "<img src=x onerror=window.PWNED=1>"
    person = served.admin.person("wri")
    entry = served.admin._entry("person-added", person.id, script)
    served.team.records.change_person(
        person.id, lambda found: found._replace(name=script, roles={script: "reader"}), entry
    )
    key = served.admin.keys_of("cur")[0]
    served.team.records.change_key(
        key.id, lambda found: found._replace(name=script, projects=(script,)), entry._replace(actor=script)
    )
    for screen in (*ADMIN, "keys?show=all"):
        root.go(screen)
        assert script in root.page.inner_text("main"), screen
    root.page.get_by_role("button", name=f"Withdraw {script}").press("Enter")
    expect(root.page.get_by_role("dialog")).to_contain_text(script)
    assert root.page.evaluate("window.PWNED") is None
    assert root.page.locator("main img, main script, main [onerror]").count() == 0
    assert root.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_who_is_withdrawn_while_they_look_is_signed_out(root: Tab, served: TeamServed) -> None:
    root.go("people")
    served.admin.withdraw_key(served.admin.keys_of("root")[0].id)
    expect(root.page.get_by_label("Your key for this server")).to_be_visible()
