"""`groupscope lag`: what the sample's broker answered, and runs that go on where the last one ended."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.measuring.run import Measurement
from jobs.replaying import log_tables
from jobs.replaying.task.messages import PartitionSlice
from jobs.replaying.task.plan import slices_of
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.audited_sample import audited_sample
from tests.runs.ingested import ROOT, ingest, rows, versions
from tests.runs.replayed_logs import assert_same, growing, measured, replay, result_of, row_texts, write_part
from tests.sample.part import num_partitions, sample_part
from tests.sample.story import Sample, checked_in, epoch_ms

__all__ = ["audited_sample", "sample_part"]

SAMPLE = ROOT / "data" / "sample"
LINES = (SAMPLE / "snapshots.jsonl").read_text().splitlines()


def measure(warehouse: Path, *words: str) -> dict[str, Any]:
    return result_of("lag", warehouse, *words)


def log(part: Path) -> tuple[str, ...]:
    return ("--source", f"segments:{part}", "--cluster", "sample")


def snapshots(path: Path, lines: Sequence[str]) -> tuple[str, str]:
    path.write_text("".join(f"{line}\n" for line in lines))
    return ("--snapshots", str(path))


@pytest.fixture(scope="module")
def unmeasured(sample_part: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Which tests copy."""
    warehouse = tmp_path_factory.mktemp("unmeasured") / "w"
    ingest(warehouse, *log(sample_part), "--snapshots", SAMPLE / "snapshots.jsonl")
    replay(warehouse)
    return warehouse


