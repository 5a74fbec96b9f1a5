"""What Chromium takes for a report: seconds until its first picture, and within which 95% of frames come while the
cursor of the worst group is dragged for two seconds; as JSON.

python -m benchmarks.opened_report FILE ROUNDS
"""

import json
import statistics
import sys
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import arguments, chromium

# From the start of the navigation until everything is drawn, first of all the map.
DRAWN = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
    () => done(performance.now() / 1000))))"""
COUNT_FRAMES = """() => {
    window.benchmarked = [];
    let last = performance.now();
    const next = (now) => { window.benchmarked.push((now - last) / 1000); last = now; requestAnimationFrame(next); };
    requestAnimationFrame(next);
}"""
DRAGGED_SECONDS, SHARE = 2, 0.95


def opened(browser: Browser, address: str) -> Page:
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.goto(address)
    return tab


def drawn_seconds(browser: Browser, address: str) -> float:
    tab = opened(browser, address)
    seconds = float(tab.evaluate(DRAWN))
    tab.close()
    return seconds


def frame_seconds(browser: Browser, address: str) -> float:
    tab = opened(browser, address)
    tab.locator("#side nav a").first.click()
    plot = tab.locator(".axis-lane.is-top .plot")
    plot.wait_for()
    box = plot.bounding_box()
    if box is None:
        raise RuntimeError(f"{address}: the worst group has no lanes")
    tab.evaluate(COUNT_FRAMES)
    tab.mouse.move(box["x"] + 10, box["y"] + 8)
    tab.mouse.down()
    begin, step = time.monotonic(), 0
    while time.monotonic() - begin < DRAGGED_SECONDS:
        step = (step + 7) % int(box["width"] - 20)
        tab.mouse.move(box["x"] + 10 + step, box["y"] + 8)
    tab.mouse.up()
    frames = sorted(tab.evaluate("window.benchmarked"))
    tab.close()
    return float(frames[int(len(frames) * SHARE)])


def main(file: str, rounds: str) -> None:
    page = Path(file).absolute().as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments())
        asked = {
            "first": (drawn_seconds, page), "empty": (drawn_seconds, "data:text/html,empty"),
            "frame": (frame_seconds, page),
        }  # fmt: skip
        seconds = {
            name: statistics.median(measure(browser, address) for _ in range(int(rounds)))
            for name, (measure, address) in asked.items()
        }
        browser.close()
    sys.stdout.write(json.dumps(seconds) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
