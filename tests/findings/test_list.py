"""How findings are listed: grouped, chosen, waived and ranked, and how pages show them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs.gating.declarations.finding_files import finding_files
from jobs.gating.declarations.waivers import Waiver
from jobs.gating.declarations.waivers import waivers as waivers_of
from jobs.gating.findings import num_at_or_above
from jobs.output.failure import Failure
from jobs.pages.finding_lines import finding_lines
from jobs.reporting.parts.findings import findings_of
from schemas.words.gate import FindingKind
from tests.findings import test_assignments, test_lag, test_log, test_offsets
from tests.findings.cases import Answer, cases, check, findings
from tests.make.tables import NOW, Row

DAY = timedelta(days=1)
CASES = cases("""
let reset
    offset_resets group_id=g topic=t kind=shift at_time=-1h num_partitions=1 messages_reread=1 messages_skipped=0
      actor=member evidence=2:5-6
let odd
    commit_findings group_id=g topic=t partition=1 kind=negative last_time=-1h num_commits=1 detail=d evidence=2:5-6
let stuck
    assignor_upgrades group_id=g phase=stuck migration=m started_time=-1h evidence=2:5-6
rows of a group, topic and severity are one finding, with the newest of their times
    reset
    reset at_time=-1m messages_reread=3 evidence=2:7-9 confidence=likely
    reset at_time=-2h messages_reread=2 evidence=2:8-8 confidence=possible
    > warning offsets_reset num_rows=3 at_time=-1m evidence=2:7-9 confidence=likely message="offsets of 1 partition of
      t were all moved by the same number of messages by a member: 3 messages are read again, 0 skipped (the worst of 3
      like it)"
rows of other groups, topics and severities are findings of their own
    reset
    reset group_id=h
    reset topic=u
    reset kind=deleted
    > warning offsets_reset group_id=g topic=t num_rows=1
    > warning offsets_reset group_id=g topic=u num_rows=1
    > warning offsets_reset group_id=h topic=t num_rows=1
    > info offsets_reset group_id=g topic=t num_rows=1
of equal rows that with the first evidence is named: by offsets partition
    odd evidence=3:1-1 partition=1
    odd evidence=2:9-9 partition=2
    > warning odd_commits num_rows=2 evidence=2:9-9
      message="t-2, negative: 1 commit; d (the worst of 2 like it, in 2 partitions)"
of equal rows that with the first evidence is named: by record
    odd evidence=2:10-10 partition=1
    odd evidence=2:9-9 partition=2
    > warning odd_commits num_rows=2 evidence=2:9-9
of equal rows with one evidence that of the first partition is named
    odd partition=2 kind=a
    odd partition=1 kind=b
    > warning odd_commits message="t-1, b: 1 commit; d (the worst of 2 like it, in 2 partitions)"
of equal rows of one partition that with the first text is named
    odd kind=b
    odd kind=a
    > warning odd_commits partition=1 message="t-1, a: 1 commit; d (the worst of 2 like it)"
large numbers have commas
    odd partition=0..1199
    > warning odd_commits num_rows=1200 partition=-
      message="t-0, negative: 1 commit; d (the worst of 1,200 like it, in 1,200 partitions)"
the severity comes before everything else
    reset kind=deleted messages_reread=1000
    reset group_id=h
    group_verdicts group_id=z own_verdict=STOP partition=1 as_of_time=now
    > critical partition_stopped
    > warning offsets_reset
    > info offsets_reset
what the rows of a finding add up to comes first, whatever its kind
    odd num_messages=5
    reset messages_reread=2
    reset messages_reread=2 evidence=2:7-7
    reset messages_reread=2 evidence=2:8-8
    > warning offsets_reset
    > warning odd_commits
of equal findings kinds come in the order of their declaration
    stuck group_id=a
    odd group_id=b
    reset group_id=c
    replay_anomalies group_id=d severity=warning kind=odd
    > warning replay_anomaly
    > warning offsets_reset
    > warning odd_commits
    > warning upgrade_stuck
findings of a kind come in the order of groups, then of topics
    reset group_id=h topic=a
    reset group_id=g topic=u
    reset group_id=g topic=-
    reset group_id=g topic=t
    > warning offsets_reset group_id=g topic=-
    > warning offsets_reset group_id=g topic=t
    > warning offsets_reset group_id=g topic=u
    > warning offsets_reset group_id=h topic=a
only groups that match count, without those left out
    with group=ing|it exclude_group=test
    reset group_id=billing
    reset group_id=billing-test
    reset group_id=orders
    reset group_id="it's\\\\\\\\"
    reset group_id=console-consumer-ing
    > warning offsets_reset group_id=billing
    > warning offsets_reset group_id=console-consumer-ing
    > warning offsets_reset group_id="it's\\\\\\\\"
findings without a group count, whichever groups do
    with group=ing
    reset
    rejected_records reason=underrun part=key
    > critical rejected_records
findings without a group count, whichever groups are left out
    with exclude_group=.
    reset
    rejected_records reason=underrun part=key
    > critical rejected_records
