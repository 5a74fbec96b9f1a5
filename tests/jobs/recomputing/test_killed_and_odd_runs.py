"""Runs of `assignments` that are killed, that meet several clusters and records of leaders out of office, and what they
print."""

import csv
import io
import json
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

from jobs import cli
from jobs.replaying.log.partition import GROUP_TABLES
from jobs.storage.failpoints import FAILPOINTS
from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import ROOT, ingest, rows
from tests.runs.replayed_logs import (
    ASSIGNMENTS,
    assert_same,
    batch_ends,
    growing,
    killed_at,
    recompute,
    row_texts,
    write_part,
)

SAMPLE = ROOT / "data" / "sample"
SNAPSHOTS = ("--snapshots", SAMPLE / "snapshots.jsonl")
# With classic, consumer and share groups.
FOLDERS = ("__consumer_offsets-2", "__consumer_offsets-4")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("log")
    for folder in FOLDERS:
        shutil.copytree(SAMPLE / folder, source / folder)
    return source


@pytest.fixture(scope="module")
def ingested(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = tmp_path_factory.mktemp("ingested") / "w"
    ingest(warehouse, "--source", f"segments:{log}", *SNAPSHOTS)
    return warehouse


@pytest.fixture(scope="module")
def whole(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = tmp_path_factory.mktemp("whole") / "w"
    shutil.copytree(ingested, warehouse)
    recompute(warehouse)
    return warehouse


@pytest.mark.drawn(2)
@pytest.mark.parametrize("point", [*FAILPOINTS, "table_committed:recomputed_groups"])
def test_a_run_that_is_killed_anywhere_is_finished_by_the_next(
    ingested: Path, whole: Path, tmp_path: Path, point: str
) -> None:
    shutil.copytree(ingested, tmp_path / "w")
    assert killed_at(point, "assignments", tmp_path / "w") == -signal.SIGKILL
    recompute(tmp_path / "w")
    assert_same(row_texts(whole, ASSIGNMENTS), row_texts(tmp_path / "w", ASSIGNMENTS), point)
    assert cli.main(["doctor", "--warehouse", str(tmp_path / "w")]) == ExitCode.CLEAN


def test_a_run_changes_rows_of_its_own_cluster_alone(log: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    first, last = growing(log, rng, 2)
    write_part(log, tmp_path / "log", {name: max(1, number) for name, number in first.items()})
    for cluster in ("one", "two"):
        ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}", "--cluster", cluster, *SNAPSHOTS)
        recompute(tmp_path / "w", "--cluster", cluster)
    before = of_cluster(tmp_path / "w", "two")
    write_part(log, tmp_path / "log", last)
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}", "--cluster", "one")
    recompute(tmp_path / "w", "--cluster", "one")
    assert of_cluster(tmp_path / "w", "two") == before
    recompute(tmp_path / "w", "--cluster", "two", "--full")
    assert of_cluster(tmp_path / "w", "two") == before
    assert before["assignment_audit"] != of_cluster(tmp_path / "w", "one")["assignment_audit"]


def of_cluster(warehouse: Path, cluster: str) -> dict[str, list[str]]:
    return {
        name: [row for row in result if f"'cluster': '{cluster}'" in row]
        for name, result in row_texts(warehouse, ASSIGNMENTS).items()
    }


def with_epoch(segment: bytes, epoch: int) -> bytes:
    """Its batches as a leader of another epoch wrote them: the field lies before what the checksum covers."""
    return b"".join(batch[:12] + epoch.to_bytes(4, "big") + batch[16:] for batch in batches(segment))


def test_assignments_of_a_leader_that_had_lost_its_office_are_taken_back(log: Path, tmp_path: Path) -> None:
    """Only commits of its successor show where it ended as coordinator: no record of a group does."""
    (folder,) = (each for each in sorted(log.iterdir()) if each.name == FOLDERS[0])
    segments = sorted(folder.glob("*.log"))
    whole = b"".join(segment.read_bytes() for segment in segments)
    (tmp_path / "old" / folder.name).mkdir(parents=True)
    (tmp_path / "old" / folder.name / segments[0].name).write_bytes(with_epoch(whole, 1))
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'old'}")
    recompute(tmp_path / "w")
    before = rows(tmp_path / "w", "assignment_audit")
    base = first_of_commits_alone(tmp_path / "w", int(np.median([row["assignment_offset"] for row in before])))
    (later,) = (batch for batch in batches(whole) if int.from_bytes(batch[:8], "big") == base)
    (tmp_path / "new" / folder.name).mkdir(parents=True)
    (tmp_path / "new" / folder.name / f"{base:020}.log").write_bytes(with_epoch(later, 3))
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'new'}")
    recompute(tmp_path / "w")
    kept = [row["assignment_offset"] for row in rows(tmp_path / "w", "assignment_audit")]
    assert sorted(kept) == sorted(row["assignment_offset"] for row in before if row["assignment_offset"] < base)
    assert len(kept) < len(before)


def batches(segment: bytes) -> list[bytes]:
    ends = batch_ends(segment)
    return [segment[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def first_of_commits_alone(warehouse: Path, offset: int) -> int:
    """Offset of the first batch from there on that holds no record of a group."""
    of_groups = {row["batch_first_offset"] for name in GROUP_TABLES for row in rows(warehouse, name)}
    of_commits = {row["batch_first_offset"] for row in rows(warehouse, "offset_commits")}
    return min(first for first in of_commits - of_groups if first >= offset)


def test_the_summary_counts_verdicts_for_people_and_for_programs(
    whole: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    names = "same same_members_other_order same_unconfirmed stale_input drift carried_over not_recomputable"
    numbers = dict.fromkeys(names.split(), 0)
    for row in rows(whole, "assignment_audit"):
        numbers[row["verdict"]] += 1
    printed = {}
    for format in ("table", "csv", "json"):
        words = ["assignments", "--warehouse", str(whole), "--full", "--format", format]
        assert cli.main(words) == ExitCode.CLEAN
        printed[format] = capfd.readouterr().out
    total = sum(numbers.values())
    assert f"{len(FOLDERS)} offsets partitions checked, {len(FOLDERS)} of them from the" in printed["table"]
    assert f"; {total} assignments recomputed; " in printed["table"]
    lines = [line.split()[:3] for line in printed["table"].splitlines()[4:]]
    assert lines == [[name, str(number), str(number)] for name, number in numbers.items()]
    document = json.loads(printed["json"])
    assert (document["num_assignments"], document["verdicts"], document["all_verdicts"]) == (total, numbers, numbers)
    (of_csv,) = csv.DictReader(io.StringIO(printed["csv"]))
    assert json.loads(of_csv["verdicts"]) == numbers


def test_a_warehouse_without_records_of_the_cluster_is_reported(
    ingested: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["assignments", "--warehouse", str(ingested), "--cluster", "two"]
    assert cli.main(words) == ExitCode.USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert "cluster two" in line
