"""The report's first page, on warehouses by hand: verdict, findings, groups, and what is missing."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.reporting.pages import with_code
from tests.builders.tables.history import rebalance
from tests.builders.warehouses.for_reports import FINDING, GATE_RUN, LATER, STEPS, judged, state
from tests.make.tables import NOW, Rows, make, write_run
from tests.oracles.pages.parsed_pages import Element, parsed

COVERAGE: Sequence[dict[str, Any]] = (
    {"offsets_partition": 7, "first_offset": 0, "last_offset": 9, "num_records": 10, "from_time": NOW, "to_time": NOW},
    {"offsets_partition": 7, "first_offset": 15, "last_offset": 19, "num_records": 5, "to_time": LATER},
    {"offsets_partition": 2, "num_records": 7, "damaged_records": 3, "from_time": NOW - timedelta(days=2)},
)
# Of a rebalance in which every member kept what it had.
STOPPED_NOTHING = {"num_moved": 0, "num_returned": 0, "num_unowned": 0}


def lag(group: str, partition: int, floor: int | None) -> dict[str, Any]:
    return {"group_id": group, "topic": "orders", "partition": partition, "snapshot_time": NOW, "lag": floor}


def moved(group: str, offset: int, to: str | None, unread_ms: int | None) -> dict[str, Any]:
    bounds = {"unread_low_ms": unread_ms, "unread_high_ms": unread_ms}
    row = {"group_id": group, "assignment_offset": offset, "move_offset": offset, "to_member_id": to, **bounds}
    return {**row, "topic": "orders", "partition": 0, "kind": "moved", "move_time": NOW}


MODERN = {"group_type": "consumer", "assignor": None}
ASSIGNORS = "org.apache.kafka.coordinator.group.assignor.RangeAssignor,uniform"
GROUPS = [
    *(state(each) for each in ("a-fine", "b-unknown", "c-stopped", "d-partly", "calm", "first", "long", "short")),
    *(state(each) for each in ("pay-eu", "pay-us", "freight")),
    state("1-default", **MODERN), state("2-chosen", **MODERN | {"assignor": "uniform"}),
    state("3-classic", assignor="sticky"), state("4-empty", assignor="sticky", state="Empty", num_members=0),
    state("5-simple", group_type=None, state="Empty"),
]  # fmt: skip
# As the gate lists them, but for the first one, which is waived: the gate has it beside the other waived one.
FINDINGS = [
    FINDING | {"message": "waived", "waived_until_time": LATER},
    FINDING | {"group_id": "bill.ing", "message": "orders-3: no commit for 2 min", "is_new": True},
    FINDING | {"group_id": "c-stopped", "kind": "long_unread", "message": "`<b>`"},
    *(FINDING | {"group_id": each, "message": each, "severity": "info"} for each in ("pay-eu", "pay-us", "freight")),
    FINDING | {"group_id": "a-fine", "message": "waived too", "waived_until_time": LATER},
]
TABLES: dict[str, Rows] = {
    "history_coverage": COVERAGE,
    "findings": [row | {"rank": place} for place, row in enumerate(FINDINGS, 1)],
    "source_files": [{"offsets_partition": 7, "source_file": "/var/kafka logs/__consumer_offsets-7/0.log"}],
    "group_state_intervals": GROUPS,
    "lag_points": [
        lag("a-fine", 0, 0), lag("c-stopped", 0, 40), lag("c-stopped", 1, 2), lag("d-partly", 0, 3),
        lag("d-partly", 1, None), lag("b-unknown", 0, None),
    ],
    "group_verdicts": [
        {"group_id": group, "own_verdict": word, "as_of_time": NOW}
        for group, word in (("a-fine", "OK"), ("c-stopped", "STOP"), ("d-partly", "WARN"))
    ],
    "rebalances": [
        rebalance("first", 6, 1, 2, trigger="group_created", longest_unread_high_ms=None) | STOPPED_NOTHING,
        rebalance("long", 7, 1, 2, longest_unread_high_ms=None),
        rebalance("short", 8, 1, 2, longest_unread_high_ms=14_048),
        # Its partitions had no owner for a time.
        rebalance("short", 9, 3, 3, outcome="emptied", num_unowned=1),
    ],
    "partition_moves": [
        moved("short", 8, "m", 14_048), moved("short", 9, None, None), moved("short", 10, "n", 9_000),
        moved("4-empty", 8, "m", 7_000), moved("4-empty", 9, None, None),
    ],
    "cluster_snapshots": [{"captured_time": NOW, "settings": [("group.consumer.assignors", ASSIGNORS)]},
                          {"captured_time": LATER, "settings": None}],
}  # fmt: skip


def written(folder: Path, *flags: str) -> Element:
    words = ["report", "--warehouse", str(folder / "w"), "--report", str(folder / "out"), *flags]
    assert cli.main(words) == 0
    return parsed((folder / "out" / "index.html").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with something of everything."""
    folder = tmp_path_factory.mktemp("rich")
    judged(folder / "w", TABLES)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> Element:
    return written(folder)


