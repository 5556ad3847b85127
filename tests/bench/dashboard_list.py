"""Prints how much faster the dashboard's list of 10,000 memories is than one that draws every row, in one browser.

    PYTHONPATH=plugin:scanner:hooks:installers:tests .venv/bin/python tests/bench/dashboard_list.py

Targets: first render at most 1/20, a step of scrolling (95th percentile) at most 1/8, at most 60 rows drawn; the page
asks at most 25 times when it opens, and paints a search at most twice the service's own time after it was asked.
No frame waits for a display: at 60 Hz a step would last 17 ms, however little there is to do.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from browser.conftest import Tab, chromium_program, serving, tab
from browser.sample import Sample, fill

_COUNT = 10_000
_RUNS = 3
_NO_FRAME_LIMIT = ["--disable-frame-rate-limit", "--disable-gpu-vsync"]
# Pages of the list are answered in the browser, so that drawing is all that is measured.
_PRETEND = """count => {
    const ask = window.fetch;
    let sample = null;
    window.fetch = async (path, options) => {
        const { view, args } = JSON.parse(options.body || "{}");
        if (view !== "memories") return ask(path, options);
        if (!sample) sample = await (await ask(path, options)).json();
        const first = args.offset || 0, last = Math.min(count, first + args.limit);
        const rows = Array.from({ length: last - first }, (_, n) =>
            ({ ...sample.data.rows[0], id: `mem_${first + n}`, title: `Memory ${first + n}` }));
        return new Response(JSON.stringify({ ...sample, data: { ...sample.data, rows, total: count } }));
    };
}"""
# The same rows without the virtual list: copied as they are, which is less work than drawing each by the framework.
_ALL = """async count => {
    const list = document.querySelector("#memories"), row = list.querySelector(".row"), copy = list.cloneNode(false);
    const start = performance.now(), inner = document.createElement("div");
    inner.className = "all";
    for (let n = 0; n < count; n++) {
        const next = row.cloneNode(true);
        next.id = `copy-${n}`;
        next.style.top = `${n * 67}px`;
        inner.append(next);
    }
    inner.style.height = `${count * 67}px`;
    copy.append(inner);
    list.replaceWith(copy);
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - start;
}"""
_RENDER = """async wanted => {
    const start = performance.now();
    location.hash = "#/memories";
    const drawn = () => document.querySelectorAll("[role=option]:not(.wait)").length;
    while (drawn() < wanted) await new Promise(requestAnimationFrame);
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - start;
}"""
_SCROLL = """async () => {
    const box = document.querySelector("#memories"), times = [];
    for (let step = 1; step <= 40; step++) {
        const start = performance.now();
        box.scrollTop = step * 9000;
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
        times.push(performance.now() - start);
    }
    return times.sort((one, other) => one - other)[38];
}"""
_SEARCH = """async query => {
    const field = document.querySelector("input[type=search]"), start = performance.now();
    let answered = 0, asked = 0;
    const ask = window.fetch;
    window.fetch = async (...given) => {
        asked = performance.now();
        const answer = await ask(...given);
        answered = performance.now();
        return answer;
    };
    field.value = query;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    while (!document.querySelector(".row .legs")) await new Promise(requestAnimationFrame);
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    return [answered - asked, performance.now() - asked];
}"""


def _measured(one: Tab, *, everything: bool) -> tuple[float, float, int]:
    one.page.evaluate(_PRETEND, _COUNT)
    render = one.page.evaluate(_RENDER, 10)
    if everything:
        render = one.page.evaluate(_ALL, _COUNT)
    scroll = one.page.evaluate(_SCROLL)
    return render, scroll, one.page.locator("[role=option]").count()


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        sample = Sample(Path(folder) / "home", Path(folder) / "checkout")
        sample.home.mkdir()
        fill(sample)
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium_program(), args=[*options, *_NO_FRAME_LIMIT])
        found: dict[bool, list[tuple[float, float, int]]] = {False: [], True: []}
        for _ in range(_RUNS):
            for everything, runs in found.items():
                with serving(sample) as served, tab(browser, served) as one:
                    one.settle()
                    runs.append(_measured(one, everything=everything))
        with serving(sample) as served, tab(browser, served) as one:
            one.go("memories")
            service, paint = one.page.evaluate(_SEARCH, "which pool gets a deploy first")
        browser.close()
    render, scroll = (
        statistics.median(run[n] for run in found[True]) / statistics.median(run[n] for run in found[False])
        for n in (0, 1)
    )
    sys.stdout.write(
        f"first render of {_COUNT:,}: 1/{render:.0f} of drawing every row\n"
        f"a step of scrolling, p95: 1/{scroll:.0f}\n"
        f"rows drawn: {found[False][0][2]} against {found[True][0][2]:,}\n"
        f"a search: answered in {service:.0f} ms, painted after {paint:.0f} ms ({paint / service:.1f} times)\n"
    )


if __name__ == "__main__":
    main()
