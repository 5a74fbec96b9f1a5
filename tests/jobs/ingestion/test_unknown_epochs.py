"""Archives without leader epochs, as Spark's Kafka source has no such column, beside copies of the log that have
them."""

import random
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from deltalake import DeltaTable

from jobs.ingestion.task import stored_rows, task
from jobs.storage.failpoints import VARIABLE
from tests.builders.generated.log import generated, some_topics
from tests.builders.logs.archives import NOT_OF_SPARK, Row, archived, lines
from tests.builders.logs.copies import Written, WrittenBatch, commit, keys_of, random_log, write_copy
from tests.builders.logs.short_logs import with_damaged_records, with_leader_epochs
from tests.make.log import write
from tests.runs.ingested import history, ingest, is_healthy, keys, rows, spawned
from tests.runs.refused import check_no_leftovers
from tests.runs.replayed_logs import HISTORY, assert_same, growing, replay, row_texts, write_part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("session"), pytest.mark.drawn_together(5)]

PARTITIONS = (3, 11)
# Steps of a run at which it is killed.
POINTS = (
    "file_written:offset_commits",
    "files_written",
    "manifest_written",
    "table_committed:offset_commits",
    "table_committed:rejected_records",
    "runs_committed",
)


@pytest.fixture(scope="module")
def session(spark: "SparkSession") -> "SparkSession":
    """Which the runs take, as they would one of their own."""
    return spark


@pytest.fixture
def logs(rng: np.random.Generator) -> dict[int, list[WrittenBatch]]:
    return {partition: with_unknown_type(random_log(rng, 20)) for partition in PARTITIONS}


def with_unknown_type(log: list[WrittenBatch]) -> list[WrittenBatch]:
    """So that a record is rejected."""
    last = batch(log[-1].base_offset + len(log[-1].records), log[-1].leader_epoch, 1)
    (record,) = last.records
    return [*log, replace(last, records=(replace(record, key=b"\x00\x63" + (record.key or b"")[2:]),))]


def sources(
    folder: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator, without: tuple[str, ...] = NOT_OF_SPARK
) -> dict[str, str]:
    for partition, log in logs.items():
        write_copy(folder / "segments", partition, log, rng)
    (folder / "archive.jsonl").write_text(lines(archived(folder / "segments"), without))
    return {"segments": f"segments:{folder / 'segments'}", "archive": f"records:{folder / 'archive.jsonl'}"}


def expected(logs: dict[int, list[WrittenBatch]]) -> list[tuple[int, int, int]]:
    return sorted((partition, *key) for partition, log in logs.items() for key in keys_of(log))


@pytest.mark.parametrize("engine", ["local", "spark"])
@pytest.mark.parametrize("first", ["segments", "archive"])
def test_a_record_is_stored_once_and_with_its_epoch(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator, first: str, engine: str
) -> None:
    # Random groups would be in both partitions, and a coordinator has a group in one.
    logs = {3: logs[3]}
    of = sources(tmp_path, logs, rng)
    ingest(tmp_path / "direct", "--source", of["segments"])
    assert rows(tmp_path / "direct", "rejected_records")
    ingest(tmp_path / "w", "--source", of.pop(first), "--engine", engine)
    replay(tmp_path / "w", "--engine", engine)
    (second,) = of.values()
    run = ingest(tmp_path / "w", "--source", second, "--engine", engine)
    assert (run["decoded"], run["rejected"], run["num_epoch_conflicts"], run["reject_reasons"]) == (0, 0, 0, {})
    assert run["already_known"] == run["read"] == len(expected(logs))
    assert keys(tmp_path / "w") == expected(logs)
    assert history(tmp_path / "w") == history(tmp_path / "direct")
    for warehouse in ("w", "direct"):
        replay(tmp_path / warehouse, "--engine", engine)
    assert_same(row_texts(tmp_path / "direct"), row_texts(tmp_path / "w"), first)
    assert is_healthy(tmp_path / "w")
    check_no_leftovers(tmp_path / "w")


def test_only_records_that_a_copy_has_are_replaced(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    """Files of the tables also have rows of other partitions, offsets and clusters."""
    of = sources(tmp_path, logs, rng)
    for cluster in ("other", "ours"):
        ingest(tmp_path / "w", "--source", of["archive"], "--cluster", cluster)
    # Another program may have merged the files since: those that it merged must not come back.
    DeltaTable(tmp_path / "w" / "offset_commits").optimize.compact()
    before = [row for row in all_rows(tmp_path / "w") if row["cluster"] == "other"]
    # The cleaner has removed some records of this copy, between others of one window.
    part = [replace(each, records=each.records[::2]) for each in (*logs[3][2:8], logs[3][12])]
    write_copy(tmp_path / "copy", 3, part, rng)
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'copy'}", "--cluster", "ours")
    after = all_rows(tmp_path / "w")
    assert sorted(map(repr, before)) == sorted(repr(row) for row in after if row["cluster"] == "other")
    has_epoch = {(3, *key) for key in keys_of(part)}
    with_epochs = {key[:2]: key[2] for key in has_epoch}
    found = [key_of(row) for row in after if row["cluster"] == "ours"]
    assert sorted(found, key=repr) == sorted(
        ((*place, with_epochs.get(place)) for place in (key[:2] for key in expected(logs))), key=repr
    )
    assert is_healthy(tmp_path / "w")


