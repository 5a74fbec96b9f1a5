"""The site of docs/ opens from a folder, asks nobody for anything, and finds pages by their words."""

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture
def asked(tab):
    """What the pages of the tab asked for beyond their own folder; none of it gets an answer."""
    result = []

    def answer(route):
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            result.append(route.request.url)
            route.abort()

    tab.route("**/*", answer)
    return result


def test_no_request_leaves_any_page(site, tab, asked):
    errors = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    pages = sorted(site.rglob("*.html"))
    for page in pages:
        tab.goto(page.as_uri())
    assert (asked, errors) == ([], [])
    assert len(pages) > 8


def test_a_request_that_leaves_a_page_is_noticed(tmp_path, tab, asked):
    page = tmp_path / "page.html"
    page.write_text('<img src="https://example.org/picture.png">')
    tab.goto(page.as_uri())
    assert asked == ["https://example.org/picture.png"]


def test_the_search_finds_a_page_without_a_server(site, tab, asked):
    tab.goto(f"{(site / 'search.html').as_uri()}?q=min.compaction.lag.ms")
    # Results come one page after the other, the best one not first.
    tab.wait_for_selector('#search-results li a[href*="operations.html"]')
    assert asked == []
