"""Chromium, axe-core, and a real dashboard over the sample: each is skipped with a reason where it is missing."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from browser.sample import Sample, environment, fill
from clients import npm

ROOT = Path(__file__).parents[2]
AXE = "4.14.1"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/#t=[\w-]{40,}")
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


class Served(NamedTuple):
    """A dashboard that runs."""

    sample: Sample
    address: str  # opens one session

    @property
    def origin(self) -> str:
        """Without the token."""
        return self.address.partition("/#")[0]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium; one for all tests of a process."""
    program = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if program is None:
        pytest.skip("no chromium is on this machine (apt-get install --no-install-recommends chromium)")
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # root has no sandbox
        browser = playwright.chromium.launch(executable_path=program, args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    try:
        found = npm.fetched(ROOT / ".cache" / "clients", "axe-core", AXE, "axe-core/axe.min.js")
    except npm.Unavailable as reason:
        pytest.skip(str(reason))
    return found.read_text(encoding="utf-8")


@contextlib.contextmanager
def serving(sample: Sample, **more: str) -> Iterator[Served]:
    """Run `keepmum dashboard` over a sample."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "plugin" / "launch.py"), "dashboard", "--no-open"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        cwd=sample.root,
        env={**environment(sample), **more},
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = _ADDRESS.search(said)
        assert found is not None, said
        yield Served(sample, found[0])
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    """The sample, written anew."""
    made = Sample(tmp_path / "home", tmp_path / "checkout")
    made.home.mkdir()
    fill(made)
    return made


_SETTLED = "!document.querySelector('[aria-busy=true], .skel') && document.querySelector('main h1, .empty')"


class Tab(NamedTuple):
    """A page of the browser, with all that its console and its policy complained about."""

    page: Page
    origin: str
    complaints: list[str]

    def go(self, route: str) -> None:
        """Open a view, and wait until nothing is loading."""
        self.page.evaluate("route => { location.hash = '#/home?x'; location.hash = route; }", f"#/{route}")
        self.settle()

    def settle(self) -> None:
        """Wait until no answer is awaited."""
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_function(
            "!document.querySelector('[aria-busy=true], .skel') && document.querySelector('main h1, .empty')"
        )


@contextlib.contextmanager
def tab(browser: Browser, served: Served, theme: str = "light", width: int = 1440, height: int = 900) -> Iterator[Tab]:
    """A tab with a session of its own."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, timezone_id="UTC", locale="en-GB", reduced_motion="reduce"
    )
    context.add_init_script(f"localStorage.setItem('keepmum.theme', '{theme}')")
    page = context.new_page()
    page.set_default_timeout(10_000)
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in {"error", "warning"} else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        page.goto(served.address)
        opened = Tab(page, served.origin, complaints)
        page.wait_for_selector("main h1, .empty")
        yield opened
    finally:
        context.close()


@pytest.fixture
def opened(chromium: Browser, sample: Sample) -> Iterator[Tab]:
    """A tab of a dashboard over the sample."""
    with serving(sample) as served, tab(chromium, served) as one:
        yield one


_RUN_AXE = """async () => {
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const shown = node => node.html.slice(0, 200) + " " + (node.any[0] || { message: "" }).message;
    const { violations } = await axe.run(document, { runOnly });
    return violations.map(each => each.id + ": " + each.nodes.slice(0, 3).map(shown).join(" | "));
}"""
Violations = Callable[[Tab], list[str]]


@pytest.fixture(scope="session")
def violations(axe: str) -> Violations:
    """What axe-core says against the present state of a tab."""

    def run(one: Tab) -> list[str]:
        if not one.page.evaluate("Boolean(window.axe)"):
            one.page.evaluate(axe)
        found = one.page.evaluate(_RUN_AXE)
        return [str(each) for each in found]

    return run