def all_rows(warehouse: Path) -> list[Row]:
    return [row for name in history(warehouse) for row in rows(warehouse, name)]


def key_of(row: Row) -> tuple[int, int, int | None]:
    return row["offsets_partition"], row["record_offset"], row["partition_leader_epoch"]


def test_one_archive_may_have_records_with_epochs_and_without(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    of = sources(tmp_path, logs, rng)
    ingest(tmp_path / "direct", "--source", of["segments"])
    archive = tmp_path / "archive"
    archive.mkdir()
    records = archived(tmp_path / "segments")
    for name, without in (("plain", NOT_OF_SPARK), ("whole", ())):
        (archive / f"{name}.jsonl").write_text(lines(records, without))
    run = ingest(tmp_path / "w", "--source", f"records:{archive}")
    assert (run["read"], run["already_known"]) == (2 * len(records), len(records))
    assert history(tmp_path / "w") == history(tmp_path / "direct")
    assert is_healthy(tmp_path / "w")


def test_windows_of_a_few_records_replace_the_same_rows(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "PIECE_BYTES_OF_COPIES", 400)
    monkeypatch.setattr(stored_rows, "BATCH_ROWS", 5)
    of = sources(tmp_path, logs, rng)
    for source in (of["archive"], of["segments"]):
        run = ingest(tmp_path / "w", "--source", source)
    assert run["already_known"] == run["read"] == len(expected(logs))
    assert keys(tmp_path / "w") == expected(logs)
    assert is_healthy(tmp_path / "w")


@pytest.mark.parametrize("first", ["segments", "archive"])
def test_a_record_that_equals_none_at_its_offset_is_kept_beside_it(
    tmp_path: Path, rng: np.random.Generator, first: str
) -> None:
    log = random_log(rng, 8)
    of = sources(tmp_path, {3: log}, rng)
    records = archived(tmp_path / "segments")
    records[5]["timestamp"] += 1
    (tmp_path / "archive.jsonl").write_text(lines(records, NOT_OF_SPARK))
    ingest(tmp_path / "direct", "--source", of["segments"])
    ingest(tmp_path / "w", "--source", of.pop(first))
    run = ingest(tmp_path / "w", "--source", *of.values())
    assert (run["decoded"] + run["rejected"], run["already_known"]) == (1, len(records) - 1)
    own = (3, records[5]["offset"], None)
    found = [key_of(row) for row in all_rows(tmp_path / "w")]
    assert sorted(found, key=repr) == sorted([*expected({3: log}), own], key=repr)
    for warehouse in ("w", "direct"):
        replay(tmp_path / warehouse)
    # The one with an epoch counts.
    assert_same(row_texts(tmp_path / "direct", HISTORY), row_texts(tmp_path / "w", HISTORY), first)
    assert is_healthy(tmp_path / "w")


def test_a_record_without_an_epoch_counts_beside_one_that_was_truncated(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """The leader of epoch 4 wrote what its successor truncated. Of the successor's log the archive alone has the record
    at offset 8."""
    before = batch(0, 4, 6)
    truncated, after = batch(6, 4, 4), batch(6, 5, 4)
    compacted = replace(after, records=(*after.records[:2], *after.records[3:]))
    write_copy(tmp_path / "whole", 3, [before, after], rng)
    write_copy(tmp_path / "copies" / "old", 3, [before, truncated], rng)
    write_copy(tmp_path / "copies" / "new", 3, [before, compacted], rng)
    (tmp_path / "archive.jsonl").write_text(lines(archived(tmp_path / "whole"), ("leader_epoch",)))
    of_copies = f"segments:{tmp_path / 'copies'}/*"
    for warehouse, sources_of in (
        ("w", [f"records:{tmp_path / 'archive.jsonl'}", of_copies]),
        ("direct", [f"segments:{tmp_path / 'whole'}", of_copies]),
    ):
        for source in sources_of:
            ingest(tmp_path / warehouse, "--source", source)
            replay(tmp_path / warehouse)
    assert (3, 8, None) in [key_of(row) for row in all_rows(tmp_path / "w")]
    offsets = [row_texts(tmp_path / warehouse, ["offset_history"]) for warehouse in ("direct", "w")]
    assert_same(*offsets, "truncated")
    assert {row["committed_offset"] for row in rows(tmp_path / "w", "offset_history")} == {*range(6), *range(506, 510)}


def batch(first: int, epoch: int, number: int) -> WrittenBatch:
    """Commits of offsets that say which leader wrote them."""
    records = (
        Written(delta, *commit("group", "topic", 0, 100 * epoch * (epoch > 4) + first + delta))
        for delta in range(number)
    )
    return WrittenBatch(first, epoch, tuple(records), number - 1)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_replays_between_the_runs_give_what_one_replay_gives(
    tmp_path: Path, rng: np.random.Generator, seed: int, engine: str
) -> None:
    """Of a log of every kind of group, of which parts come with leader epochs and without, in any order."""
    chance = random.Random(seed)
    log = generated(seed, 3, 8, some_topics(chance))
    write(tmp_path / "whole", 3, with_damaged_records(with_leader_epochs(log.batches, chance), chance))
    records = archived(tmp_path / "whole")
    steps = []
    for number, share in enumerate(growing(tmp_path / "whole", rng, 2)):
        part = tmp_path / f"part-{number}"
        write_part(tmp_path / "whole", part, {name: max(1, count) for name, count in share.items()})
        steps.append(f"segments:{part}")
        low, high = sorted(rng.integers(0, len(records), 2).tolist())
        (tmp_path / f"{number}.jsonl").write_text(lines(records[low : high + 1], NOT_OF_SPARK))
        steps.append(f"records:{tmp_path / f'{number}.jsonl'}")
    for source in rng.permutation(steps).tolist():
        ingest(tmp_path / "w", "--source", source, "--engine", engine)
        replay(tmp_path / "w", "--engine", engine)
        grown = row_texts(tmp_path / "w")
        replay(tmp_path / "w", "--full", "--engine", engine)
        assert_same(row_texts(tmp_path / "w"), grown, f"after {source}")
    ingest(tmp_path / "direct", "--source", f"segments:{tmp_path / 'whole'}")
    replay(tmp_path / "direct")
    assert history(tmp_path / "w") == history(tmp_path / "direct")
    assert_same(row_texts(tmp_path / "direct", HISTORY), row_texts(tmp_path / "w", HISTORY), "whole")


@pytest.fixture(scope="module")
def archive_first(
    session: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str], dict[int, list[WrittenBatch]]]:
    """A warehouse with the archive, two sources of segments, and the logs."""
    rng, folder = np.random.default_rng(7), tmp_path_factory.mktemp("archive_first")
    logs = {partition: with_unknown_type(random_log(rng, 30)) for partition in PARTITIONS}
    ingest(folder / "w", "--source", sources(folder, logs, rng)["archive"])
    parts = []
    for start, stop in ((0, 20), (10, 31)):
        for partition, log in logs.items():
            write_copy(folder / str(start), partition, log[start:stop], rng)
        parts.append(f"segments:{folder / str(start)}")
    return folder / "w", parts, logs


@pytest.mark.drawn(3)
@pytest.mark.parametrize("point", POINTS)
def test_no_record_is_lost_or_doubled_when_a_run_that_replaces_rows_is_killed(
    tmp_path: Path, archive_first: tuple[Path, list[str], dict[int, list[WrittenBatch]]], point: str
) -> None:
    before, parts, logs = archive_first
    warehouse = Path(shutil.copytree(before, tmp_path / "w"))
    killed = spawned(warehouse, "--source", parts[0], environment={VARIABLE: point})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    for part in parts:
        ingest(warehouse, "--source", part)
    check_whole(warehouse, logs)


def test_two_runs_that_replace_the_same_rows_at_once(
    tmp_path: Path, archive_first: tuple[Path, list[str], dict[int, list[WrittenBatch]]]
) -> None:
    before, parts, logs = archive_first
    warehouse = Path(shutil.copytree(before, tmp_path / "w"))
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda part: spawned(warehouse, "--source", part), parts))
    assert [run.returncode for run in runs] == [0, 0], [run.stderr for run in runs]
    check_whole(warehouse, logs)


def check_whole(warehouse: Path, logs: dict[int, list[WrittenBatch]]) -> None:
    assert keys(warehouse) == expected(logs)
    counted = [count for row in rows(warehouse, "runs") for count in row["ingest_counts"]]
    assert sum(count["decoded"] + count["rejected"] for count in counted) == len(expected(logs))
    assert is_healthy(warehouse)
    check_no_leftovers(warehouse)
