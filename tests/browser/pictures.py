"""Takes the pictures of the report that the README shows:

    groupscope report --warehouse warehouse --report report
    python -m tests.browser.pictures report/index.html docs

of the sample, after `make audit`. Look at them before you commit them.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.chromium import arguments, chromium

GROUP = "classic-killed"
SETTLED_MS = 2_000
SIZES = {"report.png": (1100, 640), "report-group.png": (1100, 1140)}


def take(page: Path, folder: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments())
        for name, (width, height) in SIZES.items():
            tab = browser.new_page(viewport={"width": width, "height": height})
            tab.goto(page.resolve().as_uri())
            if "group" in name:
                tab.get_by_role("table").get_by_role("link", name=GROUP, exact=True).click()
                # Parts above get their true heights while the page scrolls to this one.
                tab.wait_for_timeout(SETTLED_MS)
            tab.screenshot(path=folder / name)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
