"""The panel in a chat: the official host side shows it, in both kinds of sandbox, over a real server."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from browser.chat import Chat, chatting
from browser.conftest import PATIENCE_MS, STAYS
from browser.sample import Agents, Sample
from clients import npm

ROOT = Path(__file__).parents[2]
EXT_APPS, ESBUILD = "2.0.4", "0.28.2"

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The host side, bundled; Node is for the test alone."""
    if shutil.which("node") is None:
        pytest.skip("node is not on this machine, and the bundler requires it")
    cache = ROOT / ".cache" / "clients"
    try:
        name = "@modelcontextprotocol/ext-apps"
        package = npm.fetched(cache, name, EXT_APPS, f"{name}/package.json")
        npm.fetched(cache, "esbuild", ESBUILD, "esbuild/package.json")
        machine = f"{platform.system().lower()}-{'arm64' if platform.machine() in {'arm64', 'aarch64'} else 'x64'}"
        esbuild = npm.fetched(cache, "esbuild", ESBUILD, f"@esbuild/{machine}/bin/esbuild")
    except npm.Unavailable as reason:
        pytest.skip(str(reason))
    out = tmp_path_factory.mktemp("host") / "host.js"
    entry = Path(__file__).parent / "host" / "host.js"
    command = [str(esbuild), str(entry), "--bundle", "--format=iife", f"--outfile={out}", "--log-level=error"]
    subprocess.run(command, check=True, env={**os.environ, "NODE_PATH": str(package.parents[2])})
    return out.read_bytes()


@pytest.fixture(scope="module")
def chat(written: Sample, host: bytes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Chat, Sample]]:
    folder = tmp_path_factory.mktemp("chat")
    copied = Sample(folder / "home", folder / "checkout")
    shutil.copytree(written.home, copied.home, symlinks=True)
    shutil.copytree(written.root, copied.root)
    with chatting(copied, host) as one:
        yield one, copied


class _Shown:
    """The panel as a chat shows it."""

    def __init__(self, page: Page, chat: Chat, query: str = "", *, opaque: bool = False, **options: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(chat.page)
        where = chat.sandbox + ("?opaque" if opaque else "")
        page.evaluate(
            "([url, args, more]) => start(url, args, more)", [where, {"query": query} if query else {}, options]
        )
        self.inner = page.frame_locator("#app").frame_locator("iframe")
        self.complaints = [each for each in self.complaints if "favicon" not in each]

    @property
    def frame(self) -> Frame:
        """The innermost frame."""
        return self.page.frames[-1]

    def log(self) -> list[list[Any]]:
        """What the host saw."""
        found: list[list[Any]] = json.loads(self.page.evaluate("JSON.stringify(log)"))
        return found


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1300, "height": 900}, timezone_id="UTC", reduced_motion="reduce")
    context.add_init_script(STAYS)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    context.close()


@pytest.mark.parametrize("sandbox", ["of another origin", "opaque"])
def test_it_shows_what_was_asked_in_both_sandboxes(
    page: Page, chat: tuple[Chat, Sample], axe: str, sandbox: str
) -> None:
    shown = _Shown(
        page, chat[0], "which pool gets a deploy first", opaque=sandbox == "opaque", strip=sandbox == "opaque"
    )
    expect(shown.inner.locator(".wl .fold").first).to_contain_text("Deploys go through the blue pool")
    page.wait_for_function("log.some(([what, high]) => what === 'size' && high > 100 && high <= 700)")
    log = shown.log()
    assert [each[0] for each in log if each[0] in {"initialized", "call"}][:2] == ["initialized", "call"]
    shown.frame.evaluate(axe)
    for tab in ("Activity", "Review", "Memory"):
        shown.inner.get_by_role("tab", name=re.compile(tab)).click()
        expect(shown.inner.get_by_role("tabpanel").locator(".wl, .al, .settle").first).to_be_visible()
        broken = shown.frame.evaluate("axe.run(document).then(r => r.violations.map(v => v.id))")
        assert not broken, tab
    assert not shown.complaints


def test_what_one_agent_stored_anothers_panel_shows_with_who_and_why(page: Page, chat: tuple[Chat, Sample]) -> None:
    with Agents(chat[1]).at(0, "codex") as agent:
        agent.remember("Invoices are numbered without gaps", key="invoices.numbers", why="the auditor asked for it")
    shown = _Shown(page, chat[0])
    shown.inner.get_by_role("button", name="invoices.numbers").click()
    card = shown.inner.locator("li.open")
    expect(card).to_contain_text("Codex")
    expect(card).to_contain_text("Why: the auditor asked for it")
    card.get_by_role("button", name="Archive").click()
    expect(shown.inner.locator(".toastw")).to_contain_text("rchived")
    shown.inner.get_by_role("button", name="Undo").click()
    expect(shown.inner.get_by_role("button", name="invoices.numbers")).to_be_visible()


def test_it_follows_theme_and_size_of_its_host_and_ends_on_request(page: Page, chat: tuple[Chat, Sample]) -> None:
    shown = _Shown(page, chat[0], theme="dark")
    expect(shown.inner.locator("html")).to_have_attribute("data-theme", "dark")
    page.evaluate(
        "bridge.setHostContext({ theme: 'light', displayMode: 'inline', availableDisplayModes: ['fullscreen'] })"
    )
    expect(shown.inner.locator("html")).to_have_attribute("data-theme", "light")
    shown.inner.get_by_role("button", name="Full screen").click()
    expect(shown.inner.locator("main.full")).to_be_visible()
    assert page.evaluate("bridge.teardownResource({}).then(answer => JSON.stringify(answer))") == "{}"


def test_a_host_that_passes_nothing_on_gets_the_place_to_look(page: Page, chat: tuple[Chat, Sample]) -> None:
    shown = _Shown(page, chat[0], silent=True)
    expect(shown.inner.locator(".empty")).to_contain_text("keepmum dashboard")


def test_markup_in_a_memory_stays_text_in_the_panel(page: Page, chat: tuple[Chat, Sample]) -> None:
    text = "<img src=x onerror=parent.PWNED=1><script>window.PWNED=1</script>"
    with Agents(chat[1]).at(0, text[:60]) as agent:
        agent.remember(text, title=text, why=text, key="hostile.panel", source="javascript:window.PWNED=1")
    shown = _Shown(page, chat[0])
    shown.inner.get_by_role("button", name="hostile.panel").click()
    expect(shown.inner.locator("li.open .whole")).to_have_text(text)
    assert shown.frame.evaluate("[window.PWNED, document.querySelectorAll('img').length]") == [None, 0]
