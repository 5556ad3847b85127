"""Signing in to the dashboard of a team's server at an identity provider, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.conftest import PATIENCE_MS
from identity_provider import IdentityProvider
from server_process import TeamServer


@pytest.fixture(scope="module")
def idp() -> Iterator[IdentityProvider]:
    with IdentityProvider() as running:
        yield running


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, idp: IdentityProvider) -> Iterator[str]:
    environ = {**idp.environ(), "KEEPMUM_SERVER_MODEL": "false"}
    with TeamServer(tmp_path_factory.mktemp("server"), environ=environ) as server:
        memory = {"text": "Deploys run at noon, as everybody knows", "title": "Deploys run at noon", "project": "api"}
        assert server.ask("POST", "/api/v1/memories", memory).status == 201
        yield f"http://127.0.0.1:{server.port}/dashboard/"


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(reduced_motion="reduce", locale="en-GB")
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    context.close()


@pytest.mark.heavy
def test_a_person_signs_in_at_the_provider(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Sign in with 127.0.0.1").click()
    page.get_by_role("link", name="Memories").click()
    page.get_by_text("Deploys run at noon").first.click()
    expect(page.get_by_text("as everybody knows").first).to_be_visible()
    assert "code=" not in page.url
    page.get_by_role("link", name="On your team").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in with 127.0.0.1")).to_be_visible()


@pytest.mark.heavy
def test_an_answer_that_this_tab_did_not_ask_for_opens_nothing(page: Page, address: str) -> None:
    page.goto(f"{address}sign-in.html?code=stolen&state=of-another")
    expect(page.get_by_role("alert")).to_contain_text("did not begin in this tab")
    assert page.url == f"{address}sign-in.html"
    assert page.context.cookies() == []


@pytest.mark.heavy
def test_a_person_without_a_role_gets_that_reason(page: Page, address: str, idp: IdentityProvider) -> None:
    former, idp.claims = idp.claims, {"sub": "max", "preferred_username": "max"}
    try:
        page.goto(address)
        page.get_by_role("button", name="Sign in with 127.0.0.1").click()
        expect(page.get_by_role("alert")).to_contain_text("no role on this server")
    finally:
        idp.claims = former
