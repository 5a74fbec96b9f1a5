"""Numbers of the report lead to their rows: to a listing that opens, or to the SQL that lists them."""

import json
import shlex

import pytest
from playwright.sync_api import expect

from jobs import cli
from jobs.command_line.values import GroupChoice
from jobs.reporting.page_files import write_group_pages, write_index
from jobs.reporting.report import report_of
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.any_warehouse import reading

pytestmark = pytest.mark.browser

IN_VIEW = """id => {
    const found = document.getElementById(id);
    const box = found.getBoundingClientRect();
    return found.checkVisibility() && 0 <= box.top && box.top < innerHeight;
}"""
COLUMNS = ("members", "lag", "rebalances", "unread up to")


def lead(tab, number):
    """What is shown when the number is clicked: rows, or a command."""
    link = number.locator("a").first
    if not link.count():
        number.locator("summary").click()
        command = number.locator("details[open] pre.command")
        assert command.is_visible() and command.inner_text().startswith("groupscope sql ")
        return command
    place = (link.get_attribute("href") or "").lstrip("#")
    link.click()
    tab.wait_for_function(IN_VIEW, arg=place)
    return tab.locator(f"[id='{place}']")


def rows_of(command, capfd):
    program, *words = shlex.split(command)
    capfd.readouterr()
    assert (program, cli.main([*words, "--format", "json"])) == ("groupscope", 0)
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def test_every_number_at_the_top_leads_to_its_rows(tab, short_report, capfd):
    tab.goto(short_report)
    facts = {
        fact.locator("dt").inner_text().rstrip(": "): fact.locator("dd") for fact in tab.locator(".facts div").all()
    }
    # No rows are behind the time that was asked for.
    assert not facts.pop("As of").locator("a, summary").count()
    shown = {}
    for title, number in facts.items():
        shown[title] = lead(tab, number)
    coverage = tab.locator("#rows-coverage tbody tr")
    assert coverage.count() == int(facts["Offsets partitions"].inner_text().split()[0]) > 0
    captured = {row["captured_time"] for row in rows_of(shown["Snapshots"].inner_text(), capfd)}
    assert len(captured) == int(facts["Snapshots"].locator("summary").inner_text()) > 0
    assert len(rows_of(shown["Rejected"].inner_text(), capfd)) == int(facts["Rejected"].locator("summary").inner_text())
    for number in tab.locator("h1 a").all():
        assert (number.get_attribute("href"), tab.locator("#findings").count()) == ("#findings", 1)


def test_every_number_of_a_group_leads_to_its_rows_by_the_keyboard_too(tab, sample_report):
    tab.goto(sample_report)
    heads = tab.locator("table.groups thead th").all_inner_texts()
    row = tab.locator("table.groups tbody tr", has=tab.get_by_role("link", name="classic-storm", exact=True))
    for column in COLUMNS:
        cell = row.locator("th, td").nth(heads.index(column))
        number = cell.inner_text()
        cell.locator("a").focus()
        tab.keyboard.press("Enter")
        place = (cell.locator("a").get_attribute("href") or "").lstrip("#")
        tab.wait_for_function(IN_VIEW, arg=place)
        if column == "rebalances":
            assert tab.locator(f"[id='{place}'] tbody tr").count() == int(number) > 10
    badge = row.locator("a.badge").first
    result = lead(tab, badge.locator(".."))
    assert "rebalances from" in result.inner_text()


def test_every_number_of_every_group_leads_somewhere(tab, sample_report):
    """Where there are no rows, as of a group that never had members, to the SQL."""
    tab.goto(sample_report)
    links = tab.locator("table.groups tbody td a")
    assert links.count() > 4 * tab.locator("table.groups tbody tr").count()
    missing = "all => all.filter(each => !document.getElementById(each.hash.slice(1))).map(each => each.href)"
    assert links.evaluate_all(missing) == []
    numbers = tab.locator("table.groups tbody td.number")
    assert numbers.evaluate_all("all => all.filter(each => !each.querySelector('a')).length") == 0


def test_a_number_of_the_overview_shows_the_groups_that_it_counts(tab, sample_report):
    tab.goto(sample_report)
    counts = tab.locator(".counts td.number a")
    assert counts.count() > 8
    for place in range(counts.count()):
        count = counts.nth(place)
        number = int(count.inner_text())
        # The page may still be scrolling to where the last one led, and a mouse would miss.
        count.focus()
        tab.keyboard.press("Enter")
        expect(tab.locator("table.groups tbody tr:not([hidden])")).to_have_count(number)
        # Findings are not of a type or state.
        assert tab.locator(".findings > li[hidden]").count() == 0
    tab.get_by_role("searchbox").press("Escape")
    expect(tab.locator("table.groups tbody tr[hidden]")).to_have_count(0)


def test_numbers_lead_to_pages_of_groups_too(tab, audited_sample, tmp_path):
    with report_of(reading(str(audited_sample)), "sample", GroupChoice(), most_bytes=400_000) as report:
        write_index(LocalPlace(tmp_path), report.index, write_group_pages(LocalPlace(tmp_path), report.groups).names)
    tab.goto((tmp_path / "index.html").as_uri())
    links = tab.locator("table.groups tbody td a[href^='groups/']")
    addresses = links.evaluate_all("all => all.map(each => each.href)")
    assert len(addresses) > 40
    for address in addresses[:3] + addresses[-3:]:
        tab.goto("about:blank")
        tab.goto(address)
        tab.wait_for_function(IN_VIEW, arg=address.partition("#")[2])
