"""The frame of the report: what the first screen shows, its list and search, addresses, keys."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.made_document import made_document

pytestmark = pytest.mark.browser

SCREEN = {"width": 1440, "height": 900}
IN_VIEW = """all => all.filter(each => {
    const box = each.getBoundingClientRect();
    return each.checkVisibility() && box.width > 0 && box.top >= 0 && box.bottom <= innerHeight;
}).length"""
LISTED = "#side li:not([hidden]) a .name"


@pytest.fixture
def shown(tab, sample_report):
    tab.set_viewport_size(SCREEN)
    tab.goto(sample_report)
    return tab


def test_the_first_screen_holds_the_sentence_five_tiles_the_map_and_findings(shown):
    assert re.match(r"\d+ critical: ", shown.locator("h1").inner_text())
    assert shown.locator("h1").bounding_box()["height"] < 70
    for selector, least in ((".tile", 5), (".tile .spark", 5), (".map-row", 15), (".finding", 2)):
        assert shown.locator(selector).evaluate_all(IN_VIEW) >= least, selector
    assert shown.locator(".tile svg.spark").count() >= 4
    # Each state by colour, pattern and letter.
    fills = shown.locator(".legend rect").evaluate_all("all => all.map(each => getComputedStyle(each).fill)")
    assert len({*fills}) == shown.locator(".legend .letter").count() == 6


def test_the_map_has_letters_marks_and_the_last_lag_and_its_orders(shown):
    row = shown.locator(".map-row[data-id=ledger]")
    assert {"S", "N"} <= {*row.locator(".letter").all_text_contents()}
    assert row.locator(".lag-line").count() == 1
    assert int(row.locator(".map-last").inner_text().replace(",", "")) > 1_000
    assert shown.locator(".map-row .mark.reset").count() > 3
    names = shown.locator(".map-row .map-name .name")
    shown.get_by_role("button", name="name", exact=True).click()
    by_name = names.all_inner_texts()
    assert by_name == sorted(by_name)
    shown.get_by_role("button", name="lag", exact=True).click()
    lags = [text for text in shown.locator(".map-last").all_inner_texts()[1:] if text[0].isdigit()]
    numbers = [int(text.replace(",", "").split()[0]) for text in lags]
    assert numbers == sorted(numbers, reverse=True)


def test_a_click_on_the_map_goes_to_the_group_at_that_moment(shown):
    strip = shown.locator(".map-row[data-id=ledger] .strip")
    box = strip.bounding_box()
    shown.mouse.move(box["x"] + box["width"] / 2, box["y"] + 8)
    assert "ledger" in shown.locator(".map-hover").inner_text() and "UTC" in shown.locator(".map-hover").inner_text()
    shown.mouse.click(box["x"] + box["width"] / 2, box["y"] + 8)
    expect(shown).to_have_url(re.compile(r"#group/ledger\?at=2026-11-21T17:3\d:"))
    expect(shown.locator(".panel-time")).to_contain_text("21 Nov 2026 17:3")


@pytest.mark.parametrize("words", ["payments ledger", "LEDGER-1", "ledger-1-f9ceb79b", "ledger 127.0.0.1"])
def test_the_search_finds_a_group_by_topic_client_member_and_host(words, shown):
    every = shown.locator(LISTED).count()
    shown.get_by_role("searchbox").fill(words)
    assert shown.locator(LISTED).all_inner_texts() == ["ledger"]
    assert shown.locator(".map-row").count() == 1
    assert shown.locator("#side output").inner_text() == f"1 of {every} groups"
    shown.keyboard.press("Escape")
    assert shown.locator(LISTED).count() == every


def test_filters_narrow_the_list_and_what_the_view_shows(shown):
    filters = (("severity", "critical", ""), ("type", "consumer", ""), ("state", "Empty", "Empty"))
    for name, value, column in filters:
        shown.get_by_label(f"Filter by {name}").select_option(value)
        found = shown.locator("#side li:not([hidden])").all_inner_texts()
        assert 0 < len(found) == shown.locator(".map-row").count()
        assert all(column in text for text in found)
        if name == "severity":
            assert {*shown.locator(".finding > summary > .badge:first-child").all_inner_texts()} == {"critical"}
        shown.get_by_role("button", name="Clear").click()
    shown.get_by_role("searchbox").fill("there is no such group")
    assert "No group has all of these words" in shown.locator(".map").inner_text()
    assert "No finding has all of these words" in shown.locator(".findings").inner_text()


def test_a_key_in_the_search_is_answered_at_once(tab, sample_report):
    tab.goto(sample_report)
    script = """() => ["c", "cl", "cla", ""].map(text => {
        const start = performance.now(), search = document.getElementById("search");
        search.value = text;
        search.dispatchEvent(new Event("input"));
        document.body.offsetHeight;  // what was hidden is laid out
        return performance.now() - start;
    })"""
    # The fastest of three: other programs may have the processor meanwhile.
    assert min(max(tab.evaluate(script)) for _ in range(3)) < 100


def test_views_have_addresses_and_back_works(shown):
    heading = shown.locator("main h1")
    shown.get_by_role("link", name="Findings", exact=True).click()
    expect(heading).to_have_text("Findings")
    shown.locator("#side a", has_text="classic-storm").click()
    expect(heading).to_contain_text("classic-storm")
    shown.get_by_role("link", name="Cluster", exact=True).click()
    expect(heading).to_have_text("Cluster")
    shown.go_back()
    expect(heading).to_contain_text("classic-storm")
    shown.go_back()
    expect(heading).to_have_text("Findings")
    shown.go_back()
    expect(heading).to_contain_text("critical")


def test_an_address_of_a_group_that_is_not_there_says_so_and_which_are(tab, sample_report):
    tab.goto(f"{sample_report}#group/ledgr%20%3Cb%3E")
    assert tab.locator("h1").inner_text() == "No such group"
    assert "This report has no group ledgr <b>." in tab.locator("main").inner_text()
    assert tab.locator("main a", has_text="ledger").get_attribute("href") == "#group/ledger"


def test_keys_go_through_groups_and_to_the_search(shown):
    names = shown.locator(LISTED).all_inner_texts()
    for key, place in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        shown.keyboard.press(key)
        expect(shown.locator("main h1")).to_contain_text(names[place])
        assert shown.locator("#side a[aria-current] .name").inner_text() == names[place]
    shown.keyboard.press("/")
    assert shown.evaluate("document.activeElement.id") == "search"
    shown.keyboard.type("storm")
    shown.keyboard.press("Enter")
    expect(shown.locator("main h1")).to_contain_text("classic-storm")


def test_findings_are_folded_by_kind_and_open_to_evidence_what_to_run_next_and_sql(shown):
    shown.goto(f"{shown.url}#findings")
    expect(shown.locator("main h1")).to_have_text("Findings")
    folds = shown.locator(".findings > details")
    assert folds.count() > 5
    fold = shown.locator(".findings > .fold").first
    number = int(fold.locator("b").first.inner_text().split()[0])
    assert number > 1
    fold.locator("summary").first.click()
    # A fold is filled after it is open, not in the same instant.
    expect(fold.locator(".finding")).to_have_count(number)
    finding = shown.locator(".findings > .finding:not(.fold)", has_text="partition stopped")
    finding.locator("summary").first.click()
    parts = finding.locator(".finding-body summary")
    expect(parts).to_have_text(["Records of the log", "SQL that lists all rows"])
    for summary in parts.all():
        summary.click()
    for words in ("groupscope status", "groupscope dump", "SELECT", "__consumer_offsets-7, records "):
        expect(finding).to_contain_text(words)
    severities = shown.locator(".findings > details > summary > .badge:first-child").all_inner_texts()
    assert severities == sorted(severities, key=["critical", "warning", "info"].index)


def test_all_times_change_with_the_zone(browser, sample_report):
    context = browser.new_context(timezone_id="Asia/Tokyo", viewport=SCREEN)
    tab = context.new_page()
    tab.goto(f"{sample_report}#group/ledger?at=2026-11-21T17:38:00Z")
    expect(tab.locator(".panel-time")).to_have_text("21 Nov 2026 17:38:00 UTC")
    tab.get_by_label("Time zone of all times").select_option("Asia/Tokyo")
    expect(tab.locator(".panel-time")).to_have_text("22 Nov 2026 02:38:00 Asia/Tokyo")
    for name in tab.locator(".axis-zone").all_inner_texts():
        assert name == "Sun 22 Nov 2026, Asia/Tokyo"
    assert tab.url.endswith("at=2026-11-21T17:38:00Z")
    context.close()


def test_what_is_not_there_has_words(shown):
    document = made_document(num_groups=1)
    document["details"] = {}
    document["groups"]["severity"] = [None]
    document |= {"findings": {name: [] for name in document["findings"]}, "map": None, "tiles": []}
    document["about"] |= {"exit_code": 0, "verdict": "Clean", "look": "clean"}
    shown.evaluate("document => groupscope.load(document)", document)
    assert "Nothing is wrong: no check found anything." in shown.locator("main").inner_text()
    shown.evaluate("location.hash = '#cluster'")
    expect(shown.locator("main")).to_contain_text("have no rows")
    shown.evaluate("location.hash = '#group/busy'")
    expect(shown.locator("main")).to_contain_text("the warehouse has no history of it")
    nothing = {name: [] for name in document["groups"]}
    shown.evaluate("document => groupscope.load(document)", document | {"groups": nothing})
    shown.evaluate("location.hash = ''")
    expect(shown.locator(".map")).to_contain_text("No groups are known.")
