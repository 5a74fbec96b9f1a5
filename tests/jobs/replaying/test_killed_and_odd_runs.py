"""Runs of a replay that are killed, that meet several clusters, holes, and records of leaders out of office."""

import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs import cli
from jobs.storage.failpoints import FAILPOINTS
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import T0, Written, WrittenBatch, commit
from tests.runs.ingested import ROOT, ingest, rows
from tests.runs.replayed_logs import HISTORY, assert_same, growing, killed_at, replay, row_texts, run_replay, write_part
from tests.sample.part import sample_part

__all__ = ["sample_part"]

SAMPLE = ROOT / "data" / "sample"
SNAPSHOTS = ("--snapshots", SAMPLE / "snapshots.jsonl")


@pytest.fixture(scope="module")
def ingested(sample_part: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Which tests copy."""
    warehouse = tmp_path_factory.mktemp("ingested") / "w"
    ingest(warehouse, "--source", f"segments:{sample_part}", *SNAPSHOTS)
    return warehouse


@pytest.fixture(scope="module")
def undisturbed(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The rows of a replay that was not killed."""
    warehouse = shutil.copytree(ingested, tmp_path_factory.mktemp("undisturbed") / "w")
    replay(warehouse)
    return row_texts(warehouse)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("point", [*FAILPOINTS, "table_committed:replayed_groups"])
def test_a_run_that_is_killed_anywhere_is_finished_by_the_next(
    ingested: Path, undisturbed: dict[str, list[str]], tmp_path: Path, point: str
) -> None:
    shutil.copytree(ingested, tmp_path / "w")
    assert killed_at(point, "replay", tmp_path / "w") == -signal.SIGKILL
    replay(tmp_path / "w")
    assert_same(undisturbed, row_texts(tmp_path / "w"), point)
    assert cli.main(["doctor", "--warehouse", str(tmp_path / "w")]) == ExitCode.CLEAN


def test_a_run_changes_rows_of_its_own_cluster_alone(
    sample_part: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    first, last = growing(sample_part, rng, 2)
    write_part(sample_part, tmp_path / "log", first)
    for cluster in ("one", "two"):
        ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}", "--cluster", cluster)
        replay(tmp_path / "w", "--cluster", cluster)
    of_two = [row for row in rows(tmp_path / "w", "offset_history") if row["cluster"] == "two"]
    write_part(sample_part, tmp_path / "log", last)
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}", "--cluster", "one")
    replay(tmp_path / "w", "--cluster", "one")
    by_key = sorted(map(repr, of_two))
    assert sorted(repr(row) for row in rows(tmp_path / "w", "offset_history") if row["cluster"] == "two") == by_key
    replay(tmp_path / "w", "--cluster", "two", "--full")
    assert sorted(repr(row) for row in rows(tmp_path / "w", "offset_history") if row["cluster"] == "two") == by_key

    ingest(tmp_path / "alone", "--source", f"segments:{tmp_path / 'log'}", "--cluster", "one")
    replay(tmp_path / "alone")
    for name in HISTORY:
        mine = sorted(repr(row) for row in rows(tmp_path / "w", name) if row["cluster"] == "one")
        assert mine == sorted(map(repr, rows(tmp_path / "alone", name))), name


def write_log(folder: Path, batches: Sequence[WrittenBatch], first_offset: int | None = None) -> Path:
    home = folder / "__consumer_offsets-3"
    home.mkdir(parents=True)
    base = batches[0].base_offset if first_offset is None else first_offset
    (home / f"{base:020}.log").write_bytes(b"".join(batch.bytes for batch in batches))
    return folder


def commits(base: int, count: int, epoch: int = 0, group: str = "g") -> WrittenBatch:
    """Each of another value: their own offsets in the log."""
    written = (Written(delta, *commit(group, "t", 0, base + delta)) for delta in range(count))
    return WrittenBatch(base, epoch, tuple(written), count - 1)


def sorted_rows(warehouse: Path, table: str, names: Sequence[str]) -> list[tuple[Any, ...]]:
    result = (tuple(row[name] for name in names) for row in rows(warehouse, table))
    return sorted(result, key=lambda row: row[:2])


