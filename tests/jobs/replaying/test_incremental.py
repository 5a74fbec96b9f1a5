"""Runs that go on where the last one ended make what one run makes of the whole log, row for row."""

import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from jobs.replaying.partition import group_pass
from jobs.replaying.task import plan
from tests.builders.generated.log import compacted, generated, some_topics
from tests.make.log import write
from tests.runs.ingested import ROOT, ingest
from tests.runs.replayed_logs import HISTORY, assert_same, copies, growing, replay, row_texts, write_part
from tests.sample.part import num_partitions, sample_part

__all__ = ["sample_part"]

SAMPLE = ROOT / "data" / "sample"
SNAPSHOTS = SAMPLE / "snapshots.jsonl"


@pytest.fixture(scope="module")
def whole(sample_part: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = tmp_path_factory.mktemp("whole") / "w"
    ingest(warehouse, "--source", f"segments:{sample_part}", "--snapshots", SNAPSHOTS, "--cluster", "sample")
    replay(warehouse)
    return warehouse


@pytest.mark.drawn_together(5)
def test_a_log_that_grows_between_runs_gives_what_the_whole_log_gives(
    sample_part: Path, whole: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    source, warehouse = tmp_path / "log", tmp_path / "w"
    began = []
    for share in growing(sample_part, rng, 3):
        write_part(sample_part, source, share)
        ingest(warehouse, "--source", f"segments:{source}", "--snapshots", SNAPSHOTS, "--cluster", "sample")
        run = replay(warehouse)
        began.append(run["num_partitions_replayed_whole"])
    # A cut may fall into an operation.
    assert min(began[1:]) < num_partitions(sample_part)
    assert_same(row_texts(whole), row_texts(warehouse), "grown")


@pytest.mark.drawn_together(5)
def test_random_logs_of_every_kind_of_group_may_be_cut_anywhere(
    tmp_path: Path, rng: np.random.Generator, seed: int
) -> None:
    """Compacted ones too: runs then go on from groups of which records are missing."""
    log = generated(seed, 3, 8, some_topics(random.Random(seed)))
    write(tmp_path / "whole", 3, compacted(log) if seed % 2 else log.batches)
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'whole'}")
    replay(tmp_path / "w")
    for share in growing(tmp_path / "whole", rng, 3):
        write_part(tmp_path / "whole", tmp_path / "log", {name: max(1, number) for name, number in share.items()})
        ingest(tmp_path / "grown", "--source", f"segments:{tmp_path / 'log'}")
        replay(tmp_path / "grown")
    assert_same(row_texts(tmp_path / "w", HISTORY), row_texts(tmp_path / "grown", HISTORY), "generated")


@pytest.mark.drawn_together(5)
@pytest.mark.parametrize("first", [[0], [866, 1600, 2364]])
def test_segments_of_one_folder_follow_each_other_in_whatever_run_they_came(first: list[int], tmp_path: Path) -> None:
    """One is missing: of a folder that has the others side by side the cleaner took it."""
    source, folder = tmp_path / "log", SAMPLE / "__consumer_offsets-6"
    names = [f"{number:020}.log" for number in (0, 866, 1600, 2364)]
    for number, some in enumerate(([f"{each:020}.log" for each in first], names)):
        for name in some:
            (source / folder.name).mkdir(parents=True, exist_ok=True)
            if not (source / folder.name / name).exists():
                shutil.copy2(folder / name, source / folder.name)
        ingest(tmp_path / "grown", "--source", f"segments:{source}")
        assert replay(tmp_path / "grown")["num_partitions"] == 1, number
    ingest(tmp_path / "w", "--source", f"segments:{source}")
    replay(tmp_path / "w")
    assert_same(row_texts(tmp_path / "w"), row_texts(tmp_path / "grown"), "missing")
    ingest(tmp_path / "grown", "--source", f"segments:{source}")
    assert replay(tmp_path / "grown")["num_partitions"] == 0


@pytest.mark.drawn_together(5)
def test_runs_that_find_holes_give_what_one_run_gives(tmp_path: Path, rng: np.random.Generator, seed: int) -> None:
    """Anywhere: behind a deletion, within a transaction, or before all that is known."""
    log = generated(seed, 3, 8, some_topics(random.Random(seed)))
    batches = compacted(log) if seed % 2 else log.batches
    cuts = sorted(rng.choice(np.arange(len(batches)), 6, replace=False).tolist())
    for first, last in zip(cuts[::2], cuts[1::2], strict=True):
        part = tmp_path / str(first)
        write(part, 3, batches[first:last])
        (segment,) = part.glob("*/*.log")
        segment.rename(segment.with_name(f"{batches[first].base_offset:020}.log"))
        ingest(tmp_path / "w", "--source", f"segments:{part}")
        replay(tmp_path / "w")
    grown = row_texts(tmp_path / "w", HISTORY)
    replay(tmp_path / "w", "--full")
    assert_same(row_texts(tmp_path / "w", HISTORY), grown, "holes")


@pytest.mark.drawn_together(5)
def test_a_second_run_changes_nothing(whole: Path) -> None:
    before = row_texts(whole)
    run = replay(whole)
    assert (run["num_partitions"], run["rows_added"]) == (0, {})
    assert_same(before, row_texts(whole), "twice")


@pytest.mark.drawn_together(5)
def test_a_full_replay_gives_the_same_rows(sample_part: Path, whole: Path) -> None:
    before = row_texts(whole)
    run = replay(whole, "--full")
    assert run["num_partitions_replayed_whole"] == num_partitions(sample_part)
    assert_same(before, row_texts(whole), "full")


@pytest.mark.drawn_together(5)
def test_rows_that_are_written_as_soon_as_there_are_some_are_the_same(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In windows of few records, as a log of many groups makes them of many."""
    before = row_texts(whole)
    monkeypatch.setattr(group_pass, "WINDOW_ROWS", 16)
    monkeypatch.setattr(group_pass, "MOST_HELD_ROWS", 0)
    replay(whole, "--full")
    assert_same(before, row_texts(whole), "early")


@pytest.mark.drawn_together(5)
def test_groups_in_slices_give_the_same_rows(
    sample_part: Path, whole: Path, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction for groups of several slices among them."""
    monkeypatch.setattr(plan, "MOST_GROUP_RECORDS", 25)
    source, warehouse = tmp_path / "log", tmp_path / "w"
    for share in growing(sample_part, rng, 2):
        write_part(sample_part, source, share)
        ingest(warehouse, "--source", f"segments:{source}", "--snapshots", SNAPSHOTS, "--cluster", "sample")
        replay(warehouse)
    assert_same(row_texts(whole), row_texts(warehouse), "slices")


@pytest.mark.drawn_together(5)
def test_the_order_in_which_parts_of_the_log_arrive_does_not_matter(
    sample_part: Path, whole: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    segments = sorted(sample_part.glob("__consumer_offsets-*/*.log"))
    rng.shuffle(segments)  # type: ignore[arg-type]
    warehouse = tmp_path / "w"
    for source in copies(segments, tmp_path, 3):
        ingest(warehouse, "--source", source, "--snapshots", SNAPSHOTS, "--cluster", "sample")
        replay(warehouse)
    assert_same(row_texts(whole), row_texts(warehouse), "shuffled")
