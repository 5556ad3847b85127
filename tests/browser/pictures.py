"""Writes a picture of each screen, state and theme of the dashboard: for people to compare.

The memory is the sample; the screens of administrators are those of a team's server.

    PYTHONPATH=plugin:scanner:hooks:installers:tests .venv/bin/python tests/browser/pictures.py FOLDER
    PYTHONPATH=plugin:scanner:hooks:installers:tests .venv/bin/python tests/browser/pictures.py --docs

The second writes `docs/dashboard.png`. Search by meaning is shown where the model is in `.cache/models`.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Route, expect, sync_playwright

from browser.conftest import ROOT, Served, Tab, chromium_program, serving, tab
from browser.sample import Sample, fill
from browser.team import TeamServed, signed_in, team_serving

_SEARCH = "memories?q=which pool gets a deploy first"
_SCREENS = {
    "home": "home",
    "memories": _SEARCH,
    "browse": "memories?open=deploy.rollback",
    "review": "review",
    "activity": "activity",
    "handoffs": "handoffs",
    "health": "health",
    "keys": "memories?keys=1",
    "nothing-fits": "memories?q=zzz qqq",
    "archived": "memories?show=archived",
}
_ADMIN_SCREENS = ("people", "keys", "audit", "usage")


def _bulk(one: Tab) -> None:
    one.page.locator("#memories").focus()
    for key in ("Home", "x", "j", "x"):
        one.page.keyboard.press(key)
    expect(one.page.locator(".bulk")).to_contain_text("2 selected")


def _edit(one: Tab) -> None:
    one.page.keyboard.press("e")
    secret = "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    one.page.get_by_label("Text", exact=True).fill(f"Deploys need a key.\nIt is {secret}")
    one.page.keyboard.press("Control+Enter")
    one.page.wait_for_selector("#edit-text-problem")
    one.page.get_by_label("Text", exact=True).fill("(what was typed stays)")


def _loading(one: Tab) -> None:
    one.page.evaluate("() => { window.fetch = () => new Promise(() => {}); }")
    one.page.evaluate("location.hash = '#/activity'")
    one.page.wait_for_selector(".skel")


def _closed(one: Tab) -> None:
    one.page.route("**/api/ask", lambda route: route.abort())
    one.page.evaluate("location.hash = '#/activity'")
    one.page.wait_for_selector("[role=alert]")


def _read_only(one: Tab) -> None:
    def deny(route: Route) -> None:
        """Answer as a store that is read only."""
        answer = route.fetch()
        found = answer.json()
        if "about" in found:
            found["about"] |= {"read_only": "This memory is only read here.", "can": []}
        found["data"] |= {"can": []} if "can" in found["data"] else {}
        route.fulfill(json=found)

    one.page.route("**/api/ask", deny)
    one.page.reload()
    one.page.wait_for_selector(".banner")


STATES: dict[str, tuple[str, Callable[[Tab], None]]] = {
    "bulk": (_SEARCH, _bulk),
    "refused": ("memories?open=deploy.order", _edit),
    "loading": ("home", _loading),
    "closed": ("home", _closed),
    "read-only": ("memories?open=deploy.order", _read_only),
}


def _write(browser: Browser, served: Served, folder: Path, theme: str) -> None:
    with tab(browser, served, theme) as one:
        for name, route in _SCREENS.items():
            one.go(route)
            one.page.screenshot(path=folder / f"{name}-{theme}.png")
        one.page.set_viewport_size({"width": 320, "height": 900})
        for name in ("home", "memories", "review", "activity"):
            one.go(_SCREENS[name])
            one.page.screenshot(path=folder / f"narrow-{name}-{theme}.png", full_page=True)
        one.page.set_viewport_size({"width": 1440, "height": 900})
        for name, (route, act) in STATES.items():
            one.page.unroute_all(behavior="wait")
            one.page.reload()
            one.go(route)
            act(one)
            one.page.screenshot(path=folder / f"{name}-{theme}.png")


def _write_admin(browser: Browser, served: TeamServed, folder: Path, theme: str) -> None:
    with signed_in(browser, served, "root", theme) as one:
        for width, prefix in ((1440, "admin"), (320, "narrow-admin")):
            one.page.set_viewport_size({"width": width, "height": 900})
            for screen in _ADMIN_SCREENS:
                one.go(screen)
                one.page.screenshot(path=folder / f"{prefix}-{screen}-{theme}.png", full_page=width == 320)


def main(target: str) -> None:
    """Write all pictures into a folder, or the one of the documentation."""
    model = next((ROOT / ".cache" / "models").glob("*-int8-*"), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        sample = Sample(Path(folder) / "home", Path(folder) / "checkout")
        sample.home.mkdir()
        fill(sample)
        if model is not None:
            shutil.copytree(model, sample.home / ".keepmum" / "models" / model.name.partition("-int8-")[0])
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium_program(), args=options)
        if target == "--docs":
            with serving(sample) as served, tab(browser, served, width=1180, height=660) as one:
                one.go("home")
                one.page.screenshot(path=ROOT / "docs" / "dashboard.png")
            return
        Path(target).mkdir(parents=True, exist_ok=True)
        for theme in ("light", "dark"):
            with serving(sample) as served:
                _write(browser, served, Path(target), theme)
        (sample.home / "team").mkdir()
        with team_serving(sample.home / "team") as team:
            for theme in ("light", "dark"):
                _write_admin(browser, team, Path(target), theme)


if __name__ == "__main__":
    main(sys.argv[1])
