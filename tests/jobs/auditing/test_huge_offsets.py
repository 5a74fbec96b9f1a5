"""Offsets at both ends of 64 bits, which brokers store and report as they store all others: audits of them go through,
and what does not fit into 64 bits is the largest number or unknown, never a wrong one."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jobs import cli
from jobs.configuration.settings import Settings
from jobs.gating.declarations.finding_files import Events, finding_files
from jobs.gating.declarations.metric_files import metric_files
from jobs.gating.declarations.sql_text import parameters
from jobs.output.rows import Format, row_lines
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from jobs.queries.results import QueryResult
from jobs.reporting.overview import TITLES
from jobs.reporting.questions import shown_statements
from schemas.tables import TABLES
from schemas.views import VIEWS
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind
from tests.builders.gate import validations
from tests.builders.generated.topics import KeyValue, written
from tests.builders.logs.by_hand import Event, generation, write_log
from tests.make.log import T0
from tests.runs.both_engines import Both, both_engines
from tests.runs.ingested import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LARGEST, SMALLEST = 2**63 - 1, -(2**63)
TOPICS = ("t", "u")
# What each partition commits, every ten seconds.
COMMITTED = {
    0: (10, LARGEST, 15, LARGEST, 15),
    1: (10, LARGEST, 15, LARGEST, 15),
    2: (0, LARGEST, 0, LARGEST, 0),
    3: (-1, LARGEST, 12, LARGEST, 0),
    4: (LARGEST, -2, LARGEST, SMALLEST, 5),
    5: (1, 2, 3, 4, 5),
    6: (SMALLEST, LARGEST, LARGEST - 1, -1, -1),
}
# Of all partitions: a few messages, then all there can be, and on another log few again.
ENDS = ((5, 0), (12, 0), (LARGEST, 0), (LARGEST, LARGEST - 3), (20, 0), (LARGEST - 1, 0), (LARGEST, 0))
# Later than any clock: spans are validated before it.
BEGIN = 20 * 365 * 86_400
# Whatever they are made of, they count messages, or how long something took.
NEVER_NEGATIVE = (
    "lag", "lag", "lag_available", "lost_messages", "messages_consumed", "messages_reread", "messages_skipped",
    "messages_at_risk", "num_messages", "num_gated_messages", "num_ungated_messages", "burrow_lag", "time_lag_ms",
    "time_lag_low_ms", "time_lag_high_ms", "num_rows_expected",
)  # fmt: skip


def commits(group: str) -> list[Event]:
    return [committed(group, partition, place, offset) for partition, offsets in COMMITTED.items()
            for place, offset in enumerate(offsets)]  # fmt: skip


def committed(group: str, partition: int, place: int, offset: int) -> Event:
    seconds = BEGIN + 10 + place * 10 + partition / 10
    return seconds, [commit_of(group, topic, partition, offset, seconds) for topic in TOPICS]


def moved_by_admin() -> list[Event]:
    """A program that reads on, and then one write by an admin tool: two partitions from end to end, one the other way
    round, in each of two topics."""
    steps = ((0, LARGEST, 0), (1, LARGEST, 0), (2, 0, LARGEST))
    before = [commit_of("moved", topic, each, offset, BEGIN + 12, "by itself")
              for topic in TOPICS for each, offset, _ in steps]  # fmt: skip
    after = [commit_of("moved", topic, each, offset, BEGIN + 32) for topic in TOPICS for each, _, offset in steps]
    return [(BEGIN + 12, before), (BEGIN + 32, after)]


def commit_of(group: str, topic: str, partition: int, offset: int, seconds: float, metadata: str = "") -> KeyValue:
    key = {"group": group, "topic": topic, "partition": partition}
    commit_time = T0 + round(seconds * 1000)
    value = {"offset": offset, "leader_epoch": -1, "metadata": metadata, "commit_timestamp": commit_time}
    return written(1, key, value, 3)


def snapshot(place: int, end: int, start: int) -> dict[str, Any]:
    partitions = [{"partition": each, "log_start_offset": start, "log_end_offset": end} for each in COMMITTED]
    settings = {"offsets.retention.minutes": "9" * 18, "group.consumer.session.timeout.ms": "9" * 18}
    return {"captured_at": T0 + (BEGIN + 5 + place * 10) * 1000, "settings": settings,
            "topics": [{"topic": topic, "partitions": partitions} for topic in TOPICS]}  # fmt: skip


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two audits of one cluster, with a validated span between them, and one of another cluster, in both of which one
    group has members and one has none."""
    folder = tmp_path_factory.mktemp("huge")
    members = {"m-1": list(COMMITTED)}
    # A second rebalance: its unread time looks at offsets around it.
    owned = [generation("owned", 1, BEGIN, members), generation("owned", 2, BEGIN + 25, members), *commits("owned")]
    source = write_log(folder / "log", {0: owned, 1: commits("alone"), 2: moved_by_admin()})
    passed = folder / "passed.json"
    passed.write_text(json.dumps(validations.results()["passed"]))
    audit(folder, source, "a", ENDS)
    audit(folder, source, "b", ENDS[:2])
    for group, span in (("owned", f"t:0:0:{LARGEST}"), ("alone", "t:2:0:5")):
        gate = ["gate", "--warehouse", str(folder / "w"), "--cluster", "a", "--group", group, "--span", span]
        assert cli.main([*gate, "--result", str(passed)]) == ExitCode.CLEAN
    audit(folder, source, "a", ENDS)
    return folder / "w"


