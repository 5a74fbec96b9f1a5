"""Each case gives the findings that it says; and how findings are waived, first seen and shown by pages."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from jobs.gating.declarations.finding_files import finding_files
from jobs.gating.declarations.waivers import Waiver
from jobs.gating.declarations.waivers import waivers as waivers_of
from jobs.gating.findings import num_at_or_above
from jobs.output.failure import Failure
from jobs.pages.run_pages import finding_lines
from jobs.reporting.findings import finding_table
from schemas.tables import TABLES
from schemas.words.gate import FindingKind
from tests.findings.cases import Answer, all_cases, answers, findings, only_about, rows_of
from tests.make.tables import NOW, Row

DAY = timedelta(days=1)
CASES = all_cases()
QUIET, WAIVED = CASES["lists: a quiet log has no finding"], CASES["lists: waivers are for these"]
OF_SUITES = {"suite_error", "expectation_failed"}
# Columns of findings that a case may lack.
FULL = dict.fromkeys(column.name for column in TABLES["findings"].columns)


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answer]:
    with answers(tmp_path_factory.mktemp("cases") / "w", CASES.values()) as answer:
        yield answer


def about_its_kinds(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.about(*(row["kind"] for row in CASES[name].wanted)))


@pytest.mark.parametrize("name", [about_its_kinds(each) for each in CASES])
def test_of_these_rows_these_are_the_findings(name: str, answer: Answer) -> None:
    case = CASES[name]
    tables = case.tables()
    shown = {"case": [case.name, *case.text], **tables}
    rows = shown["findings"] = findings(only_about({*tables}, answer), case.cluster, **case.asked)
    # pytest prints it if the case fails.
    sys.stdout.writelines(f"{name}\n" + "".join(f"    {row}\n" for row in some) for name, some in shown.items())
    columns = chain((each.keys() for each in case.wanted), repeat(("severity", "kind", "message")))
    found = [{name: row[name] for name in some} for row, some in zip(rows, columns, strict=False)]
    assert found == case.wanted
    for row, wanted in zip(rows, case.wanted, strict=True):
        if "num_rows" in wanted:
            assert_is_listed(row, rows_of(answer, row["query"]))


def assert_is_listed(row: Row, listed: Sequence[Row]) -> None:
    """By the finding's own statement, worst first."""
    assert len(listed) == row["num_rows"]
    harms = [each["harm"] for each in listed]
    worst = tuple(each["message"] for each in listed if each["harm"] == harms[0])
    assert harms == sorted(harms, reverse=True)
    # A silence has a sentence of its own.
    assert row["message"].startswith(worst) or row["kind"] in ("group_silent", "member_silent")
    severities = {each["severity"] or FindingKind(row["kind"]).severity for each in listed}
    assert row["severity"] == min(severities, key=("critical", "warning", "info").index)
    assert {each["group_id"] for each in listed} == {row["group_id"]}
    assert row["topic"] in ({each["topic"] for each in listed} if row["topic"] else {None})


def test_every_kind_has_a_file_cases_that_give_it_and_cases_that_do_not() -> None:
    files = [file.kind.value for file in finding_files()]
    assert sorted(files) == sorted({kind.value for kind in FindingKind} - OF_SUITES)
    wanted = [row for case in CASES.values() for row in case.wanted]
    # Of these the statement is asked too.
    assert {*files} == {row["kind"] for row in wanted if "num_rows" in row}
    assert sum(not case.wanted for case in CASES.values()) > 3 * len(files)


def test_a_quiet_log_has_no_finding_by_any_statement(answer: Answer) -> None:
    assert findings(answer, QUIET.cluster) == []


def waived(answer: Answer, *waivers: Waiver, seen: Mapping[Any, datetime] | None = None) -> list[Row]:
    return findings(only_about({*WAIVED.tables()}, answer), WAIVED.cluster, waivers=waivers, seen=seen)


def waiver(group: str | None = None, topic: str | None = None, kind: FindingKind = FindingKind.OFFSETS_RESET,
           days: int = 1, why: str = "planned") -> Waiver:  # fmt: skip
    return Waiver(kind, group, topic, why, "ada", NOW + days * DAY)