def findings_of(page: Element) -> list[Element]:
    return page.all("li", class_="finding")


def finding_of(page: Element, message: str) -> Element:
    (finding,) = (each for each in findings_of(page) if each.one("p", class_="message").words == message)
    return finding


def group_cells(page: Element) -> dict[str, list[str]]:
    """By group, in the order of the page."""
    (table,) = page.all("table", class_="groups")
    rows = [[cell.words for cell in row.inner if isinstance(cell, Element)] for row in table.one("tbody").all("tr")]
    return {cells[0]: cells for cells in rows}


def test_the_top_has_verdict_code_and_what_it_rests_on(page: Element) -> None:
    head = page.one("header")
    assert head.one("h1").words == "Findings exit code 20 2 critical, 3 info (1 new)"
    reported = {each.one("dt").words: each.one("dd").words for each in head.all("div")}
    assert reported["As of"] == "2026-11-21 03:00:00.000 UTC"
    assert (reported["History since"], reported["History until"]) == (
        "2026-11-19 03:00:00.000",
        "2026-11-21 03:01:00.000",
    )
    assert (reported["Offsets partitions"], reported["Records read"]) == ("2", "22")
    assert (reported["Holes in the log"], reported["Damaged"]) == ("1", "3 records")


def test_a_finding_names_its_records_and_how_to_look_at_them(page: Element) -> None:
    finding = finding_of(page, "orders-3: no commit for 2 min")
    assert finding.one("h3").words == "critical Partition stopped partition_stopped new bill.ing"
    assert "Likely; __consumer_offsets-7, records 5 to 111." in finding.one("p", class_="why").words
    dump, query = (each.text for each in finding.all("code")[1:])
    assert dump == (
        "groupscope dump --group '^bill\\.ing$' --from-offset 5 '/var/kafka logs/__consumer_offsets-7'/*.log"
    )
    assert query == FINDING["query"]


def test_waived_findings_come_last_and_say_until_when(page: Element) -> None:
    shown = [each.one("p", class_="message").words for each in findings_of(page)]
    assert shown == [*(row["message"] for row in FINDINGS[1:-1]), "waived", "waived too"]
    assert [" new" in each.one("h3").words for each in findings_of(page)] == [True, *[False] * 6]
    assert "waived until 2026-11-21 03:01:00.000" in findings_of(page)[-1].one("h3").words


def test_groups_come_worst_first_and_an_unknown_lag_is_no_number(page: Element) -> None:
    shown = [(row[0], row[2], row[7]) for row in group_cells(page).values() if row[0][:2] in ("a-", "b-", "c-", "d-")]
    assert shown == [
        ("c-stopped", "STOP", "42"),
        ("d-partly", "WARN", "3 or more"),
        ("b-unknown", "UNKNOWN", "unknown"),
        ("a-fine", "OK", "0"),
    ]


def test_a_group_says_how_long_it_was_unread_only_where_that_is_known(page: Element) -> None:
    lines = [each.words for each in page.all("div", class_="state")]
    notes = sorted(line.split(" · ")[6].split("groupscope")[0] for line in lines)
    known = ["unread for up to 14.1 s", "unread since 2026-11-21 03:00:00.000", "unread time unknown"]
    assert notes == ["no unread time"] * (len(GROUPS) - len(known)) + known


