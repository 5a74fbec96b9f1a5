"""The sample's report against its story: what Kafka's own clients saw while the log was written."""

import re
from pathlib import Path

import pytest

from jobs.command_line.values import GroupChoice
from jobs.reporting.page_files import write_group_pages, write_index
from jobs.reporting.report import report_of
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.any_warehouse import reading
from tests.oracles.pages.parsed_pages import Element, parsed
from tests.sample.story import checked_in


@pytest.fixture(scope="module")
def index(audited_sample: Path) -> str:
    with report_of(reading(str(audited_sample)), "sample", GroupChoice()) as report:
        assert list(report.groups) == []
        return report.index


@pytest.fixture(scope="module")
def page(index: str) -> Element:
    return parsed(index)


def part_of(page: Element, group: str) -> Element:
    (result,) = (each for each in page.all("section", class_="group") if each.one("h3").words == group)
    return result


def story_of(part: Element) -> list[str]:
    return [each.one("p", class_="message").words for each in part.one("ol", class_="story").all("li")]


def test_the_groups_and_their_states_are_those_that_the_broker_lists(page: Element) -> None:
    rows = page.one("table", class_="groups").one("tbody").all("tr")
    cells = [[each.words for each in row.inner if isinstance(each, Element)] for row in rows]
    listed = {row[0]: (row[3], row[4]) for row in cells}
    for each in checked_in().event("end-state")["groups"]:
        if each["state"] != "Dead":
            assert listed[each["group"]] == (each["type"], each["state"])


def test_the_killed_member_is_shown_with_times_around_the_true_one(page: Element) -> None:
    event = checked_in().event("member-killed")
    (reported,) = (each for each in story_of(part_of(page, event.group)) if "timed out" in each)
    assert event["client_id"] in reported and "1 of 3 partitions moved" in reported
    low, high = map(float, re.search(r"1 partition was unread for ([\d.]+) to ([\d.]+) s", reported).groups())  # type: ignore[union-attr]
    # From when it was killed until the others were seen with its partition.
    assert low <= (event.to_ms - event.from_ms) / 1000 <= high


def test_each_flap_of_the_storm_is_two_rebalances(page: Element) -> None:
    event = checked_in().event("rebalance-storm")
    part = part_of(page, event.group)
    # And the one in which the group began.
    assert f"{2 * len(event['flaps']) + 1} rebalances" in part.one("div", class_="state").words
    assert len(part.all("svg", class_="drawing")[0].all("line", class_="rebalance")) == 2 * len(event["flaps"]) + 1


def test_the_group_that_is_down_leads_and_the_stopped_partition_follows(page: Element) -> None:
    """The static members of the first one were closed, and did not come back within their session timeout."""
    away, event = checked_in().event("consumer-group-static"), checked_in().event("partition-stopped")
    first, second, *_ = page.all("li", class_="finding")
    assert away.group in first.one("h3").words
    assert first.one("p", class_="message").words.startswith("its last 2 members timed out at ")
    assert event.group in second.one("h3").words
    assert second.one("p", class_="message").words.startswith(f"{event['topic']}-{event['partition']}: no commit")


def test_every_link_leads_somewhere_and_no_place_is_there_twice(page: Element) -> None:
    ids = [each.attributes["id"] for each in page.walk() if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    links = [each.attributes["href"] or "" for each in page.all("a")]
    assert {link for link in links if link[:1] != "#" or link[1:] not in ids} == set()
    used = {name for each in page.walk() for name in re.findall(r"url\(#([\w-]+)\)", str(each.attributes.get("fill")))}
    assert used and used <= {*ids}


def test_every_drawing_has_a_name_and_the_rows_beside_it(page: Element) -> None:
    drawings = page.all("svg", class_="drawing")
    assert len(drawings) > 50
    assert all(each.attributes["role"] == "img" and each.attributes["aria-label"] for each in drawings)
    figures = page.all("figure")
    without = [each.one("h4").words for each in figures if not each.all("table")]
    # It shows the rows of the map above it.
    assert {re.sub(r"[\d:]+$", "", each) for each in without} == {
        "The rebalance that left partitions unread for longest, "
    }


def test_groups_beyond_the_size_have_pages_of_their_own(audited_sample: Path, tmp_path: Path) -> None:
    most = 500_000
    (tmp_path / "groups").mkdir()
    (tmp_path / "groups" / "group-gone-0123456789.html").write_text("of an earlier report")
    (tmp_path / "groups" / "notes.html").write_text("of the user")
    with report_of(reading(str(audited_sample)), "sample", GroupChoice(), most_bytes=most) as small:
        pages = write_group_pages(LocalPlace(tmp_path), small.groups)
        num_bytes = pages.num_bytes + write_index(LocalPlace(tmp_path), small.index, pages.names)
    written = [tmp_path / "index.html", *(tmp_path / "groups").glob("group-*.html")]
    assert len(written) == 1 + len(pages.names) > 1
    assert num_bytes == sum(file.stat().st_size for file in written)
    assert written[0].stat().st_size <= most
    page = parsed(written[0].read_text())
    inline = [each.one("h3").words for each in page.all("section", class_="group")]
    links = {each.attributes["href"] or "" for each in page.all("a")}
    files = {f"groups/{file.name}" for file in (tmp_path / "groups").iterdir()} - {"groups/notes.html"}
    away = {tuple(link.split("#")) for link in links if not link.startswith("#")}
    assert inline and {file for file, *_ in away} == files
    # Numbers lead into these pages.
    texts = {file: (tmp_path / file).read_text() for file in files}
    assert [place for file, *places in away for place in places if f'id="{place}"' not in texts[file]] == []
    assert "ledger" in inline
    # Every group is reached, one way or the other.
    groups = page.one("table", class_="groups").one("tbody").all("tr")
    assert len([row.one("th").one("a") for row in groups]) == len(groups) <= len(inline) + len(pages.names)
    own = parsed((tmp_path / sorted(files)[0]).read_text())
    assert own.one("section", class_="group").all("svg", class_="drawing")
    assert own.all("a", href="../index.html")


def test_a_report_is_the_same_each_time(audited_sample: Path, index: str) -> None:
    with report_of(reading(str(audited_sample)), "sample", GroupChoice()) as report:
        assert report.index == index