@pytest.mark.about("waivers")
@pytest.mark.parametrize(("waivers", "expected"), [
    ([], []),
    ([waiver("bill.*")], ["billing t", "billing-eu t"]),
    ([waiver("bill")], []),
    ([waiver(topic="u")], ["orders u"]),
    ([waiver("orders", "t")], ["orders t"]),
    ([waiver()], ["billing t", "orders t", "orders u", "billing-eu t"]),
    ([waiver(kind=FindingKind.REJECTED_RECORDS)], ["None None"]),
    ([waiver(".*", kind=FindingKind.REJECTED_RECORDS)], []),
    ([waiver(topic=".*", kind=FindingKind.REJECTED_RECORDS)], []),
    ([waiver("billing", kind=FindingKind.ODD_COMMITS), waiver("orders", "u")], ["orders u", "billing t"]),
])  # fmt: skip
def test_waived_findings_are_last_and_do_not_count(answer: Answer, waivers: list[Waiver], expected: list[str]) -> None:
    rows, before = waived(answer, *waivers), waived(answer)
    last = rows[len(rows) - len(expected) :]
    assert [f"{row['group_id']} {row['topic']}" for row in last] == expected
    assert {(row["waiver"], row["waived_until_time"]) for row in last} <= {("planned (ada)", NOW + DAY)}
    assert [row["rank"] for row in rows] == list(range(1, len(before) + 1))
    counting = [row for row in rows if row["waived_until_time"] is None]
    assert len(counting) == len(before) - len(expected)
    order = [row["message"] + str(row["group_id"]) for row in before]
    places = [order.index(row["message"] + str(row["group_id"])) for row in counting]
    assert places == sorted(places)
    severities = [row["severity"] for row in counting]
    for number, severity in enumerate(("critical", "warning", "info"), 1):
        worse = ("critical", "warning", "info")[:number]
        assert num_at_or_above(rows, severity) == sum(each in worse for each in severities)


@pytest.mark.about("waivers")
def test_of_several_waivers_the_one_that_lasts_longest_is_named(answer: Answer) -> None:
    rows = waived(answer, waiver(days=2, why="short"), waiver(days=9, why="long"), waiver("x", days=99))
    assert {(row["waiver"], row["waived_until_time"]) for row in rows if row["waiver"]} == {
        ("long (ada)", NOW + 9 * DAY)
    }


def test_a_finding_keeps_the_time_at_which_it_was_first_seen(answer: Answer) -> None:
    """By kind, subject and time, and it is never later than the as-of time."""
    hour = timedelta(hours=1)
    seen = {
        ("offsets_reset", "billing", NOW - hour): NOW - DAY,
        ("offsets_reset", "orders", NOW - 3 * hour): NOW - DAY,
        ("offsets_reset", "orders", NOW - 2 * hour): NOW + DAY,
        ("odd_commits", "billing-eu", NOW - hour): NOW - DAY,
        ("rejected_records", "__consumer_offsets-2", None): NOW - 2 * DAY,
    }
    rows = waived(answer, seen=seen)
    first = {(row["kind"], row["group_id"], row["topic"]): row["first_seen_time"] for row in rows}
    assert {key: time for key, time in first.items() if time != NOW} == {
        ("offsets_reset", "billing", "t"): NOW - DAY,
        ("rejected_records", None, None): NOW - 2 * DAY,
    }


SILENT = CASES["lag: the silence of a group is one finding, of all its topics"]


@pytest.mark.parametrize(("kind", "is_known"), [
    ("group_silent", True), ("member_silent", True), ("partition_stopped", True), ("falling_behind", False),
])  # fmt: skip
def test_a_silence_that_widens_is_not_new(answer: Answer, kind: str, is_known: bool) -> None:
    seen = {(kind, "g", None): NOW - DAY}
    (row,) = findings(only_about({*SILENT.tables()}, answer), SILENT.cluster, seen=seen)
    assert (row["kind"], row["first_seen_time"]) == ("group_silent", NOW - DAY if is_known else NOW)
    assert row["is_new"] is not is_known


def test_a_loss_that_is_over_is_not_a_new_one(answer: Answer) -> None:
    """While it lasted it was a condition."""
    case = CASES["lag: messages were lost, which is an event of the snapshot"]
    (row,) = findings(
        only_about({*case.tables()}, answer), case.cluster, seen={("messages_lost", "g", None): NOW - DAY}
    )
    assert row["at_time"] is not None
    assert (row["is_new"], row["first_seen_time"]) == (False, NOW - DAY)


@pytest.mark.about("waivers")
@pytest.mark.parametrize(("waivers", "is_waived"), [
    ([waiver(kind=FindingKind.PARTITION_STOPPED)], True),
    ([waiver(kind=FindingKind.PARTITION_STOPPED, topic="t|u")], True),
    ([waiver(kind=FindingKind.PARTITION_STOPPED, topic="t")], False),
    ([waiver(kind=FindingKind.MEMBER_SILENT)], False),
])  # fmt: skip
def test_who_accepts_that_partitions_stop_accepts_that_all_do(
    answer: Answer, waivers: list[Waiver], is_waived: bool
) -> None:
    (row,) = findings(only_about({*SILENT.tables()}, answer), SILENT.cluster, waivers=waivers)
    assert (row["waived_until_time"] is not None) is is_waived