def audit(folder: Path, source: str, cluster: str, ends: Sequence[tuple[int, int]]) -> None:
    snapshots = folder / f"{cluster}.jsonl"
    snapshots.write_text("".join(f"{json.dumps(snapshot(place, *each))}\n" for place, each in enumerate(ends)))
    words = ["audit", "--warehouse", str(folder / "w"), "--cluster", cluster, "--source", source, "--snapshots",
             str(snapshots), "--report", str(folder / f"report-{cluster}"), "--prometheus",
             str(folder / "metrics.prom")]  # fmt: skip
    assert cli.main(words) in (ExitCode.CLEAN, ExitCode.FINDINGS)


def of_cluster(warehouse: Path, table: str, cluster: str = "a") -> list[dict[str, Any]]:
    return [row for row in rows(warehouse, table) if row["cluster"] == cluster]


def test_no_number_of_any_table_has_started_again(warehouse: Path) -> None:
    for table in TABLES.values():
        names = [column.name for column in table.columns if column.name in NEVER_NEGATIVE]
        # Tables that the log has nothing for are not made.
        for row in rows(warehouse, table.name) if names and (warehouse / table.name).exists() else ():
            assert [name for name in names if row[name] is not None and row[name] < 0] == [], (table.name, row)


def test_no_suite_finds_the_tables_wrong(warehouse: Path) -> None:
    failed = {(row["suite"], row["expectation"], row["error"]) for row in of_cluster(warehouse, "gate_results")
              if row["severity"] == "critical" and row["success"] is not True}  # fmt: skip
    assert failed == set()


def test_a_difference_that_does_not_fit_is_unknown(warehouse: Path) -> None:
    differences = {
        (row["committed_offset"], row["previous_offset"]): row["delta"]
        for row in of_cluster(warehouse, "offset_history")
        if row["previous_offset"] is not None
    }
    expected = {pair: pair[0] - pair[1] if SMALLEST <= pair[0] - pair[1] <= LARGEST else None for pair in differences}
    assert differences == expected
    assert differences[LARGEST, -1] is None
    assert differences[15, LARGEST] == 15 - LARGEST


def test_messages_that_were_read_are_added_up_to_the_largest_number(warehouse: Path) -> None:
    read = sum(max(after - before, 0) for offsets in COMMITTED.values() for before, after in pairwise(offsets)
               if after - before <= LARGEST)  # fmt: skip
    assert read > 2 * LARGEST
    hours = [row for row in of_cluster(warehouse, "consumption_rates") if row["bucket_ms"] == 3_600_000]
    of_topics = {(row["group_id"], row["topic"]): row["messages_consumed"] for row in hours}
    # What an admin tool moved is not read.
    expected = {"owned": LARGEST, "alone": LARGEST, "moved": 0}
    assert of_topics == {(group, topic): read for group, read in expected.items() for topic in TOPICS}


def test_messages_that_a_reset_moved_are_added_up_to_the_largest_number_or_unknown(warehouse: Path) -> None:
    resets = [row for row in of_cluster(warehouse, "offset_resets") if row["group_id"] == "moved"]
    assert [row["num_partitions"] for row in resets] == [3] * len(TOPICS)
    # When the group committed the largest offset the log ended somewhere between 5 and 12.
    assert {(row["messages_reread"], row["messages_skipped"]) for row in resets} == {(None, LARGEST)}


def test_lag_of_a_group_is_that_of_its_partitions_up_to_the_largest_number(warehouse: Path) -> None:
    for row in of_cluster(warehouse, "group_verdicts"):
        if row["partition"] is None:
            assert row["lag"] == row["burrow_lag"] == LARGEST
        elif row["partition"] == 5:
            assert row["lag"] == LARGEST - 5
        elif row["partition"] == 6:
            assert row["lag"] is None