groups of tools make no findings
    reset group_id=console-consumer-12
    reset group_id=console-consumer-
    > warning offsets_reset group_id=console-consumer-
a quiet log has no finding
    history_coverage last_offset=9 to_time=now
    topic_snapshots topic=t captured_time=now
waivers are for these
    reset group_id=billing
    reset group_id=orders
    reset group_id=orders topic=u
    reset group_id=billing-eu kind=deleted
    odd group_id=billing
    rejected_records reason=underrun part=key
    > critical rejected_records
    > warning offsets_reset group_id=billing
    > warning offsets_reset group_id=orders topic=t
    > warning offsets_reset group_id=orders topic=u
    > warning odd_commits group_id=billing
    > info offsets_reset group_id=billing-eu
""")
OF_KINDS = [case for module in (test_log, test_lag, test_offsets, test_assignments) for case in module.CASES.values()]
OF_SUITES = {"suite_error", "expectation_failed"}


@pytest.mark.parametrize("name", CASES)
def test_of_these_rows_these_are_the_findings(name: str, answer: Answer) -> None:
    check(CASES[name], answer)


def test_every_kind_has_a_file_cases_that_give_it_and_cases_that_do_not() -> None:
    files = [file.kind.value for file in finding_files()]
    assert sorted(files) == sorted({kind.value for kind in FindingKind} - OF_SUITES)
    assert {*files} == {row["kind"] for case in OF_KINDS for row in case.wanted}
    assert sum(not case.wanted for case in OF_KINDS) > 3 * len(files)


def test_a_quiet_log_has_no_finding_by_any_statement(answer: Answer) -> None:
    assert findings(answer, CASES["a quiet log has no finding"].cluster) == []


def waived(answer: Answer, *waivers: Waiver) -> list[Row]:
    return findings(answer, CASES["waivers are for these"].cluster, waivers=waivers, max_source_age_hours=0)


def waiver(group: str | None = None, topic: str | None = None, kind: FindingKind = FindingKind.OFFSETS_RESET,
           days: int = 1, why: str = "planned") -> Waiver:  # fmt: skip
    return Waiver(kind, group, topic, why, "ada", NOW + days * DAY)


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


def test_of_several_waivers_the_one_that_lasts_longest_is_named(answer: Answer) -> None:
    rows = waived(answer, waiver(days=2, why="short"), waiver(days=9, why="long"), waiver("x", days=99))
    assert {(row["waiver"], row["waived_until_time"]) for row in rows if row["waiver"]} == {
        ("long (ada)", NOW + 9 * DAY)
    }


def test_a_finding_keeps_the_time_at_which_it_was_first_seen(answer: Answer) -> None:
    """By kind, group, topic and severity, and it is never later than the as-of time."""
    seen = {
        ("offsets_reset", "billing", "t", "warning"): NOW - DAY,
        ("offsets_reset", "orders", "t", "info"): NOW - DAY,
        ("offsets_reset", "orders", "u", "warning"): NOW + DAY,
        ("odd_commits", "billing", "u", "warning"): NOW - DAY,
        ("rejected_records", None, None, "critical"): NOW - 2 * DAY,
    }
    rows = findings(answer, CASES["waivers are for these"].cluster, seen=seen)
    first = {(row["kind"], row["group_id"], row["topic"]): row["first_seen_time"] for row in rows}
    assert {key: time for key, time in first.items() if time != NOW and key[0] != "no_snapshots"} == {
        ("offsets_reset", "billing", "t"): NOW - DAY,
        ("rejected_records", None, None): NOW - 2 * DAY,
    }


@pytest.mark.parametrize("module", [test_log, test_lag, test_offsets, test_assignments])
def test_pages_show_what_every_expected_finding_says(module: object) -> None:
    """Of the cases that say the whole row: no page has a NULL in its words."""
    is_whole = {"message", "evidence_partition"}.issubset
    wanted = [row for case in module.CASES.values() for row in case.wanted if is_whole(row)]
    for row in wanted:
        whole = {"group_id": None, "topic": None, "confidence": "certain", "at_time": None, "query": "SELECT 1", **row,
                 "run_id": "00000005-gate", "rank": 1, "waived_until_time": None}  # fmt: skip
        page, (shown,) = "\n".join(finding_lines([whole])), findings_of([whole], {}, ())
        assert row["message"] in page and shown.message == row["message"]
        assert "None" not in f"{page} {shown.evidence or ''} {shown.dump or ''}"
    assert wanted


WAIVER = """
[[waivers]]
kind = "offsets_reset"
group = "bill.*"
reason = "planned"
who = "ada"
until = 2026-12-01
"""


def test_a_file_of_waivers_is_read(tmp_path: Path) -> None:
    (tmp_path / "waivers.toml").write_text(WAIVER)
    until = datetime(2026, 12, 1, tzinfo=UTC)
    (read,) = waivers_of(tmp_path / "groupscope.toml")
    assert read == Waiver(FindingKind.OFFSETS_RESET, "bill.*", None, "planned", "ada", until)
    assert waivers_of(tmp_path / "absent" / "groupscope.toml") == []


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
