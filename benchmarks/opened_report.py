"""How long Chromium takes to open a report, and to answer a key in its search: medians in seconds, as JSON.

python -m benchmarks.opened_report FILE ROUNDS
"""

import json
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import arguments, chromium

# From the start of the navigation until everything is loaded and drawn.
READY = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
    () => done(performance.now() / 1000))))"""
TYPED = """() => {
    const search = document.getElementById("search");
    return Math.max(...["g", "gr", "group-1", ""].map((text) => {
        const start = performance.now();
        search.value = text;
        search.dispatchEvent(new Event("input"));
        document.body.offsetHeight;
        return (performance.now() - start) / 1000;
    }));
}"""


def opened(browser: Browser, address: str, script: str) -> float:
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    tab.goto(address)
    seconds = float(tab.evaluate(script))
    tab.close()
    return seconds


def main(file: str, rounds: str) -> None:
    page = Path(file).absolute().as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments())
        asked = {"ready": (page, READY), "empty": ("data:text/html,empty", READY), "typed": (page, TYPED)}
        seconds = {
            name: statistics.median(opened(browser, *question) for _ in range(int(rounds)))
            for name, question in asked.items()
        }
        browser.close()
    sys.stdout.write(json.dumps(seconds) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