@pytest.fixture(scope="module")
def replayed(unmeasured: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(unmeasured, tmp_path_factory.mktemp("whole") / "w")


@pytest.fixture(scope="module")
def whole(sample_part: Path, replayed: Path) -> Path:
    assert measure(replayed)["num_partitions_measured_whole"] == num_partitions(sample_part)
    return replayed


def by_subject(found: list[dict[str, Any]]) -> dict[tuple[int, str, str, int], dict[str, Any]]:
    """Time in milliseconds."""
    return {
        (round(row["snapshot_time"].timestamp() * 1000), row["group_id"], row["topic"], row["partition"]): row
        for row in found
    }


def test_lag_is_what_the_log_and_the_snapshots_of_the_sample_give(audited_sample: Path) -> None:
    """Of plain commits of groups that nobody deletes from: the newest one that the log has by then."""
    sample = checked_in()
    points = by_subject(rows(audited_sample, "lag_points"))
    compared = 0
    for group in ("standalone", "classic-killed", "ledger"):
        for at, topic, partition, value in newest_commits(sample, group):
            end = sample_end(sample, at, topic, partition)
            if end is not None:
                row = points[at, group, topic, partition]
                assert (row["committed_offset"], row["log_end_offset"], row["lag_raw"]) == (value, end, end - value)
                compared += 1
    assert compared > 100


@pytest.mark.parametrize(
    ("table", "time"), [("lag_days", "day_time"), ("lag_minutes", "minute_time"), ("consumption_rates", "bucket_time")]
)
def test_a_topic_of_the_sample_has_one_row_whether_or_not_commits_name_its_id(
    table: str, time: str, audited_sample: Path
) -> None:
    """The broker fills in the ids of most commits, and of one topic it made anew there are two."""
    ids: dict[tuple[Any, ...], list[str | None]] = {}
    for row in rows(audited_sample, table):
        subject = (row[time], row.get("bucket_ms"), row["group_id"], row["topic"])
        ids.setdefault(subject, []).append(row["topic_id"])
    topics = checked_in().snapshots
    known = {(each["topic"], each["topic_id"]) for snapshot in topics for each in snapshot["topics"]}
    assert {len(each) for subject, each in ids.items() if subject[3] != "staging"} == {1}
    assert {(subject[3], each) for subject, of in ids.items() for each in of} <= known


def newest_commits(sample: Sample, group: str) -> Iterator[tuple[int, str, int, int]]:
    for snapshot in sample.snapshots:
        newest = {
            (record["key"]["topic"], record["key"]["partition"]): record["value"]
            for record in sample.records(group=group, record_type=1, to_ms=snapshot["captured_at"])
        }
        for (topic, partition), value in newest.items():
            if value is not None:
                yield snapshot["captured_at"], topic, partition, value["offset"]


def sample_end(sample: Sample, at: int, topic: str, partition: int) -> int | None:
    return next((ends.ends[partition] for ends in sample.ends(topic) if ends.time_ms == at), None)


def test_lag_ends_as_the_story_ends(audited_sample: Path) -> None:
    """What the admin client showed as committed, against the last snapshot."""
    last = max(rows(audited_sample, "lag_points"), key=lambda row: row["snapshot_time"])["snapshot_time"]
    points = [row for row in rows(audited_sample, "lag_points") if row["snapshot_time"] == last]
    stalled = checked_in().event("partition-stalled")
    (row,) = (row for row in points if (row["group_id"], row["topic"], row["partition"]) == ("ledger", "payments", 2))
    assert row["committed_offset"] == stalled["committed_offset"] == 74
    assert row["log_end_offset"] == stalled["end_offset_after"] == 723
    assert (row["lag_raw"], row["lag"]) == (649, 649)
    assert last.timestamp() * 1000 >= epoch_ms(stalled["to_time"])
    for name in ("standalone-consumer", "transactions", "offset-expired", "offsets-deleted"):
        event = checked_in().event(name)
        ours = {
            (row["topic"], str(row["partition"])): row["committed_offset"]
            for row in points
            if row["group_id"] == event["group"] and row["committed_offset"] is not None
        }
        after = event["offsets_after"].items()
        assert ours == {(topic, each): value for topic, offsets in after for each, value in offsets.items()}, name


@pytest.mark.drawn_together(6)
def test_a_second_run_writes_nothing_and_a_full_one_the_same(sample_part: Path, whole: Path) -> None:
    before, at = measured(whole), versions(whole)
    found = measure(whole)
    assert (found["num_partitions"], found["rows_added"]) == (0, {})
    tables = [table.folder for table in TABLES.values() if table.job == "lag"]
    assert {each: versions(whole).get(each) for each in tables} == {each: at.get(each) for each in tables}
    assert measure(whole, "--full")["num_partitions_measured_whole"] == num_partitions(sample_part)
    assert_same(before, measured(whole), "full")


@pytest.mark.drawn_together(6)
def test_groups_in_slices_give_the_same_rows(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = measured(whole)
    slices: list[PartitionSlice] = []

    def noted(*arguments: Any) -> list[PartitionSlice]:
        slices.extend(slices_of(*arguments))
        return slices

    monkeypatch.setattr(log_tables, "slices_of", noted)
    for name, value in (("least_records", 1), ("records_per_partition", 0), ("parts_per_worker", 100)):
        monkeypatch.setattr(Measurement, name, value)
    measure(whole, "--full")
    assert max(each.num_slices for each in slices) > 5
    assert_same(before, measured(whole), "slices")


@pytest.mark.drawn_together(6)
def test_keys_in_ranges_give_the_same_rows(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = measured(whole)
    monkeypatch.setattr("jobs.measuring.slice_rows.MOST_ROWS", 20)
    monkeypatch.setattr("jobs.measuring.slice_rows.RANGE_ROWS", 1)
    measure(whole, "--full")
    assert_same(before, measured(whole), "ranges")
    assert_points_in_order(whole)


def assert_points_in_order(warehouse: Path) -> None:
    """Each group's in each file. Of topics only ids may be known: their order is unknown."""
    compared = 0
    for file in DeltaTable(warehouse / TABLES["lag_points"].folder).file_uris():
        by_group: dict[str, list[tuple[Any, ...]]] = {}
        for row in pq.read_table(file, partitioning=None).to_pylist():
            if row["topic"] is not None:
                key = (row["topic"], row["partition"], row["snapshot_time"])
                by_group.setdefault(row["group_id"], []).append(key)
        for keys in by_group.values():
            assert keys == sorted(keys)
            compared += len({key[:2] for key in keys}) > 1
    assert compared > 5


@pytest.mark.drawn_together(6)
@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_a_log_and_snapshots_that_grow_between_runs_give_what_one_run_gives(
    sample_part: Path, whole: Path, tmp_path: Path, rng: np.random.Generator, number: int
) -> None:
    """Snapshots come in time, the log beside them at any pace: lag of what is not there yet is judged again."""
    source, warehouse = tmp_path / "log", tmp_path / "w"
    cuts = sorted(rng.integers(1, len(LINES) + 1, 2).tolist())
    for share, cut in zip(growing(sample_part, rng, 3), [*cuts, len(LINES)], strict=True):
        write_part(sample_part, source, {name: max(1, each) for name, each in share.items()})
        given = snapshots(tmp_path / "snapshots.jsonl", LINES[:cut])
        ingest(warehouse, "--source", f"segments:{source}", "--cluster", "sample", *given)
        replay(warehouse)
        measure(warehouse)
    assert_same(measured(whole), measured(warehouse), "grown")


@pytest.mark.drawn_together(6)
def test_runs_that_follow_a_log_as_it_is_written_go_on_from_what_is_settled(
    sample_part: Path, whole: Path, tmp_path: Path
) -> None:
    """As a schedule has it: at each run the log and the snapshots of one time."""
    source, warehouse = tmp_path / "log", tmp_path / "w"
    began = []
    for cut in (8, 16, len(LINES)):
        until = json.loads(LINES[cut - 1])["captured_at"] if cut < len(LINES) else None
        write_part(sample_part, source, batches_until(sample_part, until))
        given = snapshots(tmp_path / "snapshots.jsonl", LINES[:cut])
        ingest(warehouse, "--source", f"segments:{source}", "--cluster", "sample", *given)
        replay(warehouse)
        began.append(measure(warehouse)["num_partitions_measured_whole"])
    assert began[-1] < num_partitions(sample_part)
    assert_same(measured(whole), measured(warehouse), "followed")


def batches_until(part: Path, time_ms: int | None) -> dict[str, int]:
    """How many batches of each offsets partition were written by then."""
    found = {}
    for folder in part.glob("__consumer_offsets-*"):
        number = 0
        for segment in sorted(folder.glob("*.log")):
            data, place = segment.read_bytes(), 0
            while place < len(data):
                number += time_ms is None or int.from_bytes(data[place + 35 : place + 43], "big") <= time_ms
                place += 12 + int.from_bytes(data[place + 8 : place + 12], "big")
        found[folder.name] = max(1, number)
    return found


@pytest.mark.drawn_together(6)
@pytest.mark.drawn(1)
@pytest.mark.parametrize("first", [[], [0, 1, 2, 5, 19], [20]], ids=["none", "some", "last"])
def test_snapshots_that_come_late_are_judged_as_if_they_had_been_there(
    sample_part: Path, whole: Path, tmp_path: Path, first: list[int]
) -> None:
    warehouse = tmp_path / "w"
    given = snapshots(tmp_path / "first.jsonl", [LINES[each] for each in first]) if first else ()
    ingest(warehouse, *log(sample_part), *given)
    replay(warehouse)
    found = measure(warehouse)
    assert found["num_snapshots"] == len(first)
    if not first:
        assert not rows(warehouse, "lag_points")
        assert {row["eta_unknown_reason"] for row in rows(warehouse, "consumption_rates")} == {"no_snapshots"}
        assert {row["lag"] for row in rows(warehouse, "consumption_rates")} == {None}
    ingest(warehouse, *log(sample_part), "--snapshots", SAMPLE / "snapshots.jsonl")
    replay(warehouse)
    assert measure(warehouse)["num_partitions_measured_whole"] == num_partitions(sample_part)
    assert_same(measured(whole), measured(warehouse), "late")


@pytest.mark.drawn_together(6)
def test_an_older_copy_that_comes_later_is_measured_anew(whole: Path, tmp_path: Path) -> None:
    """Of a partition the first segment comes last."""
    source, folder = tmp_path / "log", SAMPLE / "__consumer_offsets-6"
    warehouse = tmp_path / "w"
    others = snapshots(tmp_path / "snapshots.jsonl", LINES)
    segments = sorted(folder.glob("*.log"))
    assert len(segments) > 1
    for some in (segments[1:], segments[:1]):
        (source / folder.name).mkdir(parents=True, exist_ok=True)
        for segment in some:
            (source / folder.name / segment.name).write_bytes(segment.read_bytes())
        ingest(warehouse, "--source", f"segments:{source}", "--cluster", "sample", *others)
        replay(warehouse)
        found = measure(warehouse)
    assert found["num_partitions_measured_whole"] == 1
    grown = measured(warehouse)
    measure(warehouse, "--full")
    assert_same(measured(warehouse), grown, "older")


@pytest.mark.drawn_together(6)
def test_nothing_after_the_time_that_is_asked_about_is_judged(replayed: Path, unmeasured: Path, tmp_path: Path) -> None:
    warehouse = shutil.copytree(unmeasured, tmp_path / "w")
    at = json.loads(LINES[9])["captured_at"]
    measure(warehouse, "--as-of", str(at))
    points = by_subject(rows(warehouse, "lag_points"))
    assert max(key[0] for key in points) == at
    before = {key: row for key, row in by_subject(rows(replayed, "lag_points")).items() if key[0] <= at}
    assert {key: row["lag_raw"] for key, row in points.items()} == {key: row["lag_raw"] for key, row in before.items()}
    # Later the rest is judged, from there on.
    assert measure(warehouse)["num_partitions_measured_whole"] == 0
    measure(replayed)
    assert_same(measured(replayed), measured(warehouse), "as of")


@pytest.mark.drawn_together(6)
def test_what_is_after_the_time_that_is_asked_about_stays(unmeasured: Path, tmp_path: Path) -> None:
    """It was measured as of a later time."""
    warehouse = shutil.copytree(unmeasured, tmp_path / "w")
    measure(warehouse)
    whole = measured(warehouse)
    kept = {name: found for name, found in whole.items() if name != "expiry_forecast"}
    measure(warehouse, "--as-of", str(json.loads(LINES[9])["captured_at"]))
    assert_same(kept, measured(warehouse), "earlier")
    measure(warehouse)
    assert_same(whole, measured(warehouse), "later again")


def test_a_time_that_is_none_is_one_line(replayed: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["lag", "--warehouse", str(replayed), "--as-of", "noon"]) == ExitCode.USAGE
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "noon" in said


@pytest.mark.drawn_together(6)
def test_verdicts_of_a_time_are_replaced_and_those_of_others_stay(unmeasured: Path, tmp_path: Path) -> None:
    warehouse = shutil.copytree(unmeasured, tmp_path / "w")
    first, second = (str(json.loads(LINES[number])["captured_at"]) for number in (9, 15))
    for at in (first, second):
        measure(warehouse, "--as-of", at)
    before = row_texts(warehouse, ["group_verdicts"])
    assert len({row["as_of_time"] for row in rows(warehouse, "group_verdicts")}) == 2
    measure(warehouse, "--full", "--as-of", first)
    assert_same(before, row_texts(warehouse, ["group_verdicts"]), "replaced")