def test_nothing_is_claimed_for_what_was_not_seen(tmp_path: Path) -> None:
    write_log(tmp_path / "a", [commits(0, 3)])
    write_log(tmp_path / "b", [commits(10, 2)])
    for name in ("a", "b"):
        ingest(tmp_path / "w", "--source", f"segments:{tmp_path / name}")
        replay(tmp_path / "w")
    result = sorted(rows(tmp_path / "w", "offset_history"), key=lambda row: row["from_record_offset"])
    assert [(row["committed_offset"], row["ended_by"], row["is_from_exact"]) for row in result] == [
        (0, "commit", True), (1, "commit", True), (2, "coverage_hole", True), (10, "commit", False), (11, None, True),
    ]  # fmt: skip
    assert result[2]["to_time"].timestamp() * 1000 == T0 + 2
    covered = sorted(rows(tmp_path / "w", "history_coverage"), key=lambda row: row["first_offset"])
    assert [(row["first_offset"], row["last_offset"], row["is_provisional"]) for row in covered] == [
        (0, 2, False), (10, 11, True),
    ]  # fmt: skip
    # Behind the hole no record says what kind of group it is by now.
    names = ("group_id", "from_record_offset", "ended_by", "group_type", "state", "num_members", "confidence")
    states = [
        ("g", 0, "coverage_hole", "classic", "Empty", 0, "certain"), ("g", 10, None, None, None, None, "possible"),
    ]  # fmt: skip
    assert sorted_rows(tmp_path / "w", "group_state_intervals", names) == states
    # A run that knows nothing about it leaves it as it is.
    write_log(tmp_path / "d", [commits(12, 1, group="later")])
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'd'}")
    assert replay(tmp_path / "w")["num_partitions_replayed_whole"] == 0
    later = ("later", 12, None, None, None, None, "possible")
    assert sorted_rows(tmp_path / "w", "group_state_intervals", names) == [*states, later]
    grown = row_texts(tmp_path / "w")
    replay(tmp_path / "w", "--full")
    assert_same(row_texts(tmp_path / "w"), grown, "hole")

    # What was missing turns up: the history is one.
    write_log(tmp_path / "c", [commits(2, 9)])
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'c'}")
    assert replay(tmp_path / "w")["num_partitions_replayed_whole"] == 1
    assert sorted_rows(tmp_path / "w", "group_state_intervals", names) == [
        ("g", 0, None, "classic", "Empty", 0, "certain"), ("later", 12, None, "classic", "Empty", 0, "certain"),
    ]  # fmt: skip
    assert {row["ended_by"] for row in rows(tmp_path / "w", "offset_history")} == {"commit", None}


def test_records_of_a_leader_that_had_lost_its_office_are_not_replayed(tmp_path: Path) -> None:
    """Of offsets 3 to 5 there are two records each; those of the lower epoch were cut off by the next leader."""
    write_log(tmp_path / "old", [commits(0, 3, 1), commits(3, 3, 1, "cut-off")])
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'old'}")
    replay(tmp_path / "w")
    assert {row["group_id"] for row in rows(tmp_path / "w", "offset_history")} == {"g", "cut-off"}
    write_log(tmp_path / "new", [commits(0, 3, 1), commits(3, 2, 4)])
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'new'}")
    replay(tmp_path / "w")
    assert {row["group_id"] for row in rows(tmp_path / "w", "offset_history")} == {"g"}
    epochs = sorted(rows(tmp_path / "w", "coordinator_epochs"), key=lambda row: row["partition_leader_epoch"])
    told_of = ("partition_leader_epoch", "first_offset", "last_offset", "is_provisional")
    assert [tuple(row[name] for name in told_of) for row in epochs] == [(1, 0, 2, False), (4, 3, 4, True)]


def test_a_record_that_cannot_be_read_is_a_finding_and_the_rest_is_replayed(tmp_path: Path) -> None:
    key, value = commit("of-the-future", "t", 0, 5)
    foreign = WrittenBatch(1, 0, (Written(0, b"\x00\x63" + key[2:], value),), 0)
    write_log(tmp_path / "log", [commits(0, 1), foreign, commits(2, 1)])
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}")
    replay(tmp_path / "w")
    (result,) = rows(tmp_path / "w", "replay_anomalies")
    assert (result["group_id"], result["kind"], result["record_offset"]) == ("of-the-future", "unreadable_record", 1)
    assert [row["committed_offset"] for row in rows(tmp_path / "w", "offset_history")] == [0, 2]


def test_a_warehouse_without_records_of_the_cluster_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write_log(tmp_path / "log", [commits(0, 3)])
    ingest(tmp_path / "w", "--source", f"segments:{log}", "--cluster", "one")
    assert run_replay(tmp_path / "w", "--cluster", "two") == ExitCode.USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert "cluster two" in line