def test_a_silence_says_what_it_is_about_in_columns(answer: Answer) -> None:
    (row,) = findings(only_about({*SILENT.tables()}, answer), SILENT.cluster)
    assert row["topic_partitions"] == [
        {"topic": "t", "topic_id": None, "partitions": [1, 2]},
        {"topic": "u", "topic_id": None, "partitions": [3]},
    ]
    assert row["owners"] == [
        {"member_id": "m-1", "client_id": "m", "client_host": "/10.0.0.7", "num_partitions": 2},
        {"member_id": "n-1", "client_id": "n", "client_host": "/10.0.0.8", "num_partitions": 1},
    ]


def test_pages_show_what_every_expected_finding_says() -> None:
    """Of the findings that cases say as a whole: no page has a NULL in its words."""
    is_whole = {"message", "evidence_partition"}.issubset
    wanted = [row for case in CASES.values() for row in case.wanted if is_whole(row)]
    assert {row["kind"] for row in wanted} == {file.kind.value for file in finding_files()}
    for row in wanted:
        whole = {"group_id": None, "topic": None, "confidence": "certain", "at_time": None, "query": "SELECT 1",
                 "topic_partitions": [], **row,
                 "run_id": "00000005-gate", "rank": 1, "is_new": True, "waived_until_time": None}  # fmt: skip
        page = "\n".join(finding_lines([whole]))
        table = finding_table({"findings": [FULL | whole], "logs": [], "members": []}, "warehouse", has_names=True)
        assert row["message"] in page and table["message"] == [row["message"]]
        assert "None" not in f"{page} {table['evidence'][0] or ''} {table['dump'][0] or ''} {table['next'][0]}"


WAIVER = """
[[waivers]]
kind = "offsets_reset"
group = "bill.*"
reason = "planned"
who = "ada"
until = 2026-12-01
"""


@pytest.mark.about("waivers")
def test_a_file_of_waivers_is_read(tmp_path: Path) -> None:
    (tmp_path / "waivers.toml").write_text(WAIVER)
    until = datetime(2026, 12, 1, tzinfo=UTC)
    (read,) = waivers_of(tmp_path / "groupscope.toml")
    assert read == Waiver(FindingKind.OFFSETS_RESET, "bill.*", None, "planned", "ada", until)
    assert waivers_of(tmp_path / "absent" / "groupscope.toml") == []


@pytest.mark.about("waivers")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WAIVER.replace("group =", "grup ="), "number 1: grup: no such key, the nearest is group"),
        (WAIVER.replace("offsets_reset", "offset_reset"), "no kind of finding, the nearest is offsets_reset"),
        (WAIVER.replace('reason = "planned"', ""), "reason is missing; add it"),
        (WAIVER.replace('"planned"', '" "'), "number 1: reason = ' '; give a text that is not empty"),
        (WAIVER.replace('"ada"', '""'), "number 1: who = ''; give a text that is not empty"),
        (WAIVER.replace('"ada"', "5"), "number 1: who = 5; give a text"),
        (WAIVER.replace("2026-12-01", "2026-13-01"), "; write it as TOML"),
        (WAIVER.replace("2026-12-01", '"soon"'), "until = 'soon'; give a date or time"),
        (WAIVER.replace("2026-12-01", "3"), "until = 3; give a date or time"),
        (WAIVER.replace("2026-12-01", "9999-12-31T23:59:59-12:00"), "until = 9999-12-31 23:59:59-12:00; give a date"),
        (WAIVER.replace("2026-12-01", "'0001-01-01T00:00+01:00'"), "until = 0001-01-01 00:00:00+01:00; give a date"),
        (WAIVER.replace("bill.*", "("), "; give a regular expression"),
        (WAIVER.replace("[[waivers]]", "[[waiver]]"), "waiver: no such section"),
        ("waivers = 1", "waivers must be sections [[waivers]]"),
        ("=", "; write it as TOML"),
    ],
)
def test_a_wrong_file_of_waivers_is_reported_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "waivers.toml").write_text(text)
    with pytest.raises(Failure) as failure:
        waivers_of(tmp_path / "groupscope.toml")
    assert failure.value.code == 2
    assert message in str(failure.value) and "waivers.toml" in str(failure.value) and "\n" not in str(failure.value)
