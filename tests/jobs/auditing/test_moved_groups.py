"""Groups with records in two offsets partitions, as after `__consumer_offsets` got more of them: a coordinator reads
only one, and so do all answers about the present."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.doctor import run_checks
from jobs.storage.places.local_place import LocalPlace
from tests.builders.logs.by_hand import Log, commit, generation, write_log
from tests.make.log import T0
from tests.runs.ingested import rows

# Java's hash of the name is 0 of 8 partitions and 8 of 16 (kafka.utils: abs(hashCode) % partitions).
GROUP, BEFORE, AFTER = "billing3", 0, 8
OF_THE_PRESENT = (
    "lag_points", "lag_days", "lag_minutes", "consumption_rates", "group_verdicts", "expiry_forecast",
    "assignment_whatif", "assignor_upgrades",
)  # fmt: skip
OLD: Log = {BEFORE: [generation(GROUP, 1, 1, {"m1": [0]}), *(commit(GROUP, "t", 0, 2 + each) for each in range(5))]}
NEW: Log = {AFTER: [generation(GROUP, 1, 61, {"m2": [0]}), *(commit(GROUP, "t", 0, 62 + each) for each in range(5))]}


def test_the_hash_is_that_of_java() -> None:
    value = 0
    for letter in GROUP:
        value = (31 * value + ord(letter)) % 2**32
    signed = value - 2**32 if value >= 2**31 else value
    assert [abs(signed) % count for count in (8, 16)] == [BEFORE, AFTER]


def snapshots(path: Path, seconds: Iterable[int], num_partitions: int) -> Path:
    topics = [("t", 1, 30), ("__consumer_offsets", num_partitions, 20)]
    listed = [
        {"topic": topic, "partitions": [{"partition": each, "log_start_offset": 0, "log_end_offset": end}
                                        for each in range(count)]}
        for topic, count, end in topics
    ]  # fmt: skip
    lines = ({"captured_at": T0 + 1000 * second, "topics": listed} for second in seconds)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return path


def audit(folder: Path, log: Log, taken: Path, *flags: str) -> Path:
    words = [
        "audit",
        "--source",
        write_log(folder / f"log-{len(log)}", log),
        "--snapshots",
        str(taken),
        "--workers",
        "1",
    ]
    warehouse = folder / "w"
    places = ["--warehouse", str(warehouse), "--report", str(folder / "report"), "--prometheus", str(folder / "prom")]
    assert cli.main([*words, *places, "--fail-on", "never", *flags]) == 0
    return warehouse


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("moved")
    audit(folder, {**OLD, **NEW}, snapshots(folder / "taken", (50, 64, 70), 16))
    return folder


def asked(moved: Path, statement: str, capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capfd.readouterr()
    assert cli.main(["sql", "--warehouse", str(moved / "w"), "--format", "json", statement]) == 0
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def test_no_key_is_there_twice_and_nobody_is_accused_of_it(moved: Path) -> None:
    kinds = {row["kind"] for row in rows(moved / "w", "findings")}
    assert "replay_anomaly" in kinds
    assert "expectation_failed" not in kinds
    assert [each for each in run_checks(LocalPlace(moved / "w"), with_spark=False) if each.status == "broken"] == []


def test_tables_about_the_present_have_the_partition_that_the_coordinator_reads(moved: Path) -> None:
    for table in OF_THE_PRESENT:
        found = {row["evidence_partition"] for row in rows(moved / "w", table)}
        assert found == {AFTER}, table
    assert {row["evidence_partition"] for row in rows(moved / "w", "offset_history")} == {BEFORE, AFTER}


def test_each_series_is_exported_once(moved: Path) -> None:
    series = [line.rpartition(" ")[0] for line in (moved / "prom").read_text().splitlines() if not line.startswith("#")]
    assert any(GROUP in each for each in series)
    assert [each for each, count in Counter(series).items() if count > 1] == []


@pytest.mark.parametrize(("second", "expected"), [(10, BEFORE), (60, BEFORE), (63, AFTER), (100, AFTER)])
@pytest.mark.parametrize(
    "function",
    ["offset_at('billing3', 't', 0", "group_state_at('billing3'", "members_at('billing3'", "owner_at('t', 0"],
)
def test_functions_answer_from_the_partition_that_the_group_wrote_to_last(
    moved: Path, capfd: pytest.CaptureFixture[str], function: str, second: int, expected: int
) -> None:
    found = asked(moved, f"SELECT evidence_partition FROM {function}, {T0 + 1000 * second})", capfd)
    assert found == [{"evidence_partition": expected}]


def test_a_group_is_in_the_inventory_once(moved: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (row,) = asked(moved, "SELECT evidence_partition, num_offsets FROM v_inventory", capfd)
    assert row == {"evidence_partition": AFTER, "num_offsets": 1}
    assert len(asked(moved, "SELECT 1 AS one FROM v_record_headroom", capfd)) == 1


def test_rows_of_earlier_runs_go_when_the_group_moves(moved: Path, tmp_path: Path) -> None:
    audit(tmp_path, OLD, snapshots(tmp_path / "before", (50,), 8))
    assert {row["evidence_partition"] for row in rows(tmp_path / "w", "lag_points")} == {BEFORE}
    warehouse = audit(tmp_path, {**OLD, **NEW}, snapshots(tmp_path / "after", (64, 70), 16))
    for table in OF_THE_PRESENT:
        found = rows(warehouse, table)
        # Verdicts of earlier times stay.
        newest = max((row["as_of_time"] for row in found), default=None) if table == "group_verdicts" else None
        places = {row["evidence_partition"] for row in found if newest is None or row["as_of_time"] == newest}
        assert places == {AFTER}, table
    assert "expectation_failed" not in {row["kind"] for row in rows(warehouse, "findings")}
