"""Chromium, axe-core, and a real dashboard over the sample: each is skipped with a reason where it is missing."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect, sync_playwright

import bytecode
from browser.sample import Sample, environment, fill
from clients import npm

ROOT = Path(__file__).parents[2]
AXE = "4.14.1"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/#t=[\w-]{40,}")
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_MS = 60_000  # of every wait: what comes late on a busy machine is no failure
expect.set_options(timeout=PATIENCE_MS)


class Served(NamedTuple):
    """A dashboard that runs."""

    sample: Sample
    address: str  # opens one session

    @property
    def origin(self) -> str:
        """Without the token."""
        return self.address.partition("/#")[0]


def chromium_program() -> str | None:
    """The path of the system's Chromium."""
    return next(filter(None, map(shutil.which, _CHROMIUM)), None)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium; one for all tests of a module.

    While it is open, playwright keeps an event loop running in this thread, and other modules need their own.
    """
    program = chromium_program()
    if program is None:
        pytest.skip("no chromium is on this machine (apt-get install --no-install-recommends chromium)")
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # root has no sandbox
        browser = playwright.chromium.launch(executable_path=program, args=options, timeout=PATIENCE_MS)
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
    bytecode.share(sample.home / ".keepmum")
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
            process.wait(PATIENCE_MS / 1000)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The sample, as it is written once; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("sample")
    made = Sample(folder / "home", folder / "checkout")
    made.home.mkdir()
    fill(made)
    return made


@pytest.fixture
def sample(written: Sample, tmp_path: Path) -> Sample:
    """A copy of the sample."""
    copied = Sample(tmp_path / "home", tmp_path / "checkout")
    shutil.copytree(written.home, copied.home, symlinks=True)
    shutil.copytree(written.root, copied.root)
    return copied


# Counts the answers that are awaited; the count falls after what came was drawn: the page draws what it has read, and
# asks for what that lacks, before the next task.
_COUNT = """
const ask = window.fetch;
window.awaited = 0;
window.fetch = async (...given) => {
    window.awaited += 1;
    try {
        const answer = await ask(...given), body = await answer.blob(), text = await body.text();
        return Object.assign(answer, { json: async () => JSON.parse(text), blob: async () => body });
    } finally { setTimeout(() => { window.awaited -= 1; }); }
};
"""
# What is said stays in sight: a test may come to look at it later than a person would.
STAYS = """
const later = window.setTimeout;
window.setTimeout = (act, wait, ...more) => later(act, wait >= 9000 ? 3600000 : wait, ...more);
"""
_GO = """route => new Promise(done => {
    if (new URL(route, location.href).hash === location.hash) return done();
    addEventListener("hashchange", () => setTimeout(done), { once: true });
    location.hash = route;
})"""
_SETTLED = """async patience => {
    const busy = () => window.awaited > 0 || document.querySelector("[aria-busy=true], .skel")
        || !document.querySelector("main h1, main .empty");
    const end = Date.now() + patience;
    for (let idle = 0; idle < 2; idle = busy() ? 0 : idle + 1) {  // a list asks for more after a frame was drawn
        if (Date.now() > end) throw new Error("still loading");
        await new Promise(requestAnimationFrame);
    }
}"""


class Tab(NamedTuple):
    """A page of the browser, with all that its console and its policy complained about."""

    page: Page
    sample: Sample
    complaints: list[str]

    def go(self, route: str) -> None:
        """Open a view, and wait until nothing is loading."""
        self.page.evaluate(_GO, f"#/{route}")
        self.settle()

    def settle(self) -> None:
        """Wait until no answer is awaited and all that came is drawn."""
        self.page.evaluate(_SETTLED, PATIENCE_MS)

    def intercept(self) -> None:
        """Load the page again, so that `page.route` gets all its requests from here on.

        Chromium lets requests pass that a document makes just after the first `route`.
        """
        self.page.route("**/no-such-file", Route.abort)
        self.page.reload()
        self.settle()


def wait_until(page: Page, condition: Callable[[], bool]) -> None:
    """Handle what the browser says until a condition holds."""
    end = time.monotonic() + PATIENCE_MS / 1000
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        page.wait_for_timeout(10)


def press_sequence(page: Page, first: str, second: str) -> None:
    """Press two keys within the time of a sequence, however long the browser takes to handle each."""
    session, at = page.context.new_cdp_session(page), time.time()
    for key in (first, second):
        for kind in ("keyDown", "keyUp"):
            given = {"type": kind, "key": key, "text": key if kind == "keyDown" else "", "timestamp": at}
            session.send("Input.dispatchKeyEvent", given)
        at += 0.1
    session.detach()


def _complains(message: ConsoleMessage) -> bool:
    """Whether it is more than the note on an answer of the server that refuses something."""
    return message.type in {"error", "warning"} and "Failed to load resource" not in message.text


@contextlib.contextmanager
def empty_page(browser: Browser, theme: str, width: int, height: int) -> Iterator[tuple[Page, list[str]]]:
    """A page of a new profile that has opened nothing yet, and the list that gets what it will complain about."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, timezone_id="UTC", locale="en-GB", reduced_motion="reduce"
    )
    context.add_init_script(f"localStorage.setItem('keepmum.theme', '{theme}')")
    for script in (STAYS, _COUNT):
        context.add_init_script(script)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if _complains(message) else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield page, complaints
    finally:
        page.unroute_all(behavior="ignoreErrors")
        context.close()


@contextlib.contextmanager
def tab(browser: Browser, served: Served, theme: str = "light", width: int = 1440, height: int = 900) -> Iterator[Tab]:
    """A tab with a session of its own."""
    with empty_page(browser, theme, width, height) as (page, complaints):
        page.goto(served.address)
        opened = Tab(page, served.sample, complaints)
        page.wait_for_selector("main h1, .empty")
        yield opened


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
