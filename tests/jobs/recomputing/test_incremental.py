"""Runs of `assignments` that go on where the last one ended make what one run makes of the whole log, row for row."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.recomputing import task
from jobs.replaying.task import plan
from tests.builders.generated.log import compacted, generated, some_topics
from tests.builders.warehouses.replayed_segments import snapshot
from tests.make.log import write
from tests.runs.ingested import ROOT, ingest, rows
from tests.runs.replayed_logs import ASSIGNMENTS, assert_same, copies, growing, recompute, row_texts, write_part
from tests.sample.part import num_partitions, sample_part

__all__ = ["sample_part"]

SAMPLE = ROOT / "data" / "sample"
FLAGS = ("--snapshots", SAMPLE / "snapshots.jsonl", "--cluster", "sample")


@pytest.fixture(scope="module")
def whole(sample_part: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = tmp_path_factory.mktemp("whole") / "w"
    ingest(warehouse, "--source", f"segments:{sample_part}", *FLAGS)
    recompute(warehouse)
    return warehouse


def test_a_log_that_grows_between_runs_gives_what_the_whole_log_gives(
    sample_part: Path, whole: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    source, warehouse = tmp_path / "log", tmp_path / "w"
    began = []
    for share in growing(sample_part, rng, 3):
        write_part(sample_part, source, share)
        ingest(warehouse, "--source", f"segments:{source}", *FLAGS)
        run = recompute(warehouse)
        began.append(run["num_partitions_recomputed_whole"])
    # A cut may fall into an operation.
    assert min(began[1:]) < num_partitions(sample_part)
    assert_same(row_texts(whole, ASSIGNMENTS), row_texts(warehouse, ASSIGNMENTS), "grown")
    assert run["all_verdicts"] == verdicts(whole) == verdicts(warehouse)


def verdicts(warehouse: Path) -> dict[str, int]:
    names = "same same_members_other_order same_unconfirmed stale_input drift carried_over not_recomputable"
    result = dict.fromkeys(names.split(), 0)
    for row in rows(warehouse, "assignment_audit"):
        result[row["verdict"]] += 1
    return result


@pytest.mark.parametrize("is_compacted", [False, True])
def test_random_logs_of_every_kind_of_group_may_be_cut_anywhere(
    tmp_path: Path, rng: np.random.Generator, seed: int, is_compacted: bool
) -> None:
    topics = some_topics(random.Random(seed))
    log = generated(seed, 3, 8, topics)
    write(tmp_path / "whole", 3, compacted(log) if is_compacted else log.batches)
    snapshots = tmp_path / "snapshots.jsonl"
    snapshots.write_text(json.dumps(snapshot(topics)) + "\n")
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'whole'}", "--snapshots", snapshots)
    recompute(tmp_path / "w")
    for share in growing(tmp_path / "whole", rng, 4):
        write_part(tmp_path / "whole", tmp_path / "log", {name: max(1, number) for name, number in share.items()})
        ingest(tmp_path / "grown", "--source", f"segments:{tmp_path / 'log'}", "--snapshots", snapshots)
        recompute(tmp_path / "grown")
    assert_same(row_texts(tmp_path / "w", ASSIGNMENTS), row_texts(tmp_path / "grown", ASSIGNMENTS), "generated")


def test_a_second_run_changes_nothing(whole: Path) -> None:
    before = row_texts(whole, ASSIGNMENTS)
    run = recompute(whole)
    assert (run["num_partitions"], run["num_assignments"], run["rows_added"]) == (0, 0, {})
    assert run["all_verdicts"] == verdicts(whole)
    assert_same(before, row_texts(whole, ASSIGNMENTS), "twice")


def test_a_full_run_gives_the_same_rows(sample_part: Path, whole: Path) -> None:
    before = row_texts(whole, ASSIGNMENTS)
    run = recompute(whole, "--full")
    assert run["num_partitions_recomputed_whole"] == num_partitions(sample_part)
    assert run["verdicts"] == run["all_verdicts"] == verdicts(whole)
    assert_same(before, row_texts(whole, ASSIGNMENTS), "full")


def test_windows_and_slices_of_any_size_give_the_same_rows(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = row_texts(whole, ASSIGNMENTS)
    monkeypatch.setattr(task, "WINDOW_ROWS", 3)
    monkeypatch.setattr(plan, "MOST_GROUP_RECORDS", 25)
    recompute(whole, "--full")
    assert_same(before, row_texts(whole, ASSIGNMENTS), "small")


def test_the_order_in_which_parts_of_the_log_arrive_does_not_matter(
    sample_part: Path, whole: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    segments = sorted(sample_part.glob("__consumer_offsets-*/*.log"))
    rng.shuffle(segments)  # type: ignore[arg-type]
    warehouse = tmp_path / "w"
    for source in copies(segments, tmp_path, 3):
        ingest(warehouse, "--source", source, *FLAGS)
        recompute(warehouse)
    assert_same(row_texts(whole, ASSIGNMENTS), row_texts(warehouse, ASSIGNMENTS), "shuffled")


def captured(path: Path, numbers: dict[str, int], time_ms: int, settings: dict[str, str] | None = None) -> Path:
    result: dict[str, Any] = snapshot({name: (f"{name:A<22}", number) for name, number in numbers.items()})
    path.write_text(json.dumps({**result, "captured_at": time_ms, "settings": settings or {}}) + "\n")
    return path


def test_what_a_new_snapshot_says_about_topics_is_recomputed_and_nothing_else(
    sample_part: Path, whole: Path, tmp_path: Path
) -> None:
    """Snapshots that come last, and then the same again."""
    warehouse = tmp_path / "w"
    log = ("--source", f"segments:{sample_part}", "--cluster", "sample")
    ingest(warehouse, *log)
    recompute(warehouse)
    assert {row["partition_counts_source"] for row in rows(warehouse, "assignment_audit")} <= {
        "inferred", "record", "metadata_hash", None,
    }  # fmt: skip
    ingest(warehouse, *log, "--snapshots", SAMPLE / "snapshots.jsonl")
    assert recompute(warehouse)["num_partitions_recomputed_whole"]
    assert_same(row_texts(whole, ASSIGNMENTS), row_texts(warehouse, ASSIGNMENTS), "late")

    ingest(
        warehouse, *log, "--snapshots", captured(tmp_path / "other.jsonl", {"nobody-reads-it": 3}, 1_900_000_000_000)
    )
    assert recompute(warehouse)["num_partitions"] == 0
    again = json.loads((SAMPLE / "snapshots.jsonl").read_text().splitlines()[-1])
    (tmp_path / "again.jsonl").write_text(json.dumps({**again, "captured_at": again["captured_at"] + 1}) + "\n")
    ingest(warehouse, *log, "--snapshots", tmp_path / "again.jsonl")
    assert recompute(warehouse)["num_partitions"] == 0
    assert_same(row_texts(whole, ASSIGNMENTS), row_texts(warehouse, ASSIGNMENTS), "again")


def test_a_changed_rule_is_asked_of_what_stands_there_already(sample_part: Path, whole: Path, tmp_path: Path) -> None:
    before = row_texts(whole, ASSIGNMENTS)
    settings = tmp_path / "settings.toml"
    settings.write_text('[[groups]]\npattern = "classic-killed"\nredundancy = 2\n')
    run = recompute(whole, "--config", settings)
    assert run["num_partitions_recomputed_whole"] == num_partitions(sample_part)
    of_rule = {
        row["group_id"]: [each["is_ok"] for each in row["checks"] if each["name"] == "redundant"]
        for row in rows(whole, "assignment_audit")
    }
    assert False in of_rule["classic-killed"]
    assert not any(each for group_id, each in of_rule.items() if group_id != "classic-killed")
    recompute(whole)
    assert_same(before, row_texts(whole, ASSIGNMENTS), "without the rule")
