"""The site of docs/ opens from a folder, asks nobody for anything, and finds pages by their words."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser


@pytest.fixture
def asked(tab: Page) -> list[str]:
    """What the pages of the tab asked for beyond their own folder; none of it gets an answer."""
    result: list[str] = []

    def answer(route: Route) -> None:
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            result.append(route.request.url)
            route.abort()

    tab.route("**/*", answer)
    return result


def test_no_request_leaves_any_page(site: Path, tab: Page, asked: list[str]) -> None:
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    pages = sorted(site.rglob("*.html"))
    for page in pages:
        tab.goto(page.as_uri())
    assert (asked, errors) == ([], [])
    assert len(pages) > 8


def test_a_request_that_leaves_a_page_is_noticed(tmp_path: Path, tab: Page, asked: list[str]) -> None:
    page = tmp_path / "page.html"
    page.write_text('<img src="https://example.org/picture.png">')
    tab.goto(page.as_uri())
    assert asked == ["https://example.org/picture.png"]


def test_the_search_finds_a_page_without_a_server(site: Path, tab: Page, asked: list[str]) -> None:
    tab.goto(f"{(site / 'search.html').as_uri()}?q=min.compaction.lag.ms")
    # Results come one page after the other, the best one not first.
    tab.wait_for_selector('#search-results li a[href*="operations.html"]')
    assert asked == []