def test_lag_points_are_exact_or_unknown(warehouse: Path) -> None:
    points = of_cluster(warehouse, "lag_points")
    assert {LARGEST, LARGEST - 15} <= {row["lag"] for row in points}
    for row in points:
        is_known = row["committed_offset"] is not None and row["committed_offset"] >= 0
        assert row["lag_raw"] == (row["log_end_offset"] - row["committed_offset"] if is_known else None)


def test_no_time_lag_is_longer_than_the_log(warehouse: Path) -> None:
    """Where ends hardly grow before they grow by all there is, the search among them does not leave its log."""
    for row in of_cluster(warehouse, "lag_points"):
        if row["time_lag_high_ms"] is not None:
            assert 0 <= row["time_lag_low_ms"] <= row["time_lag_high_ms"] <= len(ENDS) * 10_000


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_rows(view: str, warehouse: Path) -> None:
    statement = f"SELECT * FROM {view}"
    with DuckDBEngine(str(warehouse)).scope([statement]) as answer:
        names, listed = answer(statement)
        for row in listed:
            wrong = [name for name, value in zip(names, row, strict=True)
                     if name in NEVER_NEGATIVE and value is not None and value < 0]  # fmt: skip
            assert wrong == [], row


def test_views_add_up_to_the_largest_number(warehouse: Path) -> None:
    statements = [
        "SELECT max(messages_reread) FROM v_replay_spans WHERE cluster = 'a'",
        "SELECT max(num_messages) FROM v_gate_coverage WHERE cluster = 'a'",
        "SELECT max(num_ungated_messages) FROM v_gate_coverage WHERE cluster = 'a'",
    ]
    with DuckDBEngine(str(warehouse)).scope(statements) as answer:
        assert [list(answer(each).rows) for each in statements] == [[(LARGEST,)]] * 3


@pytest.fixture(scope="module")
def both(warehouse: Path, spark: "SparkSession") -> Iterator[Both]:
    with both_engines(warehouse, spark, ["SHOW TABLES"]) as answers:
        yield answers


@pytest.mark.spark
@pytest.mark.drawn(8)
@pytest.mark.parametrize("view", VIEWS)
def test_spark_gives_the_same_rows_of_every_view(view: str, both: Both) -> None:
    result, expected = (lines(both[name](f"SELECT * FROM {view}")) for name in ("spark", "duckdb"))
    assert result == expected


@pytest.mark.spark
def test_spark_gives_the_same_answers_to_the_gate_and_the_report(both: Both, warehouse: Path) -> None:
    now = datetime.fromtimestamp(T0 / 1000 + BEGIN, UTC)
    filled = parameters("a", now, now, Settings())
    metrics = metric_files(warehouse)
    statements = [metrics[name].statement(filled) for name in ("offset_history", "offset_resets", "history_coverage")]
    statements += [each.rows(filled, Events(None, datetime.max)) for each in finding_files()
                   if each.kind in (FindingKind.OFFSETS_RESET, FindingKind.SOURCE_NOT_ADVANCING)]  # fmt: skip
    asked = shown_statements("a", TITLES)
    statements += [
        asked["lag"].replace("'NAME'", "'moved'"),
        asked["commits"].replace("'NAME'", "'owned'"),
        asked["groups"],
    ]
    for statement in statements:
        result, expected = (sorted(lines(both[name](statement))) for name in ("spark", "duckdb"))
        assert result == expected


def lines(answer: QueryResult) -> list[str]:
    """Sums of fractions differ in their last digits by the order in which they are added."""
    names, listed = answer
    result = [[float(f"{value:.9g}") if isinstance(value, float) else value for value in row] for row in listed]
    return list(row_lines(list(names), result, Format.JSON))


@pytest.mark.parametrize("command", ["groups", "describe", "offsets", "diff", "why"])
def test_commands_answer(command: str, warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    times = {"offsets": ["--at", str(T0 + (BEGIN + 25) * 1000)], "why": ["--at", str(T0 + (BEGIN + 25) * 1000)],
             "diff": ["--from", str(T0 + (BEGIN + 15) * 1000), "--to", str(T0 + (BEGIN + 60) * 1000)]}  # fmt: skip
    group = [] if command == "groups" else ["owned"]
    words = [command, *group, "--warehouse", str(warehouse), "--cluster", "a", *times.get(command, [])]
    assert cli.main(words) == ExitCode.CLEAN
    assert capfd.readouterr().out
