"""What people read in the zone of --tz, on the sample: the same answers, with times as its clocks show them."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from jobs import cli
from jobs.output.zones import in_zone
from jobs.pages.run_pages import as_of_text
from tests.oracles.pages.documents import detail_of, document_of

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)")
CLOCK = re.compile(r"(?<![T\d:.])(\d\d):(\d\d):(\d\d)(?=\.\d{3}(?!\d)|(?![\d:.]))")
KOLKATA = ZoneInfo("Asia/Kolkata")
# The end of the sample's log is 17:39:31.689 in UTC, 23:09:31.689 in Kolkata.
TABLES = [
    (["groups"], ["groups"]),
    (["groups", "--at", "17:37"], ["groups", "--at", "23:07"]),
    (["describe", "classic-killed", "--at", "2m ago"], ["describe", "classic-killed", "--at", "-2m"]),
    (["describe", "classic-killed", "--state"], ["describe", "classic-killed", "--state"]),
    (["owner", "clicks", "2", "--at", "17:36:40"], ["owner", "clicks", "2", "--at", "2026-11-21T23:06:40"]),
    (["diff", "classic-killed", "--from", "17:36:40", "--to", "now"],
     ["diff", "classic-killed", "--from", "23:06:40", "--to", "2026-11-21T17:39:31.689Z"]),
    (["rebalances", "classic-killed", "--wide", "--from", "yesterday 23:59"],
     ["rebalances", "classic-killed", "--wide", "--from", "05:29"]),
    (["why", "classic-killed", "--at", "17:36:38"], ["why", "classic-killed", "--at", "23:06:38"]),
]  # fmt: skip

Ask = Callable[..., tuple[str, str]]


@pytest.fixture
def ask(audited_sample: Path, capfd: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> tuple[str, str]:
        assert cli.main([*words, "--warehouse", str(audited_sample)]) == 0
        done = capfd.readouterr()
        return done.out, done.err

    return asked


def in_kolkata(text: str) -> str:
    """Of a page in UTC, by the library that knows the zone. Clocks of the sample's day have no date."""

    def whole(found: re.Match[str]) -> str:
        return datetime.fromisoformat(found[0]).astimezone(KOLKATA).isoformat(timespec="milliseconds")

    def clock(found: re.Match[str]) -> str:
        at = datetime(2026, 11, 21, *map(int, found.groups()), tzinfo=UTC)
        return f"{at.astimezone(KOLKATA):%H:%M:%S}"

    return CLOCK.sub(clock, ISO.sub(whole, text))


def words_of(page: str) -> list[str]:
    """Without the lines of hyphens: columns are wider where times have an offset."""
    return [word for word in page.split() if set(word) != {"-"}]


@pytest.mark.parametrize(("in_utc", "typed"), TABLES)
def test_a_table_shows_times_of_the_zone_and_names_it_once(ask: Ask, in_utc: list[str], typed: list[str]) -> None:
    page, zoned = ask(*in_utc)[0], ask(*typed, "--tz", "Asia/Kolkata")[0]
    first, _, rest = zoned.partition("\n")
    assert first.endswith(" (Asia/Kolkata)") and zoned.count("Kolkata") == 1
    expected = in_kolkata(page)
    if page.startswith(("At ", "From ", "Events ")):
        assert first == expected.partition("\n")[0] + " (Asia/Kolkata)"
        expected = expected.partition("\n")[2]
    else:
        assert first.startswith("At 2026-11-21T23:09:31.689+05:30")
    assert words_of(rest) == words_of(expected)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_csv_and_json_are_in_utc(ask: Ask, form: str) -> None:
    for in_utc, typed in TABLES[1::2]:
        assert ask(*typed, "--tz", "Asia/Kolkata", "--format", form)[0] == ask(*in_utc, "--format", form)[0]


def test_beside_csv_the_time_in_full_is_on_standard_error(ask: Ask) -> None:
    out, err = ask("offsets", "classic-killed", "--at", "23:06:40", "--tz", "Asia/Kolkata")
    assert out == "clicks,0,134\nclicks,1,95\nclicks,2,52\n"
    assert err.splitlines()[0] == "groupscope: at 2026-11-21T17:36:40.000Z"


def test_the_zone_ends_with_the_command(ask: Ask) -> None:
    ask("groups", "--tz", "Asia/Kolkata", "--at", "now")
    assert ask("groups", "--at", "now")[0].startswith("At 2026-11-21T17:39:31.689Z\n")


def test_pages_of_runs_name_the_zone_and_say_that_messages_are_in_utc() -> None:
    result = {"as_of_time": "2026-11-21T17:39:31.689000Z"}
    assert as_of_text(result) == "2026-11-21T17:39:31.689Z"
    with in_zone(ZoneInfo("Europe/Berlin")):
        assert as_of_text(result) == "2026-11-21T18:39:31.689+01:00 (Europe/Berlin; times inside messages are UTC)"
    # The report is in the zone, what the command prints as JSON is not.
    with in_zone(ZoneInfo("Europe/Berlin"), UTC):
        assert as_of_text(result) == "2026-11-21T17:39:31.689Z"


def test_the_report_is_in_the_zone_whatever_the_format(ask: Ask, tmp_path: Path) -> None:
    pages = {}
    for zone in ("UTC", "Asia/Kolkata"):
        printed = ask("report", "--tz", zone, "--report", str(tmp_path / zone), "--group", "^classic-killed$",
                      "--format", "json")[0]  # fmt: skip
        pages[zone] = Path(json.loads(printed)["place"]).read_text()
    documents = {zone: document_of(page) for zone, page in pages.items()}
    assert [document["about"]["zone"] for document in documents.values()] == [*pages]
    # Times that the page's script writes are numbers; those inside texts are in the zone already.
    lines = [json.dumps(detail_of(each, "classic-killed")["rebalances"]["lines"]) for each in documents.values()]
    assert "2026-11-21T17:36:45.756Z" in lines[0] and lines[1] == in_kolkata(lines[0])
    # An audit in another zone writes the report anew.
    assert len({document["about"]["basis"] for document in documents.values()}) == 2