def test_a_group_whose_members_chose_no_assignor_has_the_one_that_the_broker_takes(
    page: Element, tmp_path: Path
) -> None:
    cells = group_cells(page)
    assert [cells[row["group_id"]][5] for row in GROUPS[-5:]] == ["range", "uniform", "sticky", "none", "none"]
    judged(tmp_path / "w", {"group_state_intervals": [state("default", **MODERN)]})
    assert group_cells(written(tmp_path))["default"][5] == "uniform"


def test_names_of_settings_are_code_in_what_a_finding_means(page: Element) -> None:
    finding = finding_of(page, "`<b>`")
    why = finding.one("p", class_="why")
    assert [each.words for each in why.all("code")] == ["max_unread_ms"] and "`" not in why.words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "longer than `max_ms`, or `a` or `b`.",
            "longer than <code>max_ms</code>, or <code>a</code> or <code>b</code>.",
        ),
        ("`<script>` & <b>", "<code>&lt;script&gt;</code> &amp; &lt;b&gt;"),
        ("one ` alone", "one ` alone"),
        ("`a\u202eb`", "<code>a\\u202eb</code>"),
    ],
)
def test_text_between_backticks_is_code_and_nothing_else_is_markup(text: str, shown: str) -> None:
    assert with_code(text) == shown


def test_patterns_narrow_groups_and_findings_and_the_page_says_so(folder: Path) -> None:
    page = written(folder, "--group", "^pay", "--exclude-group", "us$")
    assert [each.one("p", class_="message").words for each in findings_of(page)] == ["pay-eu", "waived"]
    assert "freight" not in page.one("main").text
    assert "This report shows: groups that match ^pay, without groups that match us$." in page.one("header").words


def test_too_many_rejected_records_win_over_findings(tmp_path: Path) -> None:
    judged(tmp_path / "w", {}, ingest_code=22)
    assert written(tmp_path).one("h1").words.startswith("Records rejected exit code 22")


def test_a_wrong_pattern_ends_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--warehouse", str(tmp_path), "--group", "("]) == 2
    assert capsys.readouterr().err.startswith("groupscope: --group '(': missing )")


def test_a_folder_that_cannot_be_written_ends_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(tmp_path / "w", {})
    (tmp_path / "file").write_text("")
    assert cli.main(["report", "--warehouse", str(tmp_path / "w"), "--report", str(tmp_path / "file")]) == 2
    expected = f"groupscope: --report {tmp_path / 'file'}: "
    assert capsys.readouterr().err.startswith(expected)


def test_a_warehouse_that_was_only_ingested_says_what_has_not_run(tmp_path: Path) -> None:
    make(tmp_path / "w", {})
    page = written(tmp_path)
    assert page.one("h1").words == "No verdict no result: groupscope gate has not run"
    notices = " ".join(each.words for each in page.all("p", class_="notice"))
    assert re.findall(r"groupscope (\w+) has not run", notices) == [*STEPS[1:], "gate"]
    assert "so lag is unknown" in notices
    assert "No groups are known." in page.text and "No checks have run yet." in page.text


def test_findings_of_which_none_is_new_are_not_called_clean(tmp_path: Path) -> None:
    known = {"history_coverage": [{"num_records": 1}], "findings": [FINDING | {"rank": 1, "is_new": False}]}
    judged(tmp_path / "w", known, exit_code=0)
    assert written(tmp_path).one("h1").words == "Findings exit code 0 1 critical (none new)"


def test_a_history_without_groups_says_so(tmp_path: Path) -> None:
    judged(tmp_path / "w", {}, exit_code=0)
    page = written(tmp_path)
    assert page.one("h1").words == "No verdict exit code 0 no result: no record of this cluster has been read yet"
    assert "The history holds no group." in page.one("header").words
    assert "No findings." in page.one("main").text


def test_records_read_after_the_verdict_are_pointed_out(tmp_path: Path) -> None:
    warehouse = judged(tmp_path / "w", {})
    assert "after the verdict" not in written(tmp_path).one("header").words
    write_run(warehouse, "00000009-ingest", {})
    assert GATE_RUN in written(tmp_path).one("footer").words
    assert "after the verdict: run groupscope gate again." in written(tmp_path).one("header").words
